"""What zfs(8) says of snapshots, and the commands that change them."""

from __future__ import annotations

from captures import capture

from zmysql.zfs.snapshot import (
    SnapshotSet,
    create_argv,
    parse_bookmarks,
    parse_holds,
    parse_snapshots,
    roll_back_argv,
    roll_back_failed,
)

MACHINE = "debian13-zfs2.3-snapshots"
SET = SnapshotSet("tank/mysql", "a", ("tank/mysql", "tank/mysql/data"))


def test_snapshots_come_with_sizes_holds_clones_and_their_own_marks() -> None:
    found = {one.full_name: one for one in parse_snapshots(capture(MACHINE, "snapshots-tank"))}
    assert len(found) == 16
    first = found["tank/mysql/data@first"]
    assert (first.dataset, first.name, first.pool) == ("tank/mysql/data", "first", "tank")
    assert (first.created_s, first.txg, first.used_bytes, first.referenced_bytes) == (1795171921, 21, 14336, 24576)
    assert (first.holds, first.clones) == (2, ())
    assert first.marks["zmysql:snapshot"] == "consistent"
    assert first.marks["zmysql:binlog"] == "binlog.000002:490"
    assert found["tank/mysql/data@second"].clones == ("tank/clone",)
    assert found["tank/mysql/data@hourly-1"].marks == {}


def test_the_oldest_of_a_dataset_comes_first() -> None:
    found = parse_snapshots(capture(MACHINE, "snapshots-tank"))
    assert [one.name for one in found if one.dataset == "tank/mysql"] == ["first", "hourly-1", "second", "third"]


def test_a_mark_that_a_dataset_hands_down_is_none_of_the_snapshot() -> None:
    inherited = capture(MACHINE, "snapshots-log").replace("\tlocal", "\tinherited from tank-log")
    assert all(one.marks == {} for one in parse_snapshots(inherited))


def test_holds_by_snapshot() -> None:
    found = parse_holds(capture(MACHINE, "zfs-holds"))
    assert found["tank/mysql@first"] == ("keep",)
    assert found["tank/mysql/data@first"] == ("other", "keep")


def test_bookmarks_with_their_transaction_group() -> None:
    assert parse_bookmarks(capture(MACHINE, "zfs-bookmarks")) == {"tank/mysql/data#old": 28}


def test_a_set_is_taken_by_one_command() -> None:
    assert create_argv(SET, {"zmysql:parts": "tank=2"}) == (
        *("zfs", "snapshot", "-r", "-o", "zmysql:parts=tank=2", "tank/mysql@a"),
    )


def test_a_set_is_rolled_back_by_one_program() -> None:
    assert roll_back_argv(SET, ["tank/mysql@b"]) == (
        *("zfs", "program", "tank", "-", "tank/mysql@a", "tank/mysql/data@a", "newer", "tank/mysql@b"),
    )


def test_what_stands_against_a_rollback_is_one_line() -> None:
    assert str(roll_back_failed(SET, capture(MACHINE, "zfs-program"))) == (
        "rolling back tank/mysql: nothing was changed: tank/mysql@a is busy or held; tank/mysql/data@a is busy or held"
    )

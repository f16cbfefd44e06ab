"""Which snapshots there are of a layout, and what stands against changing them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from captures import capture

from zmysql.errors import UsageError, ZmysqlError
from zmysql.platforms.open_files import Opener
from zmysql.snapshot.change import against_destroy, to_destroy, to_hold, to_release
from zmysql.snapshot.create import against_create, create_steps
from zmysql.snapshot.model import Kind, Layout, LayoutSnapshot, Refusal, check_word
from zmysql.snapshot.read import find, parse_layout, taken_by_zmysql
from zmysql.snapshot.rollback import Newer, against_openers, against_rollback, plan_rollback
from zmysql.zfs.snapshot import Snapshot, parse_holds, parse_snapshots

MACHINE = "debian13-zfs2.3-snapshots"
SNAPSHOTS = tuple(
    one for file in ("snapshots-tank", "snapshots-log") for one in parse_snapshots(capture(MACHINE, file))
)
HOLDS = parse_holds(capture(MACHINE, "zfs-holds"))
# As captured, a rollback to `first` is begun.
BEGUN = parse_layout("tank", capture(MACHINE, "zfs-get"))
LAYOUT = parse_layout("tank", capture(MACHINE, "zfs-get").replace("zmysql:rollback\tfirst", "zmysql:rollback\t-"))
NOTHING = Newer((), (), {})


def named(name: str) -> LayoutSnapshot:
    return find(LAYOUT, SNAPSHOTS, name)


def newer_than(name: str, holds: dict[str, tuple[str, ...]] | None = None) -> Newer:
    txg = {part.dataset: part.txg for part in named(name).parts}
    newer = tuple(one for one in SNAPSHOTS if one.txg > txg.get(one.dataset, one.txg))
    return Newer(newer, ("tank/mysql/data#old",), holds or {})


def said(refusals: tuple[Refusal, ...]) -> list[str]:
    return [f"{one.about}: {one.why}" for one in refusals]


# What there is


def test_a_layout_is_read_with_the_redo_log_last() -> None:
    assert [tree.root for tree in LAYOUT.trees] == ["tank/mysql", "tank-log/mysql"]
    members = {member.name: member for member in LAYOUT.members}
    assert len(members) == 7
    data, tmp, volume = (members[f"tank/mysql/{name}"] for name in ("data", "tmp", "volume"))
    assert (data.mountpoint, data.mounted, data.mounts_itself) == ("/tank/mysql/data", True, True)
    assert (tmp.mountpoint, tmp.mounted, tmp.mounts_itself) == ("/tank/mysql/tmp", False, False)
    assert (volume.mountpoint, volume.mounted) == (None, False)
    assert LAYOUT.rolling_back_to is None
    assert BEGUN.rolling_back_to == "first"


def test_without_a_dataset_for_the_redo_log_the_data_is_last() -> None:
    text = capture(MACHINE, "zfs-get").replace("mysql/redo", "mysql/logs")
    assert [tree.pool for tree in parse_layout("tank", text).trees] == ["tank-log", "tank"]


def test_the_snapshots_that_zmysql_took_are_one_for_all_datasets() -> None:
    found = {one.name: one for one in taken_by_zmysql(SNAPSHOTS)}
    assert list(found) == ["first", "second", "third"]
    first = found["first"]
    assert (first.kind, len(first.parts), first.incomplete_pools) == (Kind.CONSISTENT, 7, ())
    assert (first.binlog, first.server) == ("binlog.000002:490", "9.7.4-2")
    assert first.gtid is not None
    assert first.gtid.count(",") == 1
    assert first.used_bytes == 14336
    assert len(first.held) == 7
    assert (found["second"].kind, found["second"].held) == (Kind.NOT_ATOMIC, ())
    assert (found["third"].kind, found["third"].incomplete_pools) == (Kind.UNCONFIRMED, ("tank-log",))


def test_parts_that_say_different_things_are_not_trusted() -> None:
    parts = named("first").parts
    odd = replace(parts[0], marks={**parts[0].marks, "zmysql:snapshot": "unconfirmed"})
    assert LayoutSnapshot("first", (odd, *parts[1:])).kind is Kind.UNCONFIRMED
    unknown = tuple(replace(part, marks={"zmysql:snapshot": "perfect"}) for part in parts)
    assert LayoutSnapshot("first", unknown).kind is Kind.UNCONFIRMED


def test_a_snapshot_that_is_not_there_or_not_zmysqls() -> None:
    with pytest.raises(ZmysqlError, match="tank has no snapshot fourth: see"):
        named("fourth")
    with pytest.raises(ZmysqlError, match="tank/mysql@hourly-1 wasn't taken by zmysql, so it is left alone"):
        named("hourly-1")


HOSTILE = ["", "-rf", "a b", "a'b", 'a"b', "a\nb", "a@b", "a/b", "a#b", "a%b", "$(id)", "ä", ".", "_a", "a" * 256]


@pytest.mark.parametrize("word", HOSTILE)
def test_a_name_that_is_none(word: str) -> None:
    with pytest.raises(UsageError, match=r"the name of a snapshot .*use letters") as refused:
        check_word("the name of a snapshot", word)
    assert "\n" not in str(refused.value)


# Create


def test_a_name_that_is_taken_also_by_others() -> None:
    assert said(against_create(LAYOUT, SNAPSHOTS, "hourly-1", Kind.CONSISTENT)) == [
        "hourly-1: there is a snapshot tank/mysql@hourly-1 already"
    ]


def test_a_name_that_is_too_long_with_its_dataset() -> None:
    (refusal,) = against_create(LAYOUT, (), "a" * 240, Kind.CONSISTENT)
    assert refusal.why.endswith("is longer than the 255 bytes that ZFS takes")


def test_two_pools_have_no_one_moment_without_the_lock() -> None:
    (refusal,) = against_create(LAYOUT, (), "new", Kind.CRASH_CONSISTENT)
    assert refusal.why.startswith("tank and tank-log can't be taken at one moment")
    assert not against_create(LAYOUT, (), "new", Kind.CONSISTENT)
    assert not against_create(LAYOUT, (), "new", Kind.NOT_ATOMIC)
    one_pool = Layout("tank", LAYOUT.trees[:1])
    assert not against_create(one_pool, (), "new", Kind.CRASH_CONSISTENT)


def test_none_is_taken_of_what_is_half_rolled_back() -> None:
    (refusal,) = against_create(BEGUN, (), "new", Kind.CONSISTENT)
    assert refusal.why == "a rollback to first was interrupted"
    assert "`zfs inherit zmysql:rollback tank/mysql tank-log/mysql` ends it" in refusal.way_out


def test_a_consistent_one_is_unconfirmed_until_the_lock_was_given_back() -> None:
    *takes, confirm = create_steps(LAYOUT, "new", Kind.CONSISTENT)
    assert [step[-1] for step in takes] == ["tank/mysql@new", "tank-log/mysql@new"]
    assert all("zmysql:snapshot=unconfirmed" in step for step in takes)
    assert all("zmysql:parts=tank=4 tank-log=3" in step for step in takes)
    assert confirm[:3] == ("zfs", "set", "zmysql:snapshot=consistent")
    assert len(confirm) == 3 + 7
    (only,) = create_steps(Layout("tank", LAYOUT.trees[:1]), "new", Kind.CRASH_CONSISTENT)
    assert "zmysql:snapshot=crash-consistent" in only


# Roll back


def test_a_consistent_one_with_nothing_newer_is_gone_back_to() -> None:
    assert not against_rollback(LAYOUT, named("first"), NOTHING, destroy_newer=False, inconsistent=False)


def test_what_is_newer_must_be_allowed_to_go() -> None:
    found = against_rollback(LAYOUT, named("first"), newer_than("first"), destroy_newer=False, inconsistent=False)
    assert said(found) == ["first: newer snapshots would be destroyed (@hourly-1, @second, @third, 1 more)"]
    assert "--allow-destroy-newer" in found[0].way_out


def test_what_is_newer_and_held_or_cloned_stays_whatever_is_allowed() -> None:
    newer = newer_than("first", {"tank/mysql@second": ("weekly", "other")})
    found = against_rollback(LAYOUT, named("first"), newer, destroy_newer=True, inconsistent=False)
    assert said(found) == [
        "tank/mysql@second: it is newer and held by weekly, other",
        "tank/mysql/data@second: it is newer and has clones: tank/clone",
    ]


def test_one_that_may_not_be_whole_must_be_allowed() -> None:
    (refusal,) = against_rollback(LAYOUT, named("second"), NOTHING, destroy_newer=False, inconsistent=False)
    assert refusal.why.startswith("it is not-atomic: ")
    assert not against_rollback(LAYOUT, named("second"), NOTHING, destroy_newer=False, inconsistent=True)


def test_one_of_which_parts_are_gone_is_never_gone_back_to() -> None:
    found = against_rollback(LAYOUT, named("third"), NOTHING, destroy_newer=True, inconsistent=True)
    assert said(found)[0] == "third: parts of it are gone from tank-log"


def test_a_dataset_that_is_younger() -> None:
    text = capture(MACHINE, "zfs-get").replace("\tfirst\t", "\t-\t") + "tank/mysql/undo\tmounted\tno\t-\n"
    found = against_rollback(parse_layout("tank", text), named("first"), NOTHING, destroy_newer=True, inconsistent=True)
    assert said(found) == ["tank/mysql/undo: it is younger than first, so it can't go back with the others"]


def test_one_that_is_mounted_by_other_means() -> None:
    text = capture(MACHINE, "zfs-get").replace("\tfirst\t", "\t-\t").replace("\t/tank/mysql/data\t", "\tlegacy\t")
    found = against_rollback(parse_layout("tank", text), named("first"), NOTHING, destroy_newer=True, inconsistent=True)
    assert said(found) == ["tank/mysql/data: it is mounted by other means than zfs(8)"]


def test_another_rollback_is_finished_first() -> None:
    found = against_rollback(BEGUN, named("second"), NOTHING, destroy_newer=True, inconsistent=True)
    assert said(found) == ["tank: a rollback to first was interrupted"]
    assert not against_rollback(BEGUN, named("first"), NOTHING, destroy_newer=True, inconsistent=True)


def test_who_uses_it_is_named_once_with_all_places() -> None:
    found = [
        Opener(7, "mysqld", "/tank/mysql/data"),
        Opener(7, "mysqld", "/tank-log/mysql/redo"),
        Opener(9, "sh", "/x"),
    ]
    assert said(against_openers(LAYOUT, found)) == [
        "tank: mysqld (process 7) uses /tank/mysql/data, /tank-log/mysql/redo",
        "tank: sh (process 9) uses /x",
    ]


def test_a_rollback_unmounts_the_deepest_first_and_mounts_what_was_mounted() -> None:
    plan = plan_rollback(LAYOUT, named("first"), newer_than("first"))
    assert plan.mark == ("zfs", "set", "zmysql:rollback=first", "tank/mysql", "tank-log/mysql")
    mounts = [step[-1] for step in plan.mount]
    assert [step[-1] for step in plan.unmount] == list(reversed(mounts))
    assert mounts.index("tank/mysql") < mounts.index("tank/mysql/data")
    assert set(mounts) == {member.name for member in LAYOUT.members} - {"tank/mysql/tmp", "tank/mysql/volume"}
    assert plan.forget == (("zfs", "destroy", "tank/mysql/data#old"),)
    assert list(plan.programs) == ["tank", "tank-log"]
    at = plan.programs["tank"].index("newer")
    assert plan.programs["tank"][4:at] == named("first").in_tree(LAYOUT.trees[0]).full_names
    assert len(plan.programs["tank"][at + 1 :]) == 12
    assert plan.clear == ("zfs", "inherit", "zmysql:rollback", "tank/mysql", "tank-log/mysql")


def test_the_rest_of_a_rollback_mounts_what_mounts_itself() -> None:
    text = capture(MACHINE, "zfs-get").replace("mounted\tyes", "mounted\tno")
    plan = plan_rollback(parse_layout("tank", text), named("first"), NOTHING)
    assert plan.unmount == ()
    assert {step[-1] for step in plan.mount} == {
        *("tank/mysql", "tank/mysql/data", "tank-log/mysql", "tank-log/mysql/redo", "tank-log/mysql/binlog"),
    }


# Hold, release, destroy


def test_what_is_held_or_cloned_is_not_destroyed() -> None:
    assert said(against_destroy(LAYOUT, named("first"), HOLDS)) == [
        "first: it is held by keep",
        "first: it is held by other",
    ]
    assert said(against_destroy(LAYOUT, named("second"), {})) == ["tank/mysql/data@second: it has clones: tank/clone"]
    assert not against_destroy(LAYOUT, named("third"), {})


def test_of_one_that_is_incomplete_the_rest_is_destroyed() -> None:
    assert [one.root for one in to_destroy(LAYOUT, named("third"))] == ["tank/mysql"]


def test_only_pools_that_lack_a_hold_get_it() -> None:
    half = {name: tags for name, tags in HOLDS.items() if name.startswith("tank/")}
    assert [one.root for one in to_hold(LAYOUT, named("first"), half, "keep")] == ["tank-log/mysql"]
    assert to_hold(LAYOUT, named("first"), HOLDS, "keep") == ()
    assert [one.root for one in to_release(LAYOUT, named("first"), half, "keep")] == ["tank/mysql"]
    assert to_release(LAYOUT, named("first"), HOLDS, "weekly") == ()


def test_a_name_of_a_snapshot_is_that_of_its_parts() -> None:
    part: Snapshot = named("first").parts[0]
    assert part.full_name == "tank/mysql@first"

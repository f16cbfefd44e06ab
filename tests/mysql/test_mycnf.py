"""my.cnf, rendered for a pool that was really created."""

import re
from dataclasses import replace

import pytest
from captures import pool

from zmysql.errors import UsageError
from zmysql.mysql.mycnf import render
from zmysql.mysql.served import Place, ServedLayout, contradictions, find_places
from zmysql.zfs.model import VdevRole

TANK = pool("debian13-zfs2.3-hybrid")


def served(**data: str) -> ServedLayout:
    """Give the captured pool as my.cnf sees it, with some properties of its data dataset changed."""
    places = find_places((TANK,))
    dataset = places["data"].dataset
    changed = replace(dataset, properties={**dataset.properties, **data})
    return ServedLayout("tank", (TANK,), {**places, "data": Place(TANK, changed)}, owner="mysql")


def settings(text: str) -> dict[str, str]:
    return dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line and not line.startswith("#"))


def test_the_directories_and_sizes_are_those_of_the_pool_and_the_memory() -> None:
    assert settings(render("mysql-9.7", served(), 2 << 30)) == {
        "datadir": "/tank/mysql/data",
        "innodb_log_group_home_dir": "/tank/mysql/redo",
        "log_bin": "/tank/mysql/binlog/binlog",
        "relay_log": "/tank/mysql/relay/relay",
        "log_error": "/tank/mysql/logs/error.log",
        "slow_query_log_file": "/tank/mysql/logs/slow.log",
        "tmpdir": "/tank/mysql/tmp",
        "innodb_flush_method": "fsync",
        "innodb_use_native_aio": "0",
        "innodb_page_size": "16384",
        "innodb_doublewrite": "OFF",
        "innodb_buffer_pool_size": "1536M",
        "innodb_redo_log_capacity": "768M",
    }


def test_a_dataset_mounted_elsewhere_is_used_where_it_is() -> None:
    assert settings(render("mysql-9.7", served(mountpoint="/srv/db"), 2 << 30))["datadir"] == "/srv/db"


def test_every_line_says_why() -> None:
    lines = render("mysql-9.7", served(), 2 << 30).splitlines()
    for at, line in enumerate(lines):
        if " = " in line and not line.startswith("#"):
            assert lines[at - 1].startswith("# "), line
    assert max(map(len, lines)) <= 120


def test_flush_method_says_whether_it_is_for_the_l2arc() -> None:
    assert "never reaches this pool's L2ARC" in re.sub(r"\n# ", " ", render("mysql-9.7", served(), 2 << 30))
    bare = replace(TANK, vdevs=tuple(vdev for vdev in TANK.vdevs if vdev.role is VdevRole.DATA))
    places = {key: replace(place, pool=bare) for key, place in served().places.items()}
    text = render("mysql-9.7", replace(served(), pools=(bare,), places=places), 2 << 30)
    assert "L2ARC." not in text.partition("innodb_flush_method")[0].rpartition("\n\n")[2]
    assert settings(text)["innodb_flush_method"] == "fsync"


@pytest.mark.parametrize(
    ("pool", "why"),
    [
        (served(recordsize="8192"), "a page spans several records of 8K"),
        (replace(served(), record_bytes=(131072, 8192)), "files from before have records of 8K"),
        (served(sync="disabled"), "with sync=disabled the redo log may miss what the data has"),
    ],
)
def test_doublewrite_stays_on_where_a_page_could_be_torn(pool: ServedLayout, why: str) -> None:
    text = render("mysql-9.7", pool, 2 << 30)
    assert settings(text)["innodb_doublewrite"] == "ON"
    assert why in text


@pytest.mark.parametrize("recordsize", ["16384", "32768", "131072"])
def test_doublewrite_is_off_where_a_page_lies_within_a_record(recordsize: str) -> None:
    assert settings(render("mysql-9.7", served(recordsize=recordsize), 2 << 30))["innodb_doublewrite"] == "OFF"


@pytest.mark.parametrize("memory_bytes", [256 << 20, 300 << 20, 1 << 30, 5 << 30, 64 << 30, 1 << 40])
def test_sizes_fit_the_memory_and_the_servers_limits(memory_bytes: int) -> None:
    found = settings(render("mysql-9.7", served(), memory_bytes))
    buffer_pool, redo = (int(found[key].rstrip("M")) for key in ("innodb_buffer_pool_size", "innodb_redo_log_capacity"))
    assert buffer_pool % 128 == 0
    assert 128 <= buffer_pool <= memory_bytes * 3 // 4 >> 20
    assert 128 <= redo <= 128 << 10


def test_too_little_memory_and_an_unknown_server_are_refused() -> None:
    with pytest.raises(UsageError, match="255M is too little"):
        render("mysql-9.7", served(), 255 << 20)
    with pytest.raises(UsageError, match=r"unknown server 'mysql-5\.0'; known are mysql-9\.7"):
        render("mysql-5.0", served(), 2 << 30)


def test_what_works_against_the_vdevs_is_said() -> None:
    assert contradictions(served()) == ()
    assert contradictions(served(primarycache="metadata")) == (
        "tank/mysql/data: primarycache=metadata, so no data reaches the L2ARC",
    )


def test_directories_of_another_owner_are_said() -> None:
    assert "chown mysql:mysql /tank/mysql/data" in render("mysql-9.7", replace(served(), owner="root"), 2 << 30)
    assert "chown" not in render("mysql-9.7", served(), 2 << 30)

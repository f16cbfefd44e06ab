"""my.cnf, rendered for a pool that was really created, and the table of variables against a real server's own."""

import re
from dataclasses import replace

import pytest
from captures import capture, pool

from zmysql.errors import UsageError
from zmysql.mysql.mycnf import ServedPool, contradictions, render
from zmysql.mysql.server import ABSENT, SERVERS, VARIABLES
from zmysql.zfs.model import VdevRole

TANK = pool("debian13-zfs2.3-hybrid")


def served(**data: str) -> ServedPool:
    """Give the captured pool as my.cnf sees it, with some properties of its data dataset changed."""
    found = {key: TANK.dataset(f"tank/mysql/{key}") for key in ("data", "redo", "binlog", "tmp")}
    datasets = {key: dataset for key, dataset in found.items() if dataset is not None}
    datasets["data"] = replace(datasets["data"], properties={**datasets["data"].properties, **data})
    return ServedPool(TANK, **datasets, smallest_record_bytes=None, owner="mysql")


def settings(text: str) -> dict[str, str]:
    return dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line and not line.startswith("#"))


def test_the_directories_and_sizes_are_those_of_the_pool_and_the_memory() -> None:
    assert settings(render("mysql-9.7", served(), 2 << 30)) == {
        "datadir": "/tank/mysql/data",
        "innodb_log_group_home_dir": "/tank/mysql/redo",
        "log_bin": "/tank/mysql/binlog/binlog",
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
    text = render("mysql-9.7", replace(served(), pool=bare), 2 << 30)
    assert "L2ARC." not in text.partition("innodb_flush_method")[0].rpartition("\n\n")[2]
    assert settings(text)["innodb_flush_method"] == "fsync"


@pytest.mark.parametrize(
    ("pool", "why"),
    [
        (served(recordsize="8192"), "a page spans several records of 8K"),
        (replace(served(), smallest_record_bytes=8192), "files from before have records of 8K"),
        (served(sync="disabled"), "with sync=disabled the redo log may miss what the data has"),
    ],
)
def test_doublewrite_stays_on_where_a_page_could_be_torn(pool: ServedPool, why: str) -> None:
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


def printed_by_server() -> dict[str, str]:
    rows = (re.fullmatch(r"(\S+) +(.+)", line) for line in capture("mysqld-9.7.4", "variables").splitlines()[3:])
    return {row[1].replace("-", "_"): row[2] for row in rows if row}


def test_the_table_agrees_with_the_server() -> None:
    server = printed_by_server()
    assert len(server) > 500
    for variable, columns in VARIABLES.items():
        default = columns["mysql-9.7"]
        if default is ABSENT:
            assert variable not in server
        elif variable == "innodb_flush_method":  # see the table's own note
            assert server[variable] == "fsync"
        else:
            assert server[variable] == default


def test_the_table_has_a_column_for_each_server() -> None:
    assert all(tuple(columns) == SERVERS for columns in VARIABLES.values())


def test_no_variable_that_stops_the_server_is_rendered() -> None:
    server = printed_by_server()
    assert all(variable in server for variable in settings(render("mysql-9.7", served(), 2 << 30)))

"""What my.cnf makes of layouts: directories, safety, and the disks."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from layouts import layout

from zmysql.layout.template import template_names
from zmysql.mysql.mycnf import render, settings_for
from zmysql.mysql.served import Place, contradictions
from zmysql.mysql.server import SERVERS, parse_server
from zmysql.mysql.setting import TITLES, explain
from zmysql.mysql.sizing import plan_memory
from zmysql.platforms.device import MediaClass
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from zmysql.mysql.served import ServedLayout

GIB = 1 << 30


def values(server: str, served: ServedLayout, memory_bytes: int = 4 * GIB) -> dict[str, str]:
    settings = settings_for(parse_server(server), served, plan_memory(served, memory_bytes, None))
    found = {setting.variable: setting.value for setting in settings}
    assert len(found) == len(settings), "a variable is set twice"
    return found


def why(server: str, served: ServedLayout, variable: str) -> str:
    settings = settings_for(parse_server(server), served, plan_memory(served, 4 * GIB, None))
    return next(setting.why for setting in settings if setting.variable == variable)


def with_properties(served: ServedLayout, purpose: str, **properties: str) -> ServedLayout:
    place = served.places[purpose]
    dataset = replace(place.dataset, properties={**place.dataset.properties, **properties})
    return replace(served, places={**served.places, purpose: Place(place.pool, dataset)})


TWO_POOLS = layout("ssd-data-hdd-log")


def test_every_dataset_of_a_layout_over_two_pools_has_its_variable() -> None:
    found = values("mysql-9.7", TWO_POOLS)
    assert {name: value for name, value in found.items() if value.startswith("/")} == {
        "datadir": "/tank/mysql/data",
        "innodb_data_home_dir": "/tank-log/mysql/system",
        "innodb_log_group_home_dir": "/tank-log/mysql/redo",
        "innodb_doublewrite_dir": "/tank-log/mysql/doublewrite",
        "innodb_undo_directory": "/tank/mysql/undo",
        "log_bin": "/tank-log/mysql/binlog/binlog",
        "relay_log": "/tank-log/mysql/relay/relay",
        "tmpdir": "/tank/mysql/tmp",
        "log_error": "/tank-log/mysql/logs/error.log",
        "slow_query_log_file": "/tank-log/mysql/logs/slow.log",
    }
    assert found["innodb_data_file_path"] == "ibdata1:12M:autoextend"
    assert "In tank-log" in why("mysql-9.7", TWO_POOLS, "innodb_log_group_home_dir")


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("template", template_names())
def test_only_datasets_that_a_layout_has_are_named_and_each_line_cites_what_is_known(
    template: str, server: str
) -> None:
    served = layout(template)
    found = values(server, served)
    named = {value for value in found.values() if value.startswith("/")}
    assert all(any(value.startswith(place.directory) for place in served.places.values()) for value in named)
    text = render(server, served, 4 * GIB)
    assert max(map(len, text.splitlines())) <= 120
    for one in explain(
        parse_server(server), settings_for(parse_server(server), served, plan_memory(served, GIB, None))
    ):
        assert one.default
        assert one.setting.why.endswith(".")
        assert one.setting.sources
        assert set(one.setting.sources) <= set(TITLES)
        assert f"\n{one.setting.variable} = " in text


def test_a_doublewrite_directory_that_a_server_can_not_use_is_said() -> None:
    text = re.sub(r"\n# ", " ", render("mariadb-11.8", TWO_POOLS, 4 * GIB))
    assert "keeps its doublewrite buffer in the system tablespace, so in /tank-log/mysql/system" in text
    assert "stays empty" not in render("mysql-8.0", TWO_POOLS, 4 * GIB)


@pytest.mark.parametrize(
    ("server", "number"),
    [("mysql-5.7", "3"), ("mariadb-10.11", "3"), ("mariadb-11.8", None), ("mysql-8.0", None), ("mysql-9.7", None)],
)
def test_undo_tablespaces_are_asked_for_where_there_are_none(server: str, number: str | None) -> None:
    assert values(server, TWO_POOLS).get("innodb_undo_tablespaces") == number


def test_a_server_that_has_no_server_id_gets_one_with_its_binary_log() -> None:
    assert values("mysql-5.7", TWO_POOLS)["server_id"] == "1"
    assert "server_id" not in values("mysql-8.0", TWO_POOLS)


# How files are opened


@pytest.mark.parametrize("server", SERVERS)
def test_nothing_passes_by_an_arc_that_feeds_an_l2arc(server: str) -> None:
    found = values(server, layout("hybrid"))
    assert found.get("innodb_flush_method", "fsync") == "fsync"
    assert found.get("innodb_data_file_buffering", "ON") == "ON"
    assert {"innodb_flush_method", "innodb_data_file_buffering"} & set(found)


def test_o_direct_is_for_an_arc_without_data_on_a_zfs_that_has_it() -> None:
    served = layout("all-ssd", "data.primarycache=metadata")
    assert values("mysql-9.7", served)["innodb_flush_method"] == "fsync"  # this ZFS has no property direct
    direct = with_properties(served, "data", direct="standard")
    assert values("mysql-9.7", direct)["innodb_flush_method"] == "O_DIRECT"
    assert values("mariadb-11.8", direct)["innodb_data_file_buffering"] == "OFF"
    disabled = with_properties(served, "data", direct="disabled")
    assert values("mysql-9.7", disabled)["innodb_flush_method"] == "fsync"
    cached = with_properties(layout("hybrid", "data.primarycache=metadata"), "data", direct="standard")
    assert values("mysql-9.7", cached)["innodb_flush_method"] == "fsync"


@pytest.mark.parametrize(("system", "value"), [("linux", "0"), ("freebsd", None), ("illumos", None)])
def test_native_aio_is_turned_off_on_linux_alone(system: str, value: str | None) -> None:
    assert values("mysql-8.4", layout("all-hdd", system=system)).get("innodb_use_native_aio") == value


# The doublewrite buffer


def test_doublewrite_is_off_over_two_pools_and_says_why_that_is_safe() -> None:
    assert values("mysql-9.7", TWO_POOLS)["innodb_doublewrite"] == "OFF"
    assert "not all is in one pool" in why("mysql-9.7", TWO_POOLS, "innodb_doublewrite")
    assert "not all is in one pool" not in why("mysql-9.7", layout("hybrid"), "innodb_doublewrite")


@pytest.mark.parametrize("purpose", ["data", "undo", "system"])
def test_doublewrite_stays_on_where_any_tablespace_has_small_records(purpose: str) -> None:
    served = with_properties(TWO_POOLS, purpose, recordsize="8192")
    assert values("mysql-9.7", served)["innodb_doublewrite"] == "ON"
    where = "" if purpose == "data" else f" in {served.places[purpose].directory}"
    assert f"several records of 8K{where}." in why("mysql-9.7", served, "innodb_doublewrite")


@pytest.mark.parametrize("purpose", ["data", "undo", "system", "redo"])
def test_doublewrite_stays_on_where_a_sync_is_disabled(purpose: str) -> None:
    served = with_properties(TWO_POOLS, purpose, sync="disabled")
    assert values("mysql-9.7", served)["innodb_doublewrite"] == "ON"


def test_doublewrite_stays_on_where_the_records_of_files_can_not_be_seen() -> None:
    served = replace(TWO_POOLS, record_bytes=None)
    assert values("mysql-9.7", served)["innodb_doublewrite"] == "ON"
    assert "can't be told" in why("mysql-9.7", served, "innodb_doublewrite")


# What works against itself


def test_two_pools_that_go_back_to_different_moments_are_said() -> None:
    assert contradictions(TWO_POOLS) == ()
    one = with_properties(TWO_POOLS, "redo", sync="disabled")
    assert "different moments" in contradictions(one)[0]
    both = with_properties(one, "data", sync="disabled")
    assert "a moment of its own" in contradictions(both)[0]
    together = layout("all-hdd", "properties.sync=disabled")
    assert contradictions(together) == ()


def test_direct_always_starves_the_l2arc() -> None:
    served = with_properties(layout("hybrid"), "data", direct="always")
    assert contradictions(served) == ("tank/mysql/data: direct=always passes the ARC by, so no data reaches the L2ARC",)


# The disks


@pytest.mark.parametrize(
    ("media", "capacity", "neighbors", "threads", "depth"),
    [
        (MediaClass.HDD, "200", "1", "4", None),
        (MediaClass.SSD, "2000", "0", "16", "2500"),
        (MediaClass.NVME, "5000", "0", "16", "2500"),
    ],
)
def test_the_disks_of_the_tables_decide(
    media: MediaClass, capacity: str, neighbors: str, threads: str, depth: str | None
) -> None:
    served = layout("all-hdd")
    disks = {VdevRole.DATA: tuple(replace(disk, media=media) for disk in (served.disks or {})[VdevRole.DATA])}
    found = values("mysql-8.0", replace(served, disks=disks))
    assert found["innodb_io_capacity"] == capacity
    assert int(found["innodb_io_capacity_max"]) == 2 * int(capacity)
    assert found["innodb_flush_neighbors"] == neighbors
    assert found["innodb_read_io_threads"] == found["innodb_write_io_threads"] == threads
    assert found.get("innodb_lru_scan_depth") == depth
    assert found.get("innodb_page_cleaners") == (None if media is MediaClass.HDD else "8")


def test_more_vdevs_can_do_more_up_to_a_bound() -> None:
    one = layout("all-hdd").data.pool
    for vdevs, capacity, threads in ((4, "600", "16"), (3, "450", "12"), (100, "2000", "16")):
        pool = replace(one, vdevs=one.with_role(VdevRole.DATA) * vdevs)
        served = layout("all-hdd")
        places = {key: replace(place, pool=pool) for key, place in served.places.items()}
        found = values("mariadb-10.11", replace(served, pools=(pool,), places=places))
        assert (found["innodb_io_capacity"], found["innodb_read_io_threads"]) == (capacity, threads)


def test_the_slowest_disk_of_a_mixed_pool_counts() -> None:
    served = layout("all-hdd")
    first, *others = (served.disks or {})[VdevRole.DATA]
    mixed = replace(served, disks={VdevRole.DATA: (replace(first, media=MediaClass.NVME), *others)})
    assert mixed.data_media is MediaClass.HDD


def test_of_unknown_disks_nothing_is_said() -> None:
    found = values("mysql-9.7", replace(layout("all-hdd"), disks=None))
    assert "innodb_io_capacity" not in found


# The redo log


@pytest.mark.parametrize(
    ("server", "redo"),
    [
        ("mysql-9.7", {"innodb_redo_log_capacity": "1536M"}),
        ("mysql-8.0", {"innodb_redo_log_capacity": "1536M"}),
        ("mysql-8.0.29", {"innodb_log_file_size": "768M"}),
        ("mysql-5.7", {"innodb_log_file_size": "768M"}),
        ("mariadb-10.11", {"innodb_log_file_size": "1536M"}),
        ("mariadb-11.8", {"innodb_log_file_size": "1536M"}),
    ],
)
def test_the_redo_log_has_half_the_buffer_pool_in_all_its_files(server: str, redo: dict[str, str]) -> None:
    found = values(server, layout("hybrid"))
    names = ("innodb_redo_log_capacity", "innodb_log_file_size")
    assert {name: found[name] for name in names if name in found} == redo


@pytest.mark.parametrize(("server", "size"), [("mysql-8.0", "32M"), ("mariadb-11.8", "32M"), ("mysql-8.4", None)])
def test_the_log_buffer_is_made_larger_where_it_is_small(server: str, size: str | None) -> None:
    assert values(server, layout("hybrid")).get("innodb_log_buffer_size") == size
    assert "innodb_log_buffer_size" not in values(server, layout("hybrid"), 512 << 20)

"""The sizes of the caches, from real kstats and a real zpool(8)."""

from __future__ import annotations

from pathlib import Path

from zmysql.trace.machine import parse_arc_bytes, parse_cache_bytes

MACHINE = Path(__file__).parents[1] / "machines" / "debian13-dtrace2.0"


def test_the_arc_of_a_machine_with_zfs_arc_max_can_hold_that() -> None:
    assert parse_arc_bytes((MACHINE / "arcstats").read_text()) == 64 << 20


def test_an_arc_that_is_not_full_grows_into_the_free_memory() -> None:
    text = (MACHINE / "arcstats").read_text()
    values = {line.split()[0]: int(line.split()[2]) for line in text.splitlines()[2:]}
    without_maximum = text.replace(f"c_max                           4    {64 << 20}", f"c_max 4 {1 << 40}")
    assert without_maximum != text
    assert parse_arc_bytes(without_maximum) == values["size"] + values["memory_available_bytes"]


def test_no_arcstats_no_size() -> None:
    assert parse_arc_bytes("") is None


def test_the_size_of_the_cache_devices_is_the_pools_l2arc() -> None:
    assert parse_cache_bytes((MACHINE / "zpool-list").read_text()) == 2136997888


def test_a_pool_without_cache_devices() -> None:
    listed = (MACHINE / "zpool-list").read_text()
    assert parse_cache_bytes(listed[: listed.index("cache")]) == 0

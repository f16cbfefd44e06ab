"""Memory between buffer pool and ARC, and the lines that cap the ARC."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import layout

from zmysql.errors import UsageError
from zmysql.mysql.mycnf import arc_text, render
from zmysql.mysql.sizing import (
    LEAST_ARC_BYTES,
    LEAST_ARC_MIN_BYTES,
    LEAST_MEMORY_BYTES,
    arc_tuning,
    l2arc_header_bytes,
    plan_memory,
)

if TYPE_CHECKING:
    from zmysql.mysql.served import ServedLayout

GIB = 1 << 30
BARE, CACHED = layout("all-hdd"), layout("hybrid")
METADATA = layout("all-hdd", "data.primarycache=metadata")


@given(ram_bytes=st.integers(GIB, 4 << 40), served=st.sampled_from((BARE, CACHED, METADATA)))
def test_the_parts_are_the_whole_and_zfs_takes_the_cap(ram_bytes: int, served: ServedLayout) -> None:
    budget = plan_memory(served, None, ram_bytes)
    assert budget.system_bytes is not None
    assert budget.arc_max_bytes is not None
    assert budget.mysqld_bytes + budget.arc_max_bytes + budget.system_bytes == ram_bytes
    assert budget.mysqld_bytes >= LEAST_MEMORY_BYTES
    assert budget.buffer_pool_bytes <= budget.mysqld_bytes
    # arc_tuning_update() of arc.c: what zfs_arc_max must be in order not to be ignored.
    arc_min = budget.arc_min_bytes or max(ram_bytes // 32, LEAST_ARC_MIN_BYTES)
    assert max(LEAST_ARC_BYTES, arc_min + 1) <= budget.arc_max_bytes < ram_bytes
    assert arc_min >= LEAST_ARC_MIN_BYTES


def test_of_64g_an_arc_that_keeps_data_has_a_third_of_what_the_system_leaves() -> None:
    budget = plan_memory(BARE, None, 64 * GIB)
    assert (budget.system_bytes, budget.arc_max_bytes) == (8 * GIB, 56 * GIB // 3 >> 20 << 20)
    assert budget.buffer_pool_bytes == 28 * GIB


def test_an_arc_of_metadata_has_an_eighth() -> None:
    budget = plan_memory(METADATA, None, 64 * GIB)
    assert budget.arc_max_bytes == 7 * GIB
    assert "primarycache=metadata" in " ".join(budget.why)


def test_the_headers_of_the_l2arc_are_counted() -> None:
    assert l2arc_header_bytes(BARE) == 0
    # A disk of 1T at records of 16K: 2^26 headers of 96 bytes.
    assert l2arc_header_bytes(CACHED) == 6 * GIB
    assert l2arc_header_bytes(layout("hybrid", "data.recordsize=128K")) == 6 * GIB // 8
    small = plan_memory(CACHED, None, 32 * GIB)
    assert small.arc_max_bytes == 12 * GIB
    assert "6G of it are headers of the L2ARC" in small.why[1]
    assert "a full L2ARC of 1T takes 6G of the ARC: 96 bytes for each record of 16K" in small.why


def test_what_mysqld_has_is_left_to_it_and_the_arc_has_the_rest() -> None:
    budget = plan_memory(BARE, 40 * GIB, 64 * GIB)
    assert (budget.mysqld_bytes, budget.arc_max_bytes, budget.system_bytes) == (40 * GIB, 16 * GIB, 8 * GIB)
    assert plan_memory(BARE, 40 * GIB, None).arc_max_bytes is None


def test_a_small_arc_needs_a_smaller_minimum() -> None:
    budget = plan_memory(BARE, 55 * GIB, 64 * GIB)
    assert (budget.arc_max_bytes, budget.arc_min_bytes) == (GIB, GIB // 2)
    assert plan_memory(BARE, 53 * GIB, 64 * GIB).arc_min_bytes is None


@pytest.mark.parametrize(("memory_bytes", "ram_bytes"), [(60 * GIB, 64 * GIB), (None, 512 << 20), (None, None)])
def test_too_little_memory_is_refused(memory_bytes: int | None, ram_bytes: int | None) -> None:
    with pytest.raises(UsageError, match="--ram"):
        plan_memory(BARE, memory_bytes, ram_bytes)


@pytest.mark.parametrize(
    ("system", "file", "lines"),
    [
        ("linux", "/etc/modprobe.d/zfs.conf", ("options zfs zfs_arc_min=536870912 zfs_arc_max=1073741824",)),
        (
            "freebsd",
            "/boot/loader.conf",
            ('vfs.zfs.arc.min="536870912"', 'vfs.zfs.arc.max="1073741824"'),
        ),
        ("illumos", "/etc/system", ("set zfs:zfs_arc_min = 0x20000000", "set zfs:zfs_arc_max = 0x40000000")),
    ],
)
def test_each_system_has_its_own_lines(system: str, file: str, lines: tuple[str, ...]) -> None:
    budget = plan_memory(BARE, 55 * GIB, 64 * GIB)
    assert arc_tuning(system, budget) == (file, lines)
    text = arc_text(system, budget).splitlines()
    assert tuple(line for line in text if line[0] not in "#*") == lines
    in_mycnf = render("mysql-9.7", replace(BARE, system=system), budget)
    assert all(f"\n#   {line}\n" in in_mycnf for line in lines)
    assert all(len(line) <= 120 for line in in_mycnf.splitlines())


def test_without_a_cap_there_is_no_file() -> None:
    assert arc_text("linux", plan_memory(BARE, GIB, None)) == ""

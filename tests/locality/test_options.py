"""What could be done, and what has to be simulated for it."""

from __future__ import annotations

from buyers import ARC, L2ARC, offered
from hypothesis import given
from hypothesis import strategies as st

from zmysql.locality.devices import GIB
from zmysql.locality.options import Choice, Table, Wishes, cases, hottest, l2arc_sizes, larger_recordsizes, options
from zmysql.locality.simulation import LARGEST_BYTES, Case


def test_leaving_it_is_first_and_all_sizes_are_there() -> None:
    found = offered()
    assert found[0].choice is Choice.LEAVE_IT
    assert found[0].case == Case(None, ARC)
    assert [one.case.l2arc_bytes for one in found if one.choice is Choice.L2ARC] == [
        L2ARC * eighths // 8 for eighths in (1, 2, 4, 8, 16, 32)
    ]
    ram = [(one.case.arc_bytes, one.ram_bytes) for one in found if one.choice is Choice.MORE_RAM]
    assert ram == [(12 * GIB, 4 * GIB), (16 * GIB, 8 * GIB), (32 * GIB, 24 * GIB)]
    assert [one.ssd_bytes for one in found if one.choice is Choice.FULL_SSD] == [10**9]
    assert len(cases(found)) == 1 + 6 + 3  # what lies on SSD for good needs no simulation of its own


def test_a_size_that_is_named_is_the_only_one() -> None:
    assert l2arc_sizes(L2ARC, Wishes(l2arc_bytes=5 * GIB)) == (5 * GIB,)
    assert max(l2arc_sizes(LARGEST_BYTES, Wishes())) == LARGEST_BYTES
    assert l2arc_sizes(1, Wishes()) == (1, 2, 4)


def test_memory_is_bounded_by_the_machine_and_by_what_is_sold() -> None:
    def ram(wishes: Wishes, most: int) -> list[int]:
        found = options(ARC, L2ARC, wishes, most_ram_bytes=most, read_bytes=1)
        return [one.case.arc_bytes // GIB for one in found if one.choice is Choice.MORE_RAM]

    assert ram(Wishes(), 1024 * GIB) == [12, 16, 32]
    assert ram(Wishes(ram_bytes=16 * GIB), 1024 * GIB) == [12, 16]
    assert ram(Wishes(ram_bytes=1024 * GIB), 12 * GIB) == [12]
    assert ram(Wishes(ram_bytes=ARC), 1024 * GIB) == []


def test_a_database_is_at_least_what_was_read() -> None:
    def size(wishes: Wishes) -> int:
        found = options(ARC, L2ARC, wishes, most_ram_bytes=1, read_bytes=5 * GIB)
        return next(one.ssd_bytes for one in found if one.choice is Choice.FULL_SSD)

    assert size(Wishes()) == 5 * GIB
    assert size(Wishes(db_bytes=7 * GIB)) == 7 * GIB


def table(number: int, misses: int, size: int) -> Table:
    return Table(54, number, f"t{number}", misses, size)


def test_the_hottest_tables_have_most_misses_in_few_bytes() -> None:
    hot, warm, cold = table(1, 700, 100), table(2, 200, 100), table(3, 100, 800)
    assert hottest([cold, warm, hot]) == (hot, warm)
    assert hottest([table(1, 500, 500), table(2, 500, 500)]) == ()  # that would be all of it
    assert hottest([]) == ()
    assert hottest([table(1, 0, 10), table(2, 0, 10)]) == ()


def test_a_special_vdev_is_as_large_as_its_tables_in_the_whole_database() -> None:
    tables = [table(1, 900, 100), table(2, 100, 900)]
    found = options(ARC, L2ARC, Wishes(db_bytes=5000), most_ram_bytes=1, read_bytes=1000, tables=tables)
    special = next(one for one in found if one.choice is Choice.SPECIAL_VDEV)
    assert special.tables == (tables[0],)
    assert special.ssd_bytes == 500
    evil = [Table(54, 1, "a\x1b[2J", 900, 100), tables[1]]
    named = options(ARC, L2ARC, Wishes(), most_ram_bytes=1, read_bytes=1000, tables=evil)
    assert all(one.name.isprintable() for one in named)


def test_larger_records_are_tried_alone_and_with_an_l2arc() -> None:
    found = options(ARC, L2ARC, Wishes(), most_ram_bytes=1, read_bytes=1, recordsizes=(131072,))
    larger = [one for one in found if one.case.recordsize == 131072]
    assert [(one.choice, one.case.l2arc_bytes) for one in larger] == [(Choice.LEAVE_IT, 0), (Choice.L2ARC, L2ARC)]


def test_only_records_that_save_time_are_worth_a_simulation() -> None:
    times = {16384: 100.0, 32768: 60.0, 131072: 70.0, 262144: 110.0}
    assert larger_recordsizes(16384, times) == (32768, 131072)
    assert larger_recordsizes(131072, times) == ()
    assert larger_recordsizes(None, times) == ()
    assert larger_recordsizes(16384, {}) == ()
    assert larger_recordsizes(16384, {16384: 100.0, 32768: 100.0}) == ()


@given(st.integers(1, LARGEST_BYTES), st.integers(1, LARGEST_BYTES), st.integers(1, 2**62))
def test_any_sizes_can_be_simulated(arc_bytes: int, l2arc_bytes: int, most: int) -> None:
    found = options(arc_bytes, l2arc_bytes, Wishes(), most_ram_bytes=most, read_bytes=1)
    for case in cases(found):
        assert 1 <= case.arc_bytes <= LARGEST_BYTES
        assert 0 <= case.l2arc_bytes <= LARGEST_BYTES
    assert Case(None, arc_bytes, l2arc_bytes) in cases(found)

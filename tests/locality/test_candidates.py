"""What each option brings and costs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from buyers import ARC, DISK, KNOWN, L2ARC, MEMORY, REFERENCES, RIG, SSD, found, load, loads, offered, priced
from hypothesis import given
from hypothesis import strategies as st

from zmysql.locality.candidates import ARC_HIT_NS, Candidate, Goal, Served, candidates, percentile_ns
from zmysql.locality.devices import GIB, ReadLatency
from zmysql.locality.options import Choice, Option, Table
from zmysql.locality.simulation import Case


def of(choice: Choice, all_of_them: tuple[Candidate, ...], l2arc_bytes: int | None = None) -> Candidate:
    return next(one for one in all_of_them if one.choice is choice and l2arc_bytes in {None, one.case.l2arc_bytes})


def test_the_mean_is_of_all_reads() -> None:
    all_of_them = found(wishes=KNOWN)
    assert all_of_them[0].mean_latency_ns == pytest.approx(ARC_HIT_NS + 0.6 * 7e6)
    l2arc = of(Choice.L2ARC, all_of_them, L2ARC)
    assert l2arc.mean_latency_ns == pytest.approx(ARC_HIT_NS + 0.4 * 200e3 + 0.2 * 7e6)
    assert l2arc.arc_hit_ratio == 0.4
    assert l2arc.l2arc_hit_ratio == pytest.approx(2 / 3)
    assert of(Choice.FULL_SSD, all_of_them).mean_latency_ns == pytest.approx(ARC_HIT_NS + 0.6 * 200e3)


def test_the_tail_is_of_the_slowest_part() -> None:
    all_of_them = found()
    # 60 % go to a disk: of those, one in sixty is beyond p99 of all.
    tail = DISK.latency.tail_ns
    assert all_of_them[0].p99_latency_ns == pytest.approx(ARC_HIT_NS + DISK.latency.floor_ns + tail * 4.0943, rel=1e-3)
    half_a_percent = found(arc_hits=REFERENCES - 500, l2arc_hits=0, ram_hits=REFERENCES - 500)
    assert half_a_percent[0].p99_latency_ns == ARC_HIT_NS


@given(st.lists(st.tuples(st.floats(0.02, 0.5), st.floats(1e3, 1e8), st.floats(1, 20)), min_size=1, max_size=2))
def test_a_percentile_is_exceeded_by_just_so_many(parts: list[tuple[float, float, float]]) -> None:
    latencies = [(share, ReadLatency(mean, mean * tail)) for share, mean, tail in parts]
    time_ns = percentile_ns(latencies, 0.01)
    assert sum(share * latency.slower_than(time_ns * 1.0001) for share, latency in latencies) <= 0.01
    assert sum(share * latency.slower_than(time_ns * 0.9999) for share, latency in latencies) >= 0.01 * 0.99


def test_throughput_is_bounded_by_the_disks() -> None:
    base = found()[0]
    assert base.reads_per_second <= 4 * 200 / 0.6
    assert base.reads_per_second == pytest.approx(4 * 200 / 0.6, rel=0.25)
    more_disks = found(rig=replace(RIG, disks=40))[0]
    assert more_disks.reads_per_second > base.reads_per_second
    one_reader = found(rig=replace(RIG, readers=1))[0]
    assert one_reader.reads_per_second == pytest.approx(1e9 / one_reader.mean_latency_ns)


def test_what_is_bought_is_paid_for() -> None:
    all_of_them = found(wishes=KNOWN)
    assert all_of_them[0].cost == 0
    assert of(Choice.L2ARC, all_of_them, L2ARC).cost == pytest.approx(400 * 0.25)
    assert of(Choice.L2ARC, all_of_them, 4 * L2ARC).cost == pytest.approx(2 * 400 * 0.25)
    assert of(Choice.FULL_SSD, all_of_them).cost == pytest.approx(2 * 5 * 400 * 0.25)  # 2 TB, mirrored
    assert [one.cost for one in all_of_them if one.choice is Choice.MORE_RAM] == [80, 80, 160]
    assert of(Choice.L2ARC, found(rig=priced(None)), L2ARC).cost is None


def test_wear_is_of_the_l2arc_that_is_written() -> None:
    all_of_them = found(written=10**9)  # in 1000 s
    l2arc = of(Choice.L2ARC, all_of_them, L2ARC)
    assert l2arc.ssd_written_bytes_per_day == pytest.approx(86.4e9)
    assert l2arc.ssd_life_years == pytest.approx(400 / 86.4 * 5)
    assert of(Choice.L2ARC, all_of_them, 4 * L2ARC).ssd_life_years == pytest.approx(2 * 400 / 86.4 * 5)
    assert all_of_them[0].ssd_written_bytes_per_day is None
    assert of(Choice.FULL_SSD, all_of_them).ssd_life_years is None


def test_a_special_vdev_takes_its_tables_misses() -> None:
    tables = (Table(54, 1, "hot", 1, 100), Table(54, 2, "warm", 6_000, 100))
    option = Option(Choice.SPECIAL_VDEV, "special", Case(None, ARC), ssd_bytes=GIB, tables=tables)
    served = replace(load({option.case: (40_000, 0)})[option.case], object_misses={(54, 1): 24_000})
    one = candidates([option], {option.case: served}, RIG)[0]
    # The simulation has the first table's misses; the second's are those of the curve.
    assert one.ssd_hit_ratio == pytest.approx(0.3)
    assert one.mean_latency_ns == pytest.approx(ARC_HIT_NS + 0.3 * 200e3 + 0.3 * 7e6)
    assert one.cost == pytest.approx(2 * 400 * 0.25)
    nothing_missed = replace(served, arc_hits=REFERENCES)
    assert candidates([option], {option.case: nothing_missed}, RIG)[0].mean_latency_ns == ARC_HIT_NS


def test_larger_records_take_longer_to_read() -> None:
    case = Case(131072, ARC)
    served = Served(REFERENCES, 0, 0, read_bytes=131072, span_s=1)
    one = candidates([Option(Choice.LEAVE_IT, "a", case)], {case: served}, RIG)[0]
    assert one.mean_latency_ns == pytest.approx(ARC_HIT_NS + 7e6 + 112 * 1024 / 150e6 * 1e9)


def test_what_was_not_simulated_is_left_out() -> None:
    offer = offered()
    assert len(candidates(offer, load({offer[0].case: (1, 0)}), RIG)) == 2  # to leave it, and all on SSD


@given(loads())
def test_more_hits_and_faster_devices_never_make_it_slower(drawn: tuple[int, int, int]) -> None:
    arc_hits, l2arc_hits, ram_hits = drawn
    all_of_them = found(arc_hits, l2arc_hits, ram_hits)
    base = all_of_them[0]
    for one in all_of_them:
        assert one.mean_latency_ns <= base.mean_latency_ns * (1 + 1e-9)
        assert one.p99_latency_ns <= base.p99_latency_ns * (1 + 1e-9)
        assert one.gain(base, Goal.LATENCY) >= 1 - 1e-9
        assert one.mean_latency_ns >= ARC_HIT_NS
    faster = found(arc_hits, l2arc_hits, ram_hits, rig=replace(RIG, ssd=SSD.with_latency(100e3)))
    for slow, fast in zip(all_of_them, faster, strict=True):
        assert fast.mean_latency_ns <= slow.mean_latency_ns * (1 + 1e-9)


def test_memory_is_sold_in_modules() -> None:
    assert MEMORY.cost(1) == MEMORY.cost(16 * GIB) == 80

"""The best buy, and what must never change it the wrong way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from buyers import ARC, DISK, KNOWN, L2ARC, NONE, REFERENCES, RIG, SSD, found, load, loads, priced
from hypothesis import given
from hypothesis import strategies as st

from zmysql.locality.buying import NEARLY_AS_GOOD, Buy, best_buy, dollars, is_worth_it, records_alone
from zmysql.locality.candidates import Candidate, Goal, candidates
from zmysql.locality.latency import PAYS
from zmysql.locality.options import Choice, Wishes, cases, options

goals = st.sampled_from(Goal)


def bought(all_of_them: tuple[Candidate, ...], goal: Goal = Goal.LATENCY, wishes: Wishes = NONE) -> Buy:
    buy = best_buy(all_of_them, goal, wishes)
    assert buy is not None
    return buy


def choice(all_of_them: tuple[Candidate, ...], goal: Goal = Goal.LATENCY, wishes: Wishes = NONE) -> Choice | None:
    buy = best_buy(all_of_them, goal, wishes)
    return buy.candidate.choice if buy else None


def worth(all_of_them: tuple[Candidate, ...], what: Choice, wishes: Wishes = NONE) -> bool:
    return any(one.choice is what and is_worth_it(one, all_of_them, Goal.LATENCY, wishes) for one in all_of_them)


def test_an_l2arc_that_brings_most_for_least_is_bought_in_its_smallest_good_size() -> None:
    buy = bought(found())
    assert buy.candidate.choice is Choice.L2ARC
    assert buy.candidate.case.l2arc_bytes == L2ARC  # half of it brings too little; twice brings no more
    assert buy.gain == pytest.approx(4.21e6 / 1.49e6, rel=1e-3)


def test_memory_is_bought_where_it_does_as_well_for_less() -> None:
    assert choice(found(ram_hits=80_000), wishes=NONE) is Choice.L2ARC  # four times the ARC costs 160, the SSD 100
    assert choice(found(ram_hits=80_000, rig=priced(ram=1))) is Choice.MORE_RAM
    assert choice(found(ram_hits=80_000, l2arc_hits=0)) is Choice.MORE_RAM


def test_ssds_for_all_are_advised_only_for_a_database_whose_size_is_known() -> None:
    assert choice(found(l2arc_hits=1_000, ram_hits=41_000)) is None
    known = found(l2arc_hits=1_000, ram_hits=41_000, wishes=KNOWN)
    assert choice(known) is None
    assert choice(known, wishes=KNOWN) is Choice.FULL_SSD


def test_nothing_is_bought_where_nothing_pays() -> None:
    assert choice(found(arc_hits=REFERENCES, l2arc_hits=0, ram_hits=REFERENCES)) is None
    assert choice(found(l2arc_hits=0, ram_hits=40_000)) is None


def test_the_goal_decides() -> None:
    # The small L2ARC brings half for the same price; for the money nothing beats what is free.
    assert choice(found(ram_hits=60_000, rig=priced(ram=0)), Goal.COST) is Choice.MORE_RAM
    assert choice(found(ram_hits=60_000), Goal.COST) is Choice.L2ARC
    assert choice(found(), Goal.THROUGHPUT) is Choice.L2ARC
    assert bought(found(wishes=KNOWN), Goal.THROUGHPUT, KNOWN).candidate.choice is Choice.FULL_SSD


def test_an_ssd_that_would_be_worn_out_in_a_year_is_not_bought() -> None:
    assert worth(found(written=10 * 10**9), Choice.L2ARC)
    assert not worth(found(written=100 * 10**9), Choice.L2ARC)


def test_headers_that_crowd_out_the_arc_forbid_the_l2arc() -> None:
    assert worth(found(header_bytes=(4 << 30) - 1), Choice.L2ARC)
    assert not worth(found(header_bytes=4 << 30), Choice.L2ARC)


def test_a_price_that_nobody_said_comes_last() -> None:
    both = found(ram_hits=80_000, rig=priced(None))
    assert choice(both) is Choice.MORE_RAM
    assert choice(both, Goal.COST) is Choice.MORE_RAM
    unpriced = bought(found(rig=priced(None)))
    assert unpriced.candidate.choice is Choice.L2ARC
    assert not any("$" in sentence for sentence in unpriced.sentences(found()[0], Goal.LATENCY))


def test_it_is_said_what_it_brings_and_costs() -> None:
    all_of_them = found(ram_hits=80_000)
    brings, serves, costs, other = bought(all_of_them).sentences(all_of_them[0], Goal.LATENCY)
    assert brings.startswith("With an L2ARC of 100G a read takes 1.49 ms on average in place of 4.21 ms, and 1 % take")
    assert "reads a second in place of" in serves
    assert costs == "It costs about $100."
    assert other.startswith("The next best, an ARC of 32G, is 2.99 times as fast as now, for about $160; this is 2.83.")
    assert [dollars(3.456), dollars(12345.6)] == ["$3.46", "$12,346"]


@given(loads(), goals, st.sampled_from([NONE, KNOWN]))
def test_what_is_bought_pays_and_nothing_as_good_is_cheaper(
    drawn: tuple[int, int, int], goal: Goal, wishes: Wishes
) -> None:
    all_of_them = found(*drawn, wishes=wishes)
    base = all_of_them[0]
    buy = best_buy(all_of_them, goal, wishes)
    if buy is None:
        assert not any(is_worth_it(one, all_of_them, goal, wishes) for one in all_of_them[1:])
        return
    assert buy.gain >= PAYS
    assert buy.candidate.choice not in {Choice.LEAVE_IT, Choice.RECORD_LONGER}
    as_good = [
        one
        for one in all_of_them
        if is_worth_it(one, all_of_them, goal, wishes)
        and one.benefit(base, goal) >= max(buy.candidate.benefit(base, goal), 0)
    ]
    if goal is not Goal.COST:
        assert all((one.cost or 0) >= (buy.candidate.cost or 0) for one in as_good)
    assert buy.runner_up is None or buy.runner_up.choice is not buy.candidate.choice


@given(loads(), goals, st.floats(0.01, 10), st.floats(0.1, 0.99))
def test_a_cheaper_ssd_never_makes_an_l2arc_less_attractive(
    drawn: tuple[int, int, int], goal: Goal, price: float, cheaper: float
) -> None:
    # Against memory and leaving it, whose prices stay; SSDs for all get cheaper too.
    if choice(found(*drawn, rig=priced(price)), goal) is Choice.L2ARC:
        assert choice(found(*drawn, rig=priced(price * cheaper)), goal) is Choice.L2ARC


@given(loads(), goals, st.floats(0.1, 50), st.floats(1.01, 10))
def test_dearer_memory_is_never_bought_sooner(
    drawn: tuple[int, int, int], goal: Goal, price: float, dearer: float
) -> None:
    if choice(found(*drawn, rig=priced(ram=price * dearer)), goal) is Choice.MORE_RAM:
        assert choice(found(*drawn, rig=priced(ram=price)), goal) is Choice.MORE_RAM


@given(loads(), st.sampled_from([NONE, KNOWN]))
def test_a_device_as_slow_as_the_disk_never_pays(drawn: tuple[int, int, int], wishes: Wishes) -> None:
    slow = replace(SSD, latency=DISK.latency, bandwidth_bytes_per_second=DISK.bandwidth_bytes_per_second)
    all_of_them = found(*drawn, rig=replace(RIG, ssd=slow), wishes=wishes)
    for what in (Choice.L2ARC, Choice.FULL_SSD):
        assert not worth(all_of_them, what, wishes)


@given(loads(), st.floats(1e4, 1e7), st.floats(1.0, 100))
def test_slower_disks_never_make_an_l2arc_pay_less(
    drawn: tuple[int, int, int], latency_ns: float, slower: float
) -> None:
    def pays(disk_ns: float) -> bool:
        return worth(found(*drawn, rig=replace(RIG, disk=DISK.with_latency(disk_ns))), Choice.L2ARC)

    assert not pays(latency_ns) or pays(latency_ns * slower)


@given(loads(), st.integers(0, 20_000))
def test_more_hits_never_make_an_l2arc_pay_less(drawn: tuple[int, int, int], more: int) -> None:
    arc_hits, l2arc_hits, ram_hits = drawn
    more = min(l2arc_hits + more, REFERENCES - arc_hits)
    if worth(found(arc_hits, l2arc_hits, ram_hits), Choice.L2ARC):
        assert worth(found(arc_hits, more, ram_hits), Choice.L2ARC)


def test_nearly_as_good_is_three_quarters() -> None:
    # Two thirds of the hits bring two thirds of the benefit: that isn't enough, however cheap.
    cheap = found(l2arc_hits=40_000, ram_hits=40_000 + 26_000, rig=priced(ram=0))
    assert choice(cheap) is Choice.L2ARC
    cheap = found(l2arc_hits=40_000, ram_hits=40_000 + round(40_000 * NEARLY_AS_GOOD) + 2_000, rig=priced(ram=0))
    assert choice(cheap) is Choice.MORE_RAM


def with_records(times: dict[tuple[int | None, int], int]) -> tuple[Candidate, ...]:
    """Give candidates with 128K beside the records as they are, from the hits of (recordsize, L2ARC), warm or not."""
    offer = options(ARC, L2ARC, Wishes(l2arc_bytes=L2ARC), most_ram_bytes=1, read_bytes=1, recordsizes=(131072,))
    hits = {case: (20_000, times[case.recordsize, case.l2arc_bytes]) for case in cases(offer)}
    served = load(hits)
    return candidates(offer, served, RIG, served)


def test_larger_records_are_bought_with_an_l2arc_where_both_are_needed() -> None:
    both = with_records({(None, 0): 0, (None, L2ARC): 30_000, (131072, 0): 10_000, (131072, L2ARC): 70_000})
    assert bought(both).candidate.case.recordsize == 131072
    assert records_alone(both, Goal.LATENCY) is None
    # What the L2ARC adds to the records, or the records to the L2ARC, is too little.
    records = with_records({(None, 0): 0, (None, L2ARC): 0, (131072, 0): 60_000, (131072, L2ARC): 62_000})
    assert best_buy(records, Goal.LATENCY, NONE) is None
    one = records_alone(records, Goal.LATENCY)
    assert one is not None
    assert one.option.name == "recordsize=128K alone"
    cache = with_records({(None, 0): 0, (None, L2ARC): 70_000, (131072, 0): 0, (131072, L2ARC): 71_000})
    assert bought(cache).candidate.case.recordsize is None


def test_records_that_only_fill_caches_sooner_are_not_bought() -> None:
    sooner = with_records({(None, 0): 0, (None, L2ARC): 30_000, (131072, 0): 40_000, (131072, L2ARC): 75_000})
    warm = tuple(replace(one, warm_latency_ns=1e6) for one in sooner)
    assert bought(warm).candidate.case.recordsize is None
    assert records_alone(sooner, Goal.LATENCY) is not None
    assert records_alone(warm, Goal.LATENCY) is None

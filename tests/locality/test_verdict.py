"""The verdict around its boundaries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from buyers import ARC, KNOWN, L2ARC, NONE, found, loads, priced
from hypothesis import given
from hypothesis import strategies as st

from zmysql.locality.candidates import Goal
from zmysql.locality.latency import PAYS
from zmysql.locality.options import Choice
from zmysql.locality.verdict import Evidence, decide, judge

if TYPE_CHECKING:
    from zmysql.locality.options import Wishes

# Of 1000 reads the ARC serves 400 and misses 600, of which an L2ARC serves 300: h = 1/2, and x = 1.94 at r = 35.
PAYING = Evidence(
    references=1000,
    first_reads=100,
    arc_bytes=4 << 30,
    l2arc_bytes=32 << 30,
    arc_hits=400,
    both_hits=700,
    double_arc_hits=450,
    header_bytes=192 << 20,
    latency_ratio=35,
)


def test_what_the_evidence_derives() -> None:
    assert (PAYING.arc_misses, PAYING.arc_hit_ratio, PAYING.both_hit_ratio) == (600, 0.4, 0.7)
    assert PAYING.l2arc_hit_ratio == 0.5
    assert PAYING.l2arc_hit_ratio_at_most == pytest.approx(400 / 600)
    assert PAYING.speedup == pytest.approx(35 / 18)


def test_l2arc_pays() -> None:
    verdict = judge(PAYING)
    assert verdict.choice is Choice.L2ARC
    assert "serves 50.0 % of the reads that miss it" in verdict.reasons[1]
    assert "1.94 times as fast" in verdict.reasons[1]
    assert verdict.reasons[2] == "Twice the ARC would bring 16.7 % of these hits only."


@pytest.mark.parametrize(("double_arc_hits", "choice"), [(639, Choice.L2ARC), (640, Choice.MORE_RAM)])
def test_memory_is_better_where_a_little_of_it_does_as_well(double_arc_hits: int, choice: Choice) -> None:
    assert judge(replace(PAYING, double_arc_hits=double_arc_hits)).choice is choice


@pytest.mark.parametrize(("header_bytes", "choice"), [((2 << 30) - 1, Choice.L2ARC), (2 << 30, Choice.MORE_RAM)])
def test_memory_is_needed_where_headers_crowd_out_the_arc(header_bytes: int, choice: Choice) -> None:
    assert judge(replace(PAYING, header_bytes=header_bytes)).choice is choice


@pytest.mark.parametrize(("both_hits", "choice"), [(524, Choice.L2ARC), (523, Choice.RECORD_LONGER)])
def test_first_reads_decide_only_what_re_reads_leave_open(both_hits: int, choice: Choice) -> None:
    # h must be 0.2059 for x = 1.25 at r = 35: 123.5 hits of 600.
    assert judge(replace(PAYING, both_hits=both_hits)).choice is choice


@pytest.mark.parametrize(("first_reads", "choice"), [(123, Choice.LEAVE_IT), (124, Choice.RECORD_LONGER)])
def test_even_all_first_reads_may_be_too_few(first_reads: int, choice: Choice) -> None:
    evidence = replace(PAYING, both_hits=400, double_arc_hits=400, first_reads=first_reads)
    assert judge(evidence).choice is choice


@pytest.mark.parametrize(
    ("arc_hits", "first_reads", "choice"),
    [
        (790, 200, Choice.LEAVE_IT),  # 1 % of the reads miss again
        (789, 200, Choice.RECORD_LONGER),
        (789, 201, Choice.RECORD_LONGER),  # more than a fifth are first reads
        (1000 - 1, 1, Choice.LEAVE_IT),  # one block, over and over
    ],
)
def test_an_arc_that_holds_what_is_read_again_is_enough(arc_hits: int, first_reads: int, choice: Choice) -> None:
    evidence = replace(PAYING, arc_hits=arc_hits, both_hits=arc_hits, double_arc_hits=arc_hits, first_reads=first_reads)
    assert judge(evidence).choice is choice


def test_a_short_trace_of_first_reads_tells_nothing() -> None:
    # What Suresh traced: 5 % of the blocks are read again, within a run of five minutes on 190 GB.
    evidence = replace(PAYING, first_reads=950, arc_hits=10, both_hits=50, double_arc_hits=15)
    verdict = judge(evidence)
    assert verdict.choice is Choice.RECORD_LONGER
    assert any("95.0 % of the reads are first reads" in reason for reason in verdict.reasons)


def test_devices_alike_never_pay() -> None:
    verdict = judge(replace(PAYING, latency_ratio=1.2))
    assert verdict.choice is Choice.LEAVE_IT
    assert "no hit ratio" in verdict.reasons[-1]


@st.composite
def evidences(draw: st.DrawFn) -> Evidence:
    references = draw(st.integers(1, 10**9))
    first_reads = draw(st.integers(1, references))
    hits = sorted(draw(st.integers(0, references - first_reads)) for _ in range(3))
    arc_bytes = draw(st.integers(1, 2**62))
    larger = [hits[1], hits[2]]
    both_is_larger = draw(st.booleans())
    return Evidence(
        references=references,
        first_reads=first_reads,
        arc_bytes=arc_bytes,
        l2arc_bytes=draw(st.integers(1, 2**62)),
        arc_hits=hits[0],
        both_hits=larger[both_is_larger],
        double_arc_hits=larger[not both_is_larger],
        header_bytes=draw(st.integers(0, 2**62)),
        latency_ratio=draw(st.floats(1, 1e6, exclude_min=True)),
    )


@given(evidences())
def test_any_evidence_gets_a_verdict_that_its_own_figures_bear(evidence: Evidence) -> None:
    verdict = judge(evidence)
    assert len(verdict.reasons) >= 2
    if verdict.choice in (Choice.L2ARC, Choice.MORE_RAM):
        assert evidence.speedup >= PAYS
    if verdict.choice is Choice.RECORD_LONGER:
        assert evidence.speedup < PAYS <= evidence.speedup_at_most


@pytest.mark.parametrize(("seen", "choice"), [(None, Choice.L2ARC), (10, Choice.LEAVE_IT), (11, Choice.L2ARC)])
def test_an_arc_that_was_seen_to_hold_all_is_left_alone(seen: int | None, choice: Choice) -> None:
    verdict = judge(replace(PAYING, arc_misses_seen=seen))
    assert verdict.choice is choice
    if seen == 10:
        assert "missed 10 of 1,000 reads" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("hits", "choice"), [(None, Choice.RECORD_LONGER), (20, Choice.RECORD_LONGER), (21, Choice.L2ARC)]
)
def test_an_l2arc_that_was_seen_to_pay_pays(hits: int | None, choice: Choice) -> None:
    # Of 100 misses it serves 21: x = 35 / (35 * 0.79 + 0.21) = 1.256. The model alone couldn't tell.
    verdict = judge(
        replace(PAYING, both_hits=400, double_arc_hits=400, first_reads=600, arc_misses_seen=100, l2arc_hits_seen=hits)
    )
    assert verdict.choice is choice
    if hits == 21:
        assert "served 21 of these, 21.0 %" in verdict.reasons[1]
        assert "1.26 times as fast" in verdict.reasons[2]


# Of the candidates: what the narrow answer settles, and what the best buy may change.

LIMITED = replace(PAYING, references=100_000, first_reads=15_000, arc_bytes=ARC, l2arc_bytes=L2ARC)
OF_CANDIDATES = replace(LIMITED, arc_hits=40_000, both_hits=80_000, double_arc_hits=41_667, header_bytes=0)


def test_the_best_buy_is_the_verdict() -> None:
    all_of_them = found()
    verdict = decide(OF_CANDIDATES, all_of_them, Goal.LATENCY, NONE)
    assert verdict.choice is Choice.L2ARC
    assert verdict.candidate is not None
    assert verdict.candidate.case.l2arc_bytes == L2ARC
    assert verdict.reasons[:4] == judge(OF_CANDIDATES).reasons
    assert any(reason.startswith("It costs about $100") for reason in verdict.reasons)


def test_a_larger_database_goes_to_ssds_where_caches_bring_little() -> None:
    evidence = replace(OF_CANDIDATES, both_hits=41_000, first_reads=1_000)
    all_of_them = found(l2arc_hits=1_000, ram_hits=41_000, wishes=KNOWN)
    assert decide(evidence, all_of_them, Goal.LATENCY, NONE).choice is Choice.LEAVE_IT
    verdict = decide(evidence, all_of_them, Goal.LATENCY, KNOWN)
    assert verdict.choice is Choice.FULL_SSD
    assert verdict.reasons[0] == "An ARC of 8G serves 40.0 % of the reads."


def test_where_the_trace_cannot_tell_of_caches_it_is_recorded_longer() -> None:
    evidence = replace(OF_CANDIDATES, both_hits=41_000, first_reads=50_000)
    all_of_them = found(l2arc_hits=1_000, ram_hits=41_000, wishes=KNOWN)
    verdict = decide(evidence, all_of_them, Goal.LATENCY, KNOWN)
    assert verdict.choice is Choice.RECORD_LONGER
    assert verdict.candidate is None
    assert verdict.reasons[-1].startswith("Whatever is read again, all 1.8T on SSD makes it")


def test_another_size_may_pay_where_the_one_that_was_asked_for_does_not() -> None:
    evidence = replace(OF_CANDIDATES, both_hits=41_000, first_reads=50_000, l2arc_bytes=L2ARC // 8)
    verdict = decide(evidence, found(), Goal.LATENCY, NONE)
    assert verdict.choice is Choice.L2ARC
    assert verdict.candidate is not None
    assert verdict.candidate.case.l2arc_bytes == L2ARC


def test_what_was_seen_is_not_outbid() -> None:
    free_memory = found(ram_hits=100_000, rig=priced(ram=0))
    enough = replace(OF_CANDIDATES, arc_misses_seen=1_000)
    verdict = decide(enough, free_memory, Goal.LATENCY, KNOWN)
    assert (verdict.choice, verdict.seen, verdict.candidate) == (Choice.LEAVE_IT, True, None)
    pays = replace(OF_CANDIDATES, arc_misses_seen=60_000, l2arc_hits_seen=40_000)
    verdict = decide(pays, free_memory, Goal.LATENCY, KNOWN)
    assert (verdict.choice, verdict.seen) == (Choice.L2ARC, True)
    assert verdict.candidate is not None
    assert verdict.candidate.case.l2arc_bytes == L2ARC
    cold = decide(replace(pays, both_hits=40_000), free_memory, Goal.LATENCY, KNOWN)
    assert cold.reasons[-1].startswith("The simulation, whose caches start empty")


def test_hits_that_are_lost_among_those_of_the_arc_buy_nothing() -> None:
    # Of 2 % misses half hit the L2ARC: these are 1.9 times as fast, but with nothing on offer no read is.
    evidence = replace(OF_CANDIDATES, first_reads=500, arc_hits=98_000, both_hits=99_000, double_arc_hits=98_000)
    nothing = found(arc_hits=99_999, l2arc_hits=1, ram_hits=99_999)
    verdict = decide(evidence, nothing, Goal.LATENCY, KNOWN)
    assert verdict.choice is Choice.LEAVE_IT
    assert "nothing that can be bought makes it 1.25 times as fast" in verdict.reasons[1]


@given(loads(), st.integers(0, 100_000), st.sampled_from(Goal), st.sampled_from([NONE, KNOWN]))
def test_any_load_gets_a_verdict_with_its_candidate(
    drawn: tuple[int, int, int], first_reads: int, goal: Goal, wishes: Wishes
) -> None:
    arc_hits, l2arc_hits, ram_hits = drawn
    if arc_hits == 100_000:
        return  # at least the first of all reads misses
    evidence = replace(
        OF_CANDIDATES,
        arc_hits=arc_hits,
        both_hits=arc_hits + l2arc_hits,
        double_arc_hits=arc_hits + (ram_hits - arc_hits) // 3,
        first_reads=min(first_reads, 100_000 - arc_hits - l2arc_hits),
    )
    all_of_them = found(*drawn, wishes=wishes)
    verdict = decide(evidence, all_of_them, goal, wishes)
    assert verdict.reasons
    if verdict.choice in {Choice.LEAVE_IT, Choice.RECORD_LONGER}:
        assert verdict.candidate is None
    else:
        assert verdict.candidate is not None
        assert verdict.candidate.choice is verdict.choice
        assert verdict.candidate.gain(all_of_them[0], goal) >= PAYS

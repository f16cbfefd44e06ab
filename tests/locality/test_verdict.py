"""The verdict around its boundaries."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zmysql.locality.verdict import PAYS, Choice, Evidence, judge

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

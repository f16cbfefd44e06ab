"""Suresh's formula beside the simulation, and the reasons why they differ."""

from __future__ import annotations

from dataclasses import replace

import pytest
from buyers import ARC, L2ARC, NONE, REFERENCES, RIG, found, load

from zmysql.locality.candidates import candidates
from zmysql.locality.formula import Formula, formula
from zmysql.locality.options import cases, options
from zmysql.locality.simulation import Case
from zmysql.locality.verdict import Evidence

CURVE = Evidence(
    references=REFERENCES,
    first_reads=15_000,
    arc_bytes=ARC,
    l2arc_bytes=L2ARC,
    arc_hits=40_000,
    both_hits=80_000,
    double_arc_hits=41_000,
    header_bytes=0,
    latency_ratio=35,
)


def of(curve: Evidence = CURVE, l2arc_hits: int = 40_000) -> Formula:
    return formula(curve, found(l2arc_hits=l2arc_hits), RIG)


def test_the_simulated_x_is_of_the_same_reads() -> None:
    one = of()
    assert one.h == pytest.approx(2 / 3)
    assert one.r == 35
    assert one.x == pytest.approx(35 / (35 / 3 + 2 / 3))
    assert one.simulated_x == pytest.approx(one.x)  # the hits are the same
    assert one.why[0].startswith("First reads, 15.0 % of all, miss in any cache that starts empty")
    assert one.why[1].startswith("ARC and L2ARC hit as often as one LRU cache")
    assert one.why[2].startswith("The formula takes reads that wait for no other. With 16 readers")


def test_fewer_hits_are_those_of_the_feed() -> None:
    one = of(l2arc_hits=20_000)
    assert one.simulated_x is not None
    assert one.simulated_x < one.x
    assert "in the simulation 20.0 % of the reads fewer hit" in one.why[1]
    assert "takes 300 s to fill" in one.why[1]


def test_more_hits_are_those_of_the_mfu_list() -> None:
    one = of(replace(CURVE, both_hits=60_000))
    assert one.simulated_x is not None
    assert one.simulated_x > one.x
    assert "in the simulation 20.0 % of the reads more hit" in one.why[1]


def test_a_short_trace_has_no_simulation() -> None:
    all_of_them = tuple(replace(one, served=replace(one.served, simulated=False)) for one in found())
    one = formula(CURVE, all_of_them, RIG)
    assert one.simulated_x is None
    assert "too short to simulate" in one.why[1]


def test_neighbours_are_what_the_formula_does_not_count() -> None:
    offer = options(ARC, L2ARC, NONE, most_ram_bytes=1, read_bytes=1, recordsizes=(131072,))
    hits = {case: (40_000, 55_000 if case.l2arc_bytes and case.recordsize else 0) for case in cases(offer)}
    assert Case(131072, ARC, L2ARC) in hits
    one = formula(CURVE, candidates(offer, load(hits), RIG), RIG)
    assert "with recordsize=128K each brings its neighbours along" in one.why[-1]

"""The figures at which the verdict turns: at each of them it does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from buyers import DISK, KNOWN, L2ARC, NONE, REFERENCES, RIG, found, priced
from hypothesis import given
from hypothesis import strategies as st

from zmysql.locality.breakeven import BreakEven, bisect, break_evens
from zmysql.locality.buying import is_worth_it
from zmysql.locality.candidates import Goal
from zmysql.locality.options import Choice

if TYPE_CHECKING:
    from zmysql.locality.candidates import Candidate, Rig


def turns(all_of_them: tuple[Candidate, ...], rig: Rig = RIG) -> dict[str, BreakEven]:
    return {one.what: one for one in break_evens(all_of_them, Goal.LATENCY, NONE, rig)}


def test_the_curve_is_bisected() -> None:
    points = [(0, 1.0), (100, 1.1), (200, 1.5)]
    assert bisect(points, 1.25) == pytest.approx(137.5)
    assert bisect(points, 1.5) == pytest.approx(200)
    assert bisect(points, 1.0) == 0


def test_an_l2arc_pays_from_a_size_on() -> None:
    one = turns(found())["l2arc-size"]
    assert one.unit == "bytes"
    assert one.sentence == "An L2ARC pays from about 30.9G on."
    # Of 4.21 ms a fifth must be saved, by hits that save 6.8 ms each: 12.4 % of the reads, of the 40 % at 100G.
    assert one.value == pytest.approx((4.21 / 5 / 6.8) / 0.4 * L2ARC)
    assert "l2arc-size" not in turns(found(l2arc_hits=0))


def test_prices_of_ssd_and_memory_meet() -> None:
    one = turns(found(ram_hits=80_000))["ssd-price"]
    assert one.value == pytest.approx(160 / 400)
    assert (
        one.sentence
        == "An L2ARC of 100G costs less than an ARC of 32G while the SSD costs less than $0.4 a GB (now 0.25)."
    )
    at_it = found(ram_hits=80_000, rig=priced(one.value))
    ram = next(one for one in at_it if one.case.arc_bytes == 32 << 30)
    l2arc = next(one for one in at_it if one.option.name == "an L2ARC of 100G")
    assert ram.cost == pytest.approx(l2arc.cost)
    unpriced = priced(None)
    assert "now" not in turns(found(ram_hits=80_000, rig=unpriced), unpriced)["ssd-price"].sentence
    assert "ssd-price" not in turns(found())  # no memory does as well


@given(st.integers(0, 80_000), st.floats(0.25, 1), st.floats(1.001, 2), st.booleans())
def test_at_the_disks_latency_it_just_pays(arc_hits: int, share: float, factor: float, above: bool) -> None:  # noqa: FBT001 - Hypothesis gives it
    drawn = (arc_hits, round((REFERENCES - arc_hits) * share), arc_hits)
    one = turns(found(*drawn))["disk-latency"]
    factor = factor if above else 1 / factor
    rig = replace(RIG, disk=DISK.with_latency(one.value * factor))
    all_of_them = found(*drawn, rig=rig)
    pays = any(one.choice is Choice.L2ARC and is_worth_it(one, all_of_them, Goal.LATENCY, KNOWN) for one in all_of_them)
    assert pays is above


def test_no_disk_is_slow_enough_for_an_l2arc_without_hits() -> None:
    assert turns(found(l2arc_hits=0)) == {}

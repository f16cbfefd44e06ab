"""What would change the verdict: the sizes, prices and latencies from which another one would be right. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.locality.buying import cheapest_good_one, good_ones, is_worth_it
from zmysql.locality.candidates import ARC_HIT_NS, Goal
from zmysql.locality.devices import GB
from zmysql.locality.latency import PAYS
from zmysql.locality.options import Choice
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zmysql.locality.candidates import Candidate, Rig
    from zmysql.locality.options import Wishes

_STEPS = 60


@dataclass(frozen=True, slots=True)
class BreakEven:
    """A figure at which the verdict turns: what it is of, its value in a unit, and a sentence."""

    what: str
    value: float
    unit: str
    sentence: str


def break_evens(found: Sequence[Candidate], goal: Goal, wishes: Wishes, rig: Rig) -> tuple[BreakEven, ...]:
    """Give what can be said of these candidates, of which the first leaves all as it is."""
    return (*_size(found, goal), *_ssd_price(found, goal, wishes, rig), *_disk_latency(found, rig))


def _l2arcs(found: Sequence[Candidate]) -> list[Candidate]:
    """Give the L2ARCs with the records as they are, by size."""
    plain = (one for one in found if one.choice is Choice.L2ARC and one.case.recordsize is None)
    return sorted(plain, key=lambda one: one.case.l2arc_bytes)


def _size(found: Sequence[Candidate], goal: Goal) -> Iterator[BreakEven]:
    """Find the size from which an L2ARC pays, by bisection between the sizes that were looked at.

    What goes straight from one to the next is the time that is left, of which hits take their part, not its inverse.
    """
    base = found[0]
    points = [(0, -1.0), *((one.case.l2arc_bytes, -1 / one.gain(base, goal)) for one in _l2arcs(found))]
    if not any(left >= -1 / PAYS for _, left in points):
        return
    size = bisect(points, -1 / PAYS)
    text = format_size(float(f"{size:.3g}"))
    yield BreakEven("l2arc-size", size, "bytes", f"An L2ARC pays from about {text} on.")


def bisect(points: Sequence[tuple[int, float]], wanted: float) -> float:
    """Give the least x at which a curve through these points, x rising, reaches a value that one of them reaches."""
    above = next(at for at, (_, value) in enumerate(points) if value >= wanted)
    if above == 0:
        return float(points[0][0])
    (low, low_value), (high, high_value) = points[above - 1], points[above]
    at, end = float(low), float(high)
    for _ in range(_STEPS):
        middle = (at + end) / 2
        value = low_value + (high_value - low_value) * (middle - low) / (high - low)
        at, end = (middle, end) if value < wanted else (at, middle)
    return end


def _ssd_price(found: Sequence[Candidate], goal: Goal, wishes: Wishes, rig: Rig) -> Iterator[BreakEven]:
    """Find the price of a GB of SSD at which an L2ARC costs what the memory does that brings nearly as much."""
    worth = [one for one in found[1:] if is_worth_it(one, found, goal, wishes)]
    good = good_ones(worth, found[0], goal)
    l2arcs = [one for one in good if one.choice is Choice.L2ARC]
    memory = [one for one in good if one.choice is Choice.MORE_RAM and one.cost]
    if not l2arcs or not memory:
        return
    l2arc, ram = cheapest_good_one(l2arcs, found[0], goal), cheapest_good_one(memory, found[0], goal)
    units = rig.ssd.units(l2arc.case.l2arc_bytes)
    bought = units * rig.ssd.capacity_bytes if rig.ssd.capacity_bytes else l2arc.case.l2arc_bytes
    price = (ram.cost or 0) / (bought / GB)
    now = "" if rig.ssd.price_per_gb is None else f" (now {rig.ssd.price_per_gb:.3g})"
    sentence = (
        f"{_capital(l2arc.option.name)} costs less than {ram.option.name} while the SSD costs less than"
        f" ${price:.3g} a GB{now}."
    )
    yield BreakEven("ssd-price", price, "dollars a GB", sentence)


def _disk_latency(found: Sequence[Candidate], rig: Rig) -> Iterator[BreakEven]:
    """Find the mean latency of the disks above which the best L2ARC pays: solve base = PAYS times candidate for it."""
    base, l2arcs = found[0], _l2arcs(found)
    if not l2arcs:
        return
    best = max(l2arcs, key=lambda one: one.gain(base, Goal.LATENCY))
    ssd_ns = rig.ssd.latency_of(best.served.read_bytes).mean_ns
    base_missed = base.served.misses / base.served.references
    missed = best.served.misses / best.served.references
    slope = base_missed - PAYS * missed
    if slope <= 0:
        return  # no disk is so slow
    latency_ns = ((PAYS - 1) * ARC_HIT_NS + PAYS * best.ssd_hit_ratio * ssd_ns) / slope
    sentence = (
        f"{_capital(best.option.name)} pays with disks that take more than {latency_ns / 1e6:.3g} ms a read"
        f" (now {rig.disk.latency_of(base.served.read_bytes).mean_ns / 1e6:.3g} ms)."
    )
    yield BreakEven("disk-latency", latency_ns, "ns", sentence)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

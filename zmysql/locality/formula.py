"""Suresh's formula beside the simulation, and why the two differ. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.locality.options import Choice
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zmysql.locality.candidates import Candidate, Rig
    from zmysql.locality.verdict import Evidence

_ALIKE = 0.02  # of the reads


@dataclass(frozen=True, slots=True)
class Formula:
    """h, r and x of the article, from an LRU curve of the trace; the same x from the simulation; and what differs.

    `simulated_x` is None where the trace is too short to simulate an L2ARC that is fed once a second.
    """

    h: float
    r: float
    x: float
    simulated_x: float | None
    why: tuple[str, ...]


def formula(curve: Evidence, found: Sequence[Candidate], rig: Rig, compressratio: float = 1.0) -> Formula:
    """Compare for the L2ARC of the evidence; the candidates' first leaves all as it is."""
    base = found[0]
    l2arc = next(one for one in found if one.choice is Choice.L2ARC and one.case.l2arc_bytes == curve.l2arc_bytes)
    why = list(_why(curve, found, l2arc, rig))
    if compressratio > 1 and l2arc.served.simulated:
        why.append(
            f"The simulated caches hold records compressed to 1/{compressratio:g}, the formula's as they are read."
        )
    simulated = _miss_time_ns(base, rig) / _miss_time_ns(l2arc, rig) if l2arc.served.simulated else None
    return Formula(
        h=curve.l2arc_hit_ratio,
        r=curve.latency_ratio,
        x=curve.speedup,
        simulated_x=simulated,
        why=tuple(why),
    )


def _miss_time_ns(one: Candidate, rig: Rig) -> float:
    """Give the time that the devices take a read on average, those of the ARC's hits included as 0."""
    size = one.served.read_bytes
    disk, ssd = rig.disk.latency_of(size), rig.ssd.latency_of(size)
    missed = one.served.misses / one.served.references
    return max(one.ssd_hit_ratio * ssd.mean_ns + missed * disk.mean_ns, 1e-9)


def _why(curve: Evidence, found: Sequence[Candidate], l2arc: Candidate, rig: Rig) -> Iterator[str]:
    base = found[0]
    yield (
        f"First reads, {_percent(curve.first_read_ratio)} of all, miss in any cache that starts empty (compulsory"
        f" misses): had the L2ARC served them too, x would be {curve.speedup_at_most:.2f}."
    )
    if l2arc.served.simulated:
        yield from _caches(curve, l2arc)
    else:
        yield "The trace is too short to simulate an L2ARC, which is fed once a second: the candidates are the curve's."
    if base.mean_latency_ns > l2arc.mean_latency_ns:
        loaded = l2arc.reads_per_second / base.reads_per_second
        yield (
            f"The formula takes reads that wait for no other. With {rig.readers} readers an L2ARC also takes reads off"
            f" the disks' queues: {loaded:.2f} times as many reads a second."
        )
    neighbours = [one for one in found if one.choice is Choice.L2ARC and one.case.recordsize is not None]
    if neighbours:
        best = min(neighbours, key=lambda one: one.mean_latency_ns)
        times = base.mean_latency_ns / best.mean_latency_ns
        yield (
            f"The formula counts records that are read again; with recordsize={format_size(best.case.recordsize or 0)}"
            f" each brings its neighbours along, and reads of these hit too: {times:.2f} times as fast in all."
        )
        if best.warm_latency_ns is not None and l2arc.warm_latency_ns is not None:
            warm = l2arc.warm_latency_ns / best.warm_latency_ns
            yield f"That is while the caches fill; once warm, such records make the L2ARC {warm:.2f} times as fast."


def _caches(curve: Evidence, l2arc: Candidate) -> Iterator[str]:
    """Say how a simulation of OpenZFS's caches differs from one LRU cache of ARC and L2ARC together."""
    served = l2arc.served
    both = (served.arc_hits + served.l2arc_hits) / served.references
    filled = "" if served.warmup_seconds is None else f", and takes {served.warmup_seconds:,.0f} s to fill"
    fed = f"the L2ARC is fed at a limited rate from the ends of the ARC's lists{filled}"
    if both < curve.both_hit_ratio - _ALIKE:
        fewer = _percent(curve.both_hit_ratio - both)
        yield f"Its h is of ARC and L2ARC as one LRU cache; in the simulation {fewer} of the reads fewer hit: {fed}."
    elif both > curve.both_hit_ratio + _ALIKE:
        more = _percent(both - curve.both_hit_ratio)
        yield (
            f"Its h is of ARC and L2ARC as one LRU cache; in the simulation {more} of the reads more hit: the ARC keeps"
            " what is read often from what is read once, and prefetch brings some before they are wanted."
        )
    else:
        yield f"ARC and L2ARC hit as often as one LRU cache of their size, though {fed}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"

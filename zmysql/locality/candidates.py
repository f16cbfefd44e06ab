"""What each option brings and costs: hit ratios, latency, reads a second, wear, memory, money. Pure.

Latency is that of a read which waits for no other; `reads_per_second` is what so many readers get, with waiting
(zmysql/locality/queueing.py). Their mean latency under that load follows from it by Little's law.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.locality.options import Choice
from zmysql.locality.queueing import Station, reads_per_second

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zmysql.locality.devices import DeviceModel, Memory, ReadLatency
    from zmysql.locality.options import Option, Table
    from zmysql.locality.simulation import Case

ARC_HIT_NS = 10_000  # assumed: a system call, a lookup and a copy of 16K; next to a disk or an SSD it hardly counts
COPIES = 2  # of what lies on SSD for good: a mirror. An L2ARC needs none, since all of it is on the disks as well
TAIL = 0.01  # of the reads are slower than p99
_DAY_SECONDS = 86400
_HALVINGS = 60


class Goal(StrEnum):
    """What the money is for."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"
    COST = "cost"


@dataclass(frozen=True, slots=True)
class Served:
    """Where the reads of one case came from.

    `misses` went to disk, each of `read_bytes` on average; `l2arc_written_bytes` went to the L2ARC in `span_s`;
    `object_misses` are by (objset, object). `simulated` tells a simulation of OpenZFS's caches from an LRU curve. What
    isn't known is None.
    """

    references: int
    arc_hits: int
    l2arc_hits: int
    read_bytes: float
    span_s: float
    header_bytes: int = 0
    l2arc_written_bytes: int | None = None
    warmup_seconds: float | None = None
    object_misses: Mapping[tuple[int, int], int] = field(default_factory=dict)
    simulated: bool = False

    @property
    def misses(self) -> int:
        """Reads that go to the disks."""
        return self.references - self.arc_hits - self.l2arc_hits


@dataclass(frozen=True, slots=True)
class Rig:
    """The devices: so many disks that share the reads (vdevs), the SSD that would be bought, and who reads."""

    disk: DeviceModel
    ssd: DeviceModel
    memory: Memory
    disks: int
    readers: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """An option with its figures; ratios from 0 to 1, cost in dollars, None where it isn't known.

    `l2arc_hit_ratio` is h: hits in the reads that miss the ARC. Caches start empty, but for `warm_latency_ns`: the mean
    where they hold from before what the same trace left in them, the best that can be hoped for.
    """

    option: Option
    served: Served
    ssd_hit_ratio: float
    mean_latency_ns: float
    p99_latency_ns: float
    reads_per_second: float
    warm_latency_ns: float | None
    ssd_written_bytes_per_day: float | None
    ssd_life_years: float | None
    cost: float | None

    @property
    def choice(self) -> Choice:
        """What it is."""
        return self.option.choice

    @property
    def case(self) -> Case:
        """Its caches."""
        return self.option.case

    @property
    def arc_hit_ratio(self) -> float:
        """Hits of the ARC in all reads."""
        return self.served.arc_hits / self.served.references

    @property
    def l2arc_hit_ratio(self) -> float:
        """Hits of the L2ARC in the reads that miss the ARC."""
        missed = self.served.references - self.served.arc_hits
        return self.served.l2arc_hits / missed if missed else 0.0

    def gain(self, base: Candidate, goal: Goal) -> float:
        """Give how many times as fast reads are as with `base`, or as many a second."""
        if goal is Goal.THROUGHPUT:
            return self.reads_per_second / base.reads_per_second
        return base.mean_latency_ns / self.mean_latency_ns

    def warm_gain(self, base: Candidate) -> float | None:
        """Give how many times as fast reads are as with `base` where the caches of both are warm."""
        if self.warm_latency_ns is None or base.warm_latency_ns is None:
            return None
        return base.warm_latency_ns / self.warm_latency_ns

    def benefit(self, base: Candidate, goal: Goal) -> float:
        """Give what it brings on the goal's own scale: ns saved a read, or more reads a second."""
        if goal is Goal.THROUGHPUT:
            return self.reads_per_second - base.reads_per_second
        return base.mean_latency_ns - self.mean_latency_ns


def candidates(
    options: Iterable[Option], served: Mapping[Case, Served], rig: Rig, warm: Mapping[Case, Served] | None = None
) -> tuple[Candidate, ...]:
    """Give the figures of the options whose cases were looked at, in their order."""
    found = (_candidate(option, served[option.case], rig) for option in options if option.case in served)
    if not warm:
        return tuple(found)
    return tuple(
        replace(one, warm_latency_ns=_candidate(one.option, warm[one.case], rig).mean_latency_ns)
        if one.case in warm
        else one
        for one in found
    )


def _candidate(option: Option, served: Served, rig: Rig) -> Candidate:
    missed = served.misses / served.references
    on_ssd = missed * _share_on_ssd(option, served)
    second = served.l2arc_hits / served.references
    size = served.read_bytes
    disk, ssd = rig.disk.latency_of(size), rig.ssd.latency_of(size)
    parts = ((second + on_ssd, ssd), (missed - on_ssd, disk))
    units = rig.ssd.units(option.case.l2arc_bytes or option.ssd_bytes) * (1 if option.case.l2arc_bytes else COPIES)
    written = _written_per_day(option, served)
    return Candidate(
        option=option,
        served=served,
        ssd_hit_ratio=second + on_ssd,
        mean_latency_ns=ARC_HIT_NS + sum(share * latency.mean_ns for share, latency in parts),
        p99_latency_ns=ARC_HIT_NS + percentile_ns(parts, TAIL),
        reads_per_second=_throughput(
            ((second + on_ssd, rig.ssd, units), (missed - on_ssd, rig.disk, rig.disks)), size, rig
        ),
        warm_latency_ns=None,
        ssd_written_bytes_per_day=written,
        ssd_life_years=None if written is None else rig.ssd.life_years(written, units),
        cost=_cost(option, rig),
    )


def _share_on_ssd(option: Option, served: Served) -> float:
    """Give the part of the ARC's misses that lies on SSD for good."""
    if option.choice is Choice.FULL_SSD:
        return 1.0
    if option.choice is not Choice.SPECIAL_VDEV:
        return 0.0
    of_tables = sum(table_misses(served, table) for table in option.tables)
    return min(of_tables / served.misses, 1.0) if served.misses else 0.0


def table_misses(served: Served, table: Table) -> int:
    """Give a table's misses: of the simulation where it has them, else those of an LRU cache."""
    return served.object_misses.get((table.objset, table.object), table.misses)


def percentile_ns(parts: Sequence[tuple[float, ReadLatency]], tail: float) -> float:
    """Give the time that so many of all reads exceed, where a share of them has each of these latencies.

    0 where fewer than that go to any of them.
    """

    def slower(time_ns: float) -> float:
        return sum(share * latency.slower_than(time_ns) for share, latency in parts)

    if sum(share for share, _ in parts) <= tail:
        return 0.0
    low, high = 0.0, max(latency.mean_ns for _, latency in parts)
    while slower(high) > tail:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if slower(middle) > tail else (low, middle)
    return high


def _throughput(visits: Iterable[tuple[float, DeviceModel, int]], read_bytes: float, rig: Rig) -> float:
    """Give the reads a second; each device is a queue for what it can't do at once, and a delay for the rest."""
    delay_s = ARC_HIT_NS / 1e9
    stations = []
    for share, device, count in visits:
        if share > 0:
            service_s = device.read_seconds(read_bytes)
            delay_s += share * max(device.latency_of(read_bytes).mean_ns / 1e9 - service_s, 0)
            stations.append(Station(share * service_s, count))
    return reads_per_second(delay_s, stations, rig.readers)


def _written_per_day(option: Option, served: Served) -> float | None:
    """Give what the L2ARC is written, if it goes on as in the trace. A pool's own writes aren't in a trace of reads."""
    if not option.case.l2arc_bytes or served.l2arc_written_bytes is None or served.span_s < 1:
        return None
    return served.l2arc_written_bytes / served.span_s * _DAY_SECONDS


def _cost(option: Option, rig: Rig) -> float | None:
    match option.choice:
        case Choice.L2ARC:
            return rig.ssd.cost(option.case.l2arc_bytes)
        case Choice.FULL_SSD | Choice.SPECIAL_VDEV:
            return rig.ssd.cost(option.ssd_bytes, COPIES)
        case _:
            return rig.memory.cost(option.ram_bytes)

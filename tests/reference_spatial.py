"""Regrouped records, working sets and objects, computed as naively as can be: the oracle of their tests."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import reference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reference import Read

    Record = tuple[int, int, int, int]


def settled(reads: Sequence[Read]) -> list[Read]:
    """Give each read the largest size that its block was ever read with."""
    largest: dict[Record, int] = {}
    for read in reads:
        largest[read.block] = max(read.size, largest.get(read.block, 0))
    return [replace(read, size=largest[read.block]) for read in reads]


def unit(reads: Sequence[Read], objset: int, number: int, recordsizes: Mapping[int, int]) -> int | None:
    """Give the record size of a file; None where its blocks can't be regrouped. The reads must be settled."""
    blocks = {read.blkid: read.size for read in reads if (read.objset, read.object, read.level) == (objset, number, 0)}
    size = max(blocks.values(), default=0)
    if size.bit_count() != 1 or (set(blocks) == {0} and size < recordsizes.get(objset, 0)):
        return None
    return size


def file_units(reads: Sequence[Read], recordsizes: Mapping[int, int]) -> dict[tuple[int, int], int | None]:
    """Give the same for all files."""
    files = {(read.objset, read.object) for read in reads}
    return {file: unit(reads, *file, recordsizes) for file in files}


def own_recordsize(reads: Sequence[Read], recordsizes: Mapping[int, int]) -> int | None:
    """Give the record size of most reads."""
    units = file_units(settled(reads), recordsizes)
    known = [one for read in reads if read.level == 0 and (one := units[read.objset, read.object])]
    return min(known, key=lambda one: (-known.count(one), one), default=None)


@dataclass
class Figures:
    """As the engine's Regrouped."""

    recordsize: int
    distinct_records: int = 0
    distinct_bytes: int = 0
    wanted_bytes: int = 0
    misses: int = 0
    missed_bytes: int = 0
    first_read_hits: int = 0
    neighbour_hits: int = 0
    neighbour_hit_bytes: int = 0
    neighbour_bytes: int = 0


@dataclass
class Held:
    """A record in the cache, and those of its blocks that were read since it came."""

    size: int
    used: set[Record] = field(default_factory=set)


def regrouped(
    reads: Sequence[Read], recordsizes: Mapping[int, int], recordsize: int, cache_bytes: int
) -> dict[str, int]:
    """Read records of at least that size through an LRU cache that starts empty."""
    figures = Figures(recordsize)
    all_reads = settled(reads)
    units = file_units(all_reads, recordsizes)
    cache: OrderedDict[Record, Held] = OrderedDict()
    sizes: dict[Record, int] = {}
    ever: set[Record] = set()
    for read in all_reads:
        size = units[read.objset, read.object] if read.level == 0 else None
        if size is not None and size < recordsize:
            record = (read.objset, read.object, 0, read.blkid * size // recordsize)
            wanted, whole = size, recordsize
        else:
            record, wanted, whole = read.block, read.size, read.size
        sizes[record] = whole
        figures.wanted_bytes += wanted
        if record in cache:
            came_along = read.block not in cache[record].used
            figures.first_read_hits += read.block not in ever
            figures.neighbour_hits += came_along
            figures.neighbour_hit_bytes += wanted if came_along else 0
        else:
            cache[record] = Held(whole)
            figures.misses += 1
            figures.missed_bytes += whole
            figures.neighbour_bytes += whole - wanted
        cache[record].used.add(read.block)
        ever.add(read.block)
        cache.move_to_end(record)
        while sum(held.size for held in cache.values()) > cache_bytes:
            cache.popitem(last=False)
    figures.distinct_records = len(sizes)
    figures.distinct_bytes = sum(sizes.values())
    return vars(figures)


def clock(reads: Sequence[Read]) -> list[int]:
    """Give the times, standing still where they go back."""
    return [max(read.time_ns for read in reads[: at + 1]) for at in range(len(reads))]


def windows(reads: Sequence[Read], window_ns: int) -> list[tuple[int, int, int]]:
    """Give (start_ns, reads, distinct bytes) of each window."""
    timed = list(zip(clock(reads), settled(reads), strict=True))
    first, last = timed[0][0], timed[-1][0]
    found = []
    for start in range(first, last + 1, window_ns):
        inside = [read for time, read in timed if start <= time < start + window_ns]
        found.append((start, len(inside), _distinct_bytes(inside)))
    return found


def mean_working_set(reads: Sequence[Read], length_ns: int) -> float:
    """Average the distinct bytes read in (end - length, end] over all ends for which that lies within the trace."""
    timed = list(zip(clock(reads), settled(reads), strict=True))
    first, last = timed[0][0] + length_ns, timed[-1][0]
    # Between these ends nothing comes in and nothing drops out.
    ends = sorted({first, last} | {end for time, _ in timed for end in (time, time + length_ns) if first < end < last})
    area = 0
    for end, following in pairwise(ends):
        inside = [read for time, read in timed if end - length_ns < time <= end]
        area += _distinct_bytes(inside) * (following - end)
    return area / (last - first)


def inter_reference(reads: Sequence[Read]) -> list[int]:
    """Give the time since the last read of the same block, for each read that has one."""
    last: dict[Record, int] = {}
    gaps = []
    for time, read in zip(clock(reads), reads, strict=True):
        if read.block in last:
            gaps.append(time - last[read.block])
        last[read.block] = time
    return gaps


def shared_misses(reads: Sequence[Read], objset: int, number: int, cache_bytes: int) -> int:
    """Count the misses of an object in an LRU cache that all objects share."""
    distances = reference.in_bytes(settled(reads))
    return sum(
        (read.objset, read.object) == (objset, number) and (distance is None or distance > cache_bytes)
        for read, distance in zip(reads, distances, strict=True)
    )


def _distinct_bytes(reads: Sequence[Read]) -> int:
    return sum({read.block: read.size for read in reads}.values())

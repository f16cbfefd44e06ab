"""What larger records would bring along: the reads of a trace, regrouped into records of other sizes.

ZFS reads whole records. With records of 128K a read of a 16K page brings seven neighbours along; each that is read
before its record is evicted is a hit that no cache of 16K records could have had. That is how a load that hardly reads
a page twice can still gain from a large cache, and why Suresh (2009) found 128K to beat 16K. The price is bytes: each
miss reads the whole record, and a small cache is full of pages that nobody wants.

So two figures must be read together, each at a cache of the same bytes: `disk_reads` (what disks that seek care for)
and `disk_read_bytes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.locality.sampling import sampled_bytes, sampling_ratio
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Collection

    from zmysql.locality._engine import Reads, Regrouped
    from zmysql.trace.format import Header

CANDIDATES = tuple(1 << shift for shift in range(14, 21))  # 16K to 1M: the smallest InnoDB page, ZFS's default limit


@dataclass(frozen=True, slots=True)
class Recordsize:
    """A trace as if the records of its files had at least this size, with an LRU cache of so many bytes.

    Files whose records are larger, files of one smaller record, and indirect blocks stay as they are.

    `distinct_records` and `distinct_bytes` are those of whole records. `disk_reads` are the misses, `disk_read_bytes`
    the bytes that they read; the ratios compare each with the trace's own recordsize (1 there; disk reads of 0.4 are
    2.5 times fewer; None where that had none). `read_amplification` is bytes read from disk over bytes asked for: above
    1 the disks read more than a database without any cache. `first_read_hits` are hits of a page that was never read
    before: only a neighbour can have brought it. `neighbour_hits` are first hits, since its record was read from
    disk, of a page that came along, and `useful_neighbour_ratio` the share of all bytes that came along which were so
    hit before they were evicted, None where nothing came along.
    """

    recordsize: int
    distinct_records: int
    distinct_bytes: int
    disk_reads: int
    disk_read_bytes: int
    miss_ratio: float
    read_amplification: float
    first_read_hits: int
    neighbour_hits: int
    useful_neighbour_ratio: float | None
    disk_reads_ratio: float | None
    disk_read_bytes_ratio: float | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A recordsize that the trace can't say anything about, and a sentence that says why."""

    recordsize: int
    why: str


@dataclass(frozen=True, slots=True)
class Recordsizes:
    """The sizes that the trace can tell of, and those that it can't; both rise.

    `own_recordsize` is the trace's own: that of the files with the most reads, None where no file has records that
    could be grouped. Counts are of the records in the file, `cache_bytes` is a real size.
    """

    own_recordsize: int | None
    cache_bytes: int
    references: int
    known: tuple[Recordsize, ...]
    unknown: tuple[Unknown, ...]

    def own(self) -> Recordsize | None:
        """Give the figures at the trace's own recordsize."""
        return next((one for one in self.known if one.recordsize == self.own_recordsize), None)


def recordsizes(
    reads: Reads, header: Header, sizes: Collection[int] = CANDIDATES, *, cache_bytes: int, threads: int | None = None
) -> Recordsizes:
    """Judge each of these recordsizes (powers of two), and the trace's own, at an LRU cache of `cache_bytes`.

    `threads` are as many as there are processors, unless given.
    """
    from zmysql.locality import _engine  # noqa: PLC0415 - who has reads has the engine

    datasets = [(objset, dataset.recordsize) for objset, dataset in header.datasets.items()]
    own = _engine.own_recordsize(reads, datasets)
    wanted = sorted({*sizes, *([] if own is None else [own])})
    unknown = {size: why for size in wanted if (why := _why_unknown(size, own, header))}
    known = [size for size in wanted if size not in unknown]
    found = _engine.recordsizes(reads, datasets, known, sampled_bytes(header, cache_bytes), threads)
    at_own = next((one for one in found if one.recordsize == own), None)
    return Recordsizes(
        own_recordsize=own,
        cache_bytes=cache_bytes,
        references=len(reads),
        known=tuple(_recordsize(one, at_own or one, len(reads)) for one in found),
        unknown=tuple(Unknown(size, why) for size, why in unknown.items()),
    )


def _why_unknown(size: int, own: int | None, header: Header) -> str | None:
    if own is None:
        return "no file in the trace has records that could be grouped"
    if size < own:
        return f"the trace has reads of {format_size(own)} records, and doesn't say which part of one was wanted"
    if size > own and sampling_ratio(header) != 1:
        return (
            f"the trace is a sample of {header.sampling} of the records, each chosen for itself: which neighbours were"
            " read isn't in it; record without sampling"
        )
    return None


def _recordsize(found: Regrouped, own: Regrouped, references: int) -> Recordsize:
    return Recordsize(
        recordsize=found.recordsize,
        distinct_records=found.distinct_records,
        distinct_bytes=found.distinct_bytes,
        disk_reads=found.misses,
        disk_read_bytes=found.missed_bytes,
        miss_ratio=found.misses / references,
        read_amplification=found.missed_bytes / found.wanted_bytes,
        first_read_hits=found.first_read_hits,
        neighbour_hits=found.neighbour_hits,
        useful_neighbour_ratio=_ratio(found.neighbour_hit_bytes, found.neighbour_bytes),
        disk_reads_ratio=_ratio(found.misses, own.misses),
        disk_read_bytes_ratio=_ratio(found.missed_bytes, own.missed_bytes),
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None

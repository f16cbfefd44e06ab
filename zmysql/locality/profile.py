"""The exact figures of a trace: counts, reuse distances and the miss-ratio curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.locality.memory import require
from zmysql.locality.sampling import real_bytes, sampled_bytes, sampling_ratio

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from fractions import Fraction

    from zmysql.locality._engine import Reads
    from zmysql.trace.format import Header


@dataclass(frozen=True, slots=True)
class FileReads:
    """Reads of one file; the path is None where the trace doesn't know it."""

    objset: int
    object: int
    path: str | None
    references: int
    distinct_blocks: int


@dataclass(frozen=True, slots=True)
class Profile:
    """The figures of a trace.

    Counts and `distinct_bytes` are of the records in the file; sizes of caches (`flat_bytes`, in `mrc`, `hits` and
    `reuse_distances`) are real ones also where the trace holds a sample of the blocks. `mrc` is (cache bytes, miss
    ratio) with sizes rising, `hits` those of an LRU cache of each size that was asked for, `files` are sorted by reads,
    most first. `reuse_distances` is (from_bytes, to_bytes, reads with a distance above the first and at most the
    second), `reuse_distances_blocks` the same in blocks; first reads have none. `reads_per_block` is (times, blocks
    that were read so often).
    """

    references: int
    distinct_blocks: int
    distinct_bytes: int
    blocks_read_once: int
    blocks_read_more_than_once: int
    blocks_read_more_than_twice: int
    classes: Mapping[str, int]
    span_ns: int
    out_of_order: int
    flat_bytes: int | None
    mrc: tuple[tuple[int, float], ...]
    hits: Mapping[int, int]
    files: tuple[FileReads, ...]
    reuse_distances: tuple[tuple[int, int, int], ...]
    reuse_distances_blocks: tuple[tuple[int, int, int], ...]
    reads_per_block: tuple[tuple[int, int], ...]

    @property
    def first_reads(self) -> int:
        """Reads that miss in any cache that starts empty: one for each distinct block."""
        return self.distinct_blocks


def profile(reads: Reads, header: Header, cache_bytes: Collection[int]) -> Profile:
    """Find the exact figures of a trace, with the hits of an LRU cache of each of these sizes.

    Raises ZmysqlError, with the way out, where they take more memory than this machine has.
    """
    from zmysql.locality import _engine  # noqa: PLC0415 - a database host has none, and needs none to record

    require(_engine.profile_needs_bytes(reads), f"the exact figures of {len(reads):,} reads")
    found = _engine.profile(reads)
    kept = sampling_ratio(header)
    sizes = sorted(cache_bytes)
    return Profile(
        references=found.references,
        distinct_blocks=found.distinct_blocks,
        distinct_bytes=found.distinct_bytes,
        blocks_read_once=found.blocks_read_once,
        blocks_read_more_than_once=found.blocks_read_more_than_once,
        blocks_read_more_than_twice=found.blocks_read_more_than_twice,
        classes=dict(found.classes()),
        span_ns=found.span_ns,
        out_of_order=found.out_of_order,
        flat_bytes=None if found.flat_bytes is None else real_bytes(header, found.flat_bytes),
        mrc=tuple((real_bytes(header, size), miss_ratio) for size, miss_ratio in found.mrc()),
        hits=dict(zip(sizes, found.hits([sampled_bytes(header, size) for size in sizes]), strict=True)),
        files=files_of(found.objects(), header),
        reuse_distances=_scaled(found.reuse_distances(), kept),
        reuse_distances_blocks=_scaled(found.reuse_distances(blocks=True), kept),
        reads_per_block=tuple(found.reads_per_block()),
    )


def _scaled(ranges: Iterable[tuple[int, int, int]], kept: Fraction) -> tuple[tuple[int, int, int], ...]:
    """Give ranges of distances as those of the whole trace."""
    return tuple((round(begin / kept), round(end / kept), reads) for begin, end, reads in ranges)


def files_of(objects: Iterable[tuple[int, int, int, int, int]], header: Header) -> tuple[FileReads, ...]:
    """Join the levels of each object: (objset, object, level, reads, distinct blocks). The most read come first."""
    reads: dict[tuple[int, int], tuple[int, int]] = {}
    for objset, number, _level, references, blocks in objects:
        before = reads.get((objset, number), (0, 0))
        reads[objset, number] = (before[0] + references, before[1] + blocks)
    files = [FileReads(*address, header.objects.get(address), *counts) for address, counts in reads.items()]
    return tuple(sorted(files, key=lambda file: (-file.references, file.objset, file.object)))

"""The typed face of the engine: a trace file in, its figures out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from zmysql.trace.format import Header

_LARGEST = (1 << 64) - 1  # the engine's sizes have 64 bits; no cache is larger


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

    Counts and `distinct_bytes` are of the records in the file; sizes of caches (`flat_bytes`, in `mrc` and `hits`) are
    real ones also where the trace holds a sample of the blocks. `mrc` is (cache bytes, miss ratio) with sizes rising,
    `hits` those of an LRU cache of each size that was asked for, `files` are sorted by reads, most first.
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

    @property
    def first_reads(self) -> int:
        """Reads that miss in any cache that starts empty: one for each distinct block."""
        return self.distinct_blocks


def profile(path: Path, header: Header, cache_bytes: Collection[int]) -> Profile:
    """Read a trace, and count the hits of an LRU cache of each of these sizes.

    Raises ZmysqlError, with the file and the way out, where the trace can't be read or the engine isn't built.
    """
    try:
        from zmysql.locality import _engine  # noqa: PLC0415 - a database host has none, and needs none to record
    except ImportError:
        raise ZmysqlError(
            f"the engine isn't built here, as there was no Rust when zmysql was installed: copy {path} to a machine"
            " where it is, and run `zmysql locality report` there"
        ) from None
    try:
        found = _engine.profile(path, complete=header.complete, records=header.records)
    except _engine.TraceUnreadable as error:
        raise ZmysqlError(f"{path} {error}") from None
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
        flat_bytes=None if found.flat_bytes is None else round(found.flat_bytes / kept),
        # A sample of the blocks sees a cache that is smaller by the same ratio (SHARDS, FAST '15).
        mrc=tuple((round(size / kept), miss_ratio) for size, miss_ratio in found.mrc()),
        hits=dict(zip(sizes, found.hits([min(int(size * kept), _LARGEST) for size in sizes]), strict=True)),
        files=_files(found.objects(), header),
    )


def sampling_ratio(header: Header) -> Fraction:
    """Give the share of the blocks that the trace holds: above 0, and 1 for all."""
    return Fraction(header.sampling)


def _files(objects: Iterable[tuple[int, int, int, int, int]], header: Header) -> tuple[FileReads, ...]:
    """Join the levels of each object."""
    reads: dict[tuple[int, int], tuple[int, int]] = {}
    for objset, number, _level, references, blocks in objects:
        before = reads.get((objset, number), (0, 0))
        reads[objset, number] = (before[0] + references, before[1] + blocks)
    files = [FileReads(*address, header.objects.get(address), *counts) for address, counts in reads.items()]
    return tuple(sorted(files, key=lambda file: (-file.references, file.objset, file.object)))

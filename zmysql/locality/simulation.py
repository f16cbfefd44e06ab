"""Replays a trace through OpenZFS's caches as they would be on another machine.

The rules are OpenZFS 2.3's (engine/src/sim). A trace holds reads alone, so that writes, other processes' reads, memory
pressure and the time that I/O takes aren't simulated. Caches start empty.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zmysql.errors import UsageError
from zmysql.locality.parameters import Parameters
from zmysql.locality.sampling import sampling_ratio
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from zmysql.locality._engine import Reads
    from zmysql.trace.format import Header

LARGEST_BYTES = 1 << 62
_SMALLEST_RECORD, _LARGEST_RECORD = 512, 16 << 20
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """A machine to simulate; sizes are real ones also where the trace or the simulation holds a sample.

    `recordsize` is None for the blocks as they were read; files with larger blocks keep theirs. `l2arc_bytes` is 0 for
    none. `buffer_pool_bytes` is memory that InnoDB's buffer pool has in addition: the trace holds what the pool of its
    time missed, so that the rest of a larger pool is an LRU cache in front.
    """

    recordsize: int | None
    arc_bytes: int
    l2arc_bytes: int = 0
    buffer_pool_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Replay:
    """How the trace is replayed.

    Reads in the first `skip_ns` warm the caches and aren't counted. With several `passes` the trace is replayed so
    often, and the last one counts; with `restarts` the machine restarts in between, which loses the ARC and, where
    l2arc_rebuild_enabled is set, not the L2ARC. `sample` is the share of the records to simulate, chosen by a hash, in
    caches that are smaller by as much: a hundredth (0.01) is about a hundred times as fast, and has no prefetch.
    """

    skip_ns: int = 0
    passes: int = 1
    restarts: bool = False
    sample: float = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case: references = buffer_pool_hits + arc_hits + l2arc_hits + misses, and holes beside.

    Counts are of reads of records, by where the record was; like arcstats' demand_data counters, `arc_hits` has the
    `dbuf_hits` in it. `metadata_…` are reads of indirect blocks, `prefetches` blocks brought in ahead. `disk_reads`
    and `disk_read_bytes` are of the pool's other devices, metadata and prefetch included, in compressed bytes.
    `l2arc_written_bytes` went to the L2ARC, which holds `l2arc_held_bytes` in the end; `l2arc_header_bytes` is the
    ARC's memory for blocks that only the L2ARC has then (arcstats' l2_hdr_size).

    `warmup_seconds` is the trace's time until the L2ARC was written to its end, or held 95 % of what it held in the
    end; None where there is none, or that took more than 80 % of the trace: then it was still warming up.

    `object_misses` are the misses by (objset, object, level). As it doesn't matter to the caches where a block lies,
    they are also the reads that a special vdev would serve which held these objects.

    Of a trace that holds a sample of the blocks, counts are the sample's, and bytes are estimates of the real ones.
    With `Replay.sample` all are estimates for the whole trace.
    """

    recordsize: int | None
    arc_bytes: int
    l2arc_bytes: int
    references: int
    arc_hits: int
    l2arc_hits: int
    misses: int
    disk_read_bytes: int
    l2arc_written_bytes: int
    l2arc_header_bytes: int
    warmup_seconds: float | None
    buffer_pool_bytes: int = 0
    buffer_pool_hits: int = 0
    dbuf_hits: int = 0
    holes: int = 0
    metadata_hits: int = 0
    metadata_l2arc_hits: int = 0
    metadata_misses: int = 0
    prefetches: int = 0
    disk_reads: int = 0
    l2arc_read_bytes: int = 0
    l2arc_held_bytes: int = 0
    arc_size_bytes: int = 0
    object_misses: dict[tuple[int, int, int], int] = field(default_factory=dict, repr=False)

    @property
    def arc_hit_ratio(self) -> float:
        """ARC hits in the reads that reach ZFS; 0 where none does."""
        reads = self.references - self.buffer_pool_hits
        return self.arc_hits / reads if reads else 0.0

    @property
    def l2arc_hit_ratio(self) -> float:
        """L2ARC hits in the reads that miss the ARC; 0 where none does."""
        missed = self.l2arc_hits + self.misses
        return self.l2arc_hits / missed if missed else 0.0


def simulate(
    reads: Reads,
    header: Header,
    cases: Sequence[Case],
    parameters: Parameters | None = None,
    *,
    replay: Replay | None = None,
    threads: int | None = None,
) -> tuple[Outcome, ...]:
    """Simulate each case, on all cores if `threads` is None, and give the outcomes in the same order.

    Raises UsageError for a case that can't be.
    """
    from zmysql.locality import _engine  # noqa: PLC0415 - a database host has none

    parameters, replay = parameters or Parameters(), replay or Replay()
    kept = sampling_ratio(header)
    smallest = _engine.smallest_recordsize(reads) or 0
    for case in cases:
        check(case)
        if case.recordsize is not None and kept != 1:
            raise UsageError("of a sample of the blocks no other recordsize can be simulated: record all of them")
        if case.recordsize is not None and case.recordsize < smallest:
            raise UsageError(
                f"a recordsize of {format_size(case.recordsize)} can't be simulated, as the records were read in blocks"
                f" of {format_size(smallest)}: record on a dataset with smaller ones, or say at least that"
            )
    found = _engine.simulate(
        reads,
        [(case.recordsize, case.arc_bytes, case.l2arc_bytes, case.buffer_pool_bytes) for case in cases],
        parameters,
        replay,
        kept=float(kept),
        threads=threads or os.cpu_count() or 1,
    )
    objects = reads.objects()
    return tuple(_outcome(case, counts, objects, kept) for case, counts in zip(cases, found, strict=True))


def check(case: Case) -> None:
    """Raise UsageError for sizes that no machine has."""
    sizes = {"an ARC": case.arc_bytes, "an L2ARC": case.l2arc_bytes, "a buffer pool": case.buffer_pool_bytes}
    for name, size in sizes.items():
        if not 0 <= size <= LARGEST_BYTES:
            raise UsageError(f"{name} of {size} bytes can't be simulated: sizes go up to {format_size(LARGEST_BYTES)}")
    if case.arc_bytes == 0:
        raise UsageError("an ARC of 0 bytes can't be simulated: say a size such as 4G")
    record = case.recordsize
    if record is not None and (not _SMALLEST_RECORD <= record <= _LARGEST_RECORD or record & (record - 1)):
        raise UsageError(f"a recordsize of {record} bytes can't be: it is a power of two from 512 to 16M")


def _outcome(case: Case, counts: dict[str, Any], objects: Sequence[tuple[int, int, int]], kept: Fraction) -> Outcome:
    warmup_ns, misses = counts.pop("warmup_ns"), counts.pop("object_misses")
    bytes_ = {name: round(counts.pop(name) / kept) for name in tuple(counts) if name.endswith("_bytes")}
    return Outcome(
        recordsize=case.recordsize,
        arc_bytes=case.arc_bytes,
        l2arc_bytes=case.l2arc_bytes,
        buffer_pool_bytes=case.buffer_pool_bytes,
        warmup_seconds=None if warmup_ns is None else warmup_ns / _SECOND_NS,
        object_misses={one: count for one, count in zip(objects, misses, strict=True) if count},
        **counts,
        **bytes_,
    )

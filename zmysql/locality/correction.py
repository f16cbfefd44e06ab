"""What is counted in a share of a trace's blocks, corrected by what was counted of the whole. Pure.

A share's reads are rarely its part of all reads, since a few hot blocks are in it or aren't; without a correction every
ratio would be off by that. It is SHARDS-adj (FAST '15): the reads are as many as they should be, the misses stay what
they are, and the difference goes to the hits, of the smallest caches on. Where misses and first reads alone are more
than the reads should be, there are no hits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from zmysql.locality.names import data_directories
from zmysql.locality.objects import unseen
from zmysql.trace.format import NO_READS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zmysql.locality.objects import ObjectReads, Objects
    from zmysql.locality.profile import FileReads, Profile
    from zmysql.locality.share import Share
    from zmysql.locality.simulation import Outcome
    from zmysql.locality.spatial import Recordsize, Recordsizes
    from zmysql.locality.windows import WorkingSet
    from zmysql.trace.format import Header

Curve = tuple[tuple[int, float], ...]
Ranges = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """What the engine found in the reads that it was given; `warm` are outcomes of a second replay."""

    profile: Profile
    objects: Objects
    recordsizes: Recordsizes
    working_set: WorkingSet
    outcomes: tuple[Outcome, ...]
    warm: tuple[Outcome, ...]


def corrected(found: Counted, share: Share, header: Header) -> Counted:
    """Correct the figures of a share of the blocks; the header has the paths of files that the share misses."""
    whole, before = share.whole, found.profile.references
    references = max(round(whole.references / share.one_in), found.profile.distinct_blocks)
    files = _files(found.profile, whole.files, references / whole.references)
    profile = _profile(found.profile, whole, files, references)
    holes = profile.classes["hole"]
    return Counted(
        profile=profile,
        objects=_objects(found.objects, files, references, header),
        recordsizes=_recordsizes(found.recordsizes, references, before),
        working_set=_working_set(found.working_set, references, profile.first_reads),
        outcomes=tuple(_outcome(one, references - holes, holes) for one in found.outcomes),
        warm=tuple(_outcome(one, references - holes, holes) for one in found.warm),
    )


def apportioned(counts: Sequence[int], whole: int) -> list[int]:
    """Scale counts so that together they are `whole`, each rounded up or down; all 0 stay 0."""
    ends = [0, *accumulate(counts)]
    return [end * whole // ends[-1] - begin * whole // ends[-1] if ends[-1] else 0 for begin, end in pairwise(ends)]


def shifted(ranges: Ranges, more: int) -> Ranges:
    """Add reads to those with the shortest distances; or, with less than 0, take reads away from there on."""
    found = []
    for begin, end, reads in ranges:
        found.append((begin, end, max(reads + more, 0)))
        more = min(reads + more, 0)
    return tuple(one for one in found if one[2])


def _profile(found: Profile, whole: Profile, files: tuple[FileReads, ...], references: int) -> Profile:
    more = references - found.references
    reads = {name: count for name, count in whole.classes.items() if name not in NO_READS}
    served = dict(zip(reads, apportioned(tuple(reads.values()), references), strict=True))
    others = {
        name: round(count * references / whole.references) for name, count in whole.classes.items() if name in NO_READS
    }
    return replace(
        found,
        references=references,
        classes=served | others,
        span_ns=whole.span_ns,
        out_of_order=round(whole.out_of_order * references / whole.references),
        mrc=_curve(found.mrc, found.references, references),
        hits={size: max(hits + more, 0) for size, hits in found.hits.items()},
        files=files,
        reuse_distances=shifted(found.reuse_distances, more),
        reuse_distances_blocks=shifted(found.reuse_distances_blocks, more),
    )


def _curve(points: Curve, before: int, references: int) -> Curve:
    """Give miss ratios for the same misses in other reads; no cache at all still misses every read."""
    return (*points[:1], *((size, min(round(ratio * before) / references, 1.0)) for size, ratio in points[1:]))


def _files(found: Profile, whole: Iterable[FileReads], kept: float) -> tuple[FileReads, ...]:
    """Give each file its part of the whole trace's reads, also where none of its blocks is in the share."""
    blocks = {(file.objset, file.object): file.distinct_blocks for file in found.files}
    files = []
    for file in whole:
        distinct = blocks.get((file.objset, file.object), 0)
        files.append(replace(file, references=max(round(file.references * kept), distinct), distinct_blocks=distinct))
    return tuple(sorted((file for file in files if file.references), key=lambda file: -file.references))


def _objects(found: Objects, files: Iterable[FileReads], references: int, header: Header) -> Objects:
    counted = {(one.objset, one.object): one for one in found.objects}
    directories = data_directories(header.objects.values())
    objects = tuple(
        _object(counted.get((file.objset, file.object)), file.references)
        or replace(unseen(file.objset, file.object, file.path, directories), references=file.references)
        for file in files
    )
    return replace(found, references=references, misses=sum(one.misses for one in objects), objects=objects)


def _object(found: ObjectReads | None, references: int) -> ObjectReads | None:
    if found is None:
        return None
    mrc = _curve(found.mrc, found.references, references)
    return replace(found, references=references, misses=min(found.misses, references), mrc=mrc)


def _recordsizes(found: Recordsizes, references: int, before: int) -> Recordsizes:
    known = tuple(_recordsize(one, references, before) for one in found.known)
    return replace(found, references=references, known=known)


def _recordsize(found: Recordsize, references: int, before: int) -> Recordsize:
    disk_reads = min(found.disk_reads, references)
    return replace(
        found,
        disk_reads=disk_reads,
        miss_ratio=disk_reads / references,
        read_amplification=found.read_amplification * (before / references),
    )


def _working_set(found: WorkingSet, references: int, first_reads: int) -> WorkingSet:
    """Take the reads that are missing, or too many, to lie in time as the share's others do."""
    windows = apportioned([one.references for one in found.windows], references)
    again = apportioned([reads for *_, reads in found.inter_reference], references - first_reads)
    return replace(
        found,
        windows=tuple(replace(one, references=reads) for one, reads in zip(found.windows, windows, strict=True)),
        inter_reference=tuple(
            (start, end, reads) for (start, end, _), reads in zip(found.inter_reference, again, strict=True)
        ),
    )


def _outcome(found: Outcome, references: int, holes: int) -> Outcome:
    if not found.references:
        return found
    misses = min(found.misses, references)
    l2arc_hits = min(found.l2arc_hits, references - misses)
    pool_hits = min(found.buffer_pool_hits, references - misses - l2arc_hits)
    arc_hits = references - misses - l2arc_hits - pool_hits
    return replace(
        found,
        references=references,
        misses=misses,
        l2arc_hits=l2arc_hits,
        buffer_pool_hits=pool_hits,
        arc_hits=arc_hits,
        dbuf_hits=min(found.dbuf_hits, arc_hits),
        holes=holes,
    )

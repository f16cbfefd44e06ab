"""Puts header, figures and caches together to what the locality report says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import UsageError
from zmysql.locality.latency import hit_ratio_for
from zmysql.locality.profile import sampling_ratio
from zmysql.locality.verdict import PAYS, Evidence, Verdict, judge
from zmysql.units import format_size

if TYPE_CHECKING:
    from pathlib import Path

    from zmysql.locality.latency import LatencyRatio
    from zmysql.locality.profile import Profile
    from zmysql.trace.format import Header

ASSUMED_ARC_BYTES = 4 << 30
ASSUMED_L2ARC_PER_ARC = 8  # an L2ARC of 16K records then takes 5 % of the ARC for its headers
# A disk of 10,000 to 15,000 rpm: a seek of 4 ms and half a turn. A SATA SSD's 16K read through ZFS.
ASSUMED_DISK_LATENCY_NS = 7_000_000
ASSUMED_SSD_LATENCY_NS = 200_000
L2ARC_HEADER_BYTES = 96  # sizeof (arc_buf_hdr_t) without its L1 part, OpenZFS 2.3

_MANY_DROPS = 0.05  # of the records; beyond, nothing can be said
_MUCH_DISORDER = 0.01  # of the records; a few neighbours in the wrong order change no distance that matters
_MANY_FIRST_READS = 0.2  # of the reads
_MUCH_HEADER_MEMORY = 0.1  # of the ARC


@dataclass(frozen=True, slots=True)
class Caches:
    """The sizes to judge for, and which of them nobody named: "ARC" and "L2ARC" or neither."""

    arc_bytes: int
    l2arc_bytes: int
    assumed: tuple[str, ...]

    @property
    def both_bytes(self) -> int:
        """ARC and L2ARC as one cache."""
        return self.arc_bytes + self.l2arc_bytes

    def sizes(self) -> set[int]:
        """Give the sizes at which the verdict wants the hits."""
        return {self.arc_bytes, self.both_bytes, 2 * self.arc_bytes}


@dataclass(frozen=True, slots=True)
class Assessment:
    """A trace, its figures, and what they mean for these caches.

    `pays_from_bytes` is an L2ARC that brings the
    speed-up from which it pays, None where no size does. `warnings` are sentences on what the figures can't tell.
    """

    path: Path
    header: Header
    profile: Profile
    caches: Caches
    evidence: Evidence
    verdict: Verdict
    ratio: LatencyRatio
    pays_from_bytes: int | None
    warnings: tuple[str, ...]

    @property
    def l2arc_hit_ratio_seen(self) -> float | None:
        """Hits of the L2ARC in the reads that missed the ARC while recording; None where there was nothing to see."""
        hits, misses = self.profile.classes["l2hit"], self.profile.classes["miss"]
        return hits / (hits + misses) if self.header.l2arc_bytes and hits + misses else None


def choose_caches(header: Header, arc_bytes: int | None, l2arc_bytes: int | None) -> Caches:
    """Take the sizes that were asked for, else those of the machine that was recorded, else assume some.

    Raises UsageError for a size of 0.
    """
    if 0 in (arc_bytes, l2arc_bytes):
        raise UsageError("an ARC or L2ARC of 0 bytes can't be judged: say a size such as 4G")
    arc = arc_bytes or header.arc_bytes
    l2arc = l2arc_bytes or header.l2arc_bytes
    assumed = tuple(name for name, size in (("ARC", arc), ("L2ARC", l2arc)) if not size)
    arc = arc or ASSUMED_ARC_BYTES
    return Caches(arc, l2arc or ASSUMED_L2ARC_PER_ARC * arc, assumed)


def assess(path: Path, header: Header, profile: Profile, caches: Caches, ratio: LatencyRatio) -> Assessment:
    """Judge what an L2ARC would bring; `profile` must hold the hits at `caches.sizes()`."""
    evidence = Evidence(
        references=profile.references,
        first_reads=profile.first_reads,
        arc_bytes=caches.arc_bytes,
        l2arc_bytes=caches.l2arc_bytes,
        arc_hits=profile.hits[caches.arc_bytes],
        both_hits=profile.hits[caches.both_bytes],
        double_arc_hits=profile.hits[2 * caches.arc_bytes],
        header_bytes=_header_bytes(header, profile, caches.l2arc_bytes),
        latency_ratio=ratio.value,
        arc_misses_seen=_arc_misses_seen(header, profile, caches),
        l2arc_hits_seen=profile.classes["l2hit"] if caches.l2arc_bytes == header.l2arc_bytes else None,
    )
    return Assessment(
        path=path,
        header=header,
        profile=profile,
        caches=caches,
        evidence=evidence,
        verdict=judge(evidence),
        ratio=ratio,
        pays_from_bytes=_pays_from(profile, evidence),
        warnings=(*_of_recording(header, profile), *_of_judgement(caches, evidence)),
    )


def _arc_misses_seen(header: Header, profile: Profile, caches: Caches) -> int | None:
    """Give the reads that the recorded ARC missed, if the verdict is for that ARC. What waited may be from a disk."""
    counts = profile.classes
    if header.imported is not None or caches.arc_bytes != header.arc_bytes or counts["-"]:
        return None
    return counts["miss"] + counts["l2hit"] + counts["wait"]


def _header_bytes(header: Header, profile: Profile, l2arc_bytes: int) -> int:
    """Give the ARC memory that headers take once the L2ARC is full, or holds all that was read."""
    record_bytes = profile.distinct_bytes / profile.distinct_blocks
    held_bytes = min(float(l2arc_bytes), float(profile.distinct_bytes / sampling_ratio(header)))
    return round(held_bytes / record_bytes * L2ARC_HEADER_BYTES)


def _pays_from(profile: Profile, evidence: Evidence) -> int | None:
    """Give the smallest L2ARC among the curve's points with which the speed-up pays."""
    missed = (evidence.arc_misses / profile.references) * (1 - hit_ratio_for(evidence.latency_ratio, PAYS))
    sizes = (size - evidence.arc_bytes for size, miss_ratio in profile.mrc if miss_ratio <= missed)
    return next((size for size in sizes if size > 0), None)


def _of_recording(header: Header, profile: Profile) -> list[str]:
    found = []
    if not header.complete:
        found.append(f"The recording was cut off: {profile.references} records were kept, and drops are unknown.")
    elif header.drops is None and header.imported is None:
        found.append("The trace doesn't say how many records were dropped.")
    if header.drops:
        share = header.drops / (header.drops + profile.references)
        trust = "don't trust the figures" if share > _MANY_DROPS else "all counts are low by about as much"
        found.append(f"{header.drops} records ({100 * share:.2f} %) were dropped while recording: {trust}.")
    if sampling_ratio(header) != 1:
        found.append(
            f"The trace holds a sample of {header.sampling} of the blocks: counts and bytes are the sample's, sizes of"
            " caches are scaled, and ratios are estimates."
        )
    if profile.out_of_order > _MUCH_DISORDER * profile.references:
        found.append(f"{profile.out_of_order} records are out of the order of their times, and counted as they stand.")
    return found


def _of_judgement(caches: Caches, evidence: Evidence) -> list[str]:
    found = []
    if caches.assumed:
        sizes = {"ARC": caches.arc_bytes, "L2ARC": caches.l2arc_bytes}
        words = " and ".join(f"an {name} of {format_size(sizes[name])}" for name in caches.assumed)
        options = " and ".join(f"--{name.lower()} SIZE" for name in caches.assumed)
        found.append(f"The trace names no such size, so {words} is assumed: say {options}.")
    if evidence.first_read_ratio > _MANY_FIRST_READS:
        found.append(
            f"First reads are {100 * evidence.first_read_ratio:.1f} % of the references, and miss in any cache that"
            " starts empty: record longer to learn more."
        )
    if evidence.header_bytes > _MUCH_HEADER_MEMORY * evidence.arc_bytes:
        headers, arc = format_size(evidence.header_bytes), format_size(evidence.arc_bytes)
        found.append(
            f"Headers of the L2ARC's records ({L2ARC_HEADER_BYTES} B each) would take {headers} of the ARC's {arc}; the"
            " hit ratios don't count that in."
        )
    found.append(
        "Records are judged at the size they were read with: what larger ones would bring along (Suresh 2009 gained"
        " by 128K) isn't judged, nor are writes, prefetch and the time an L2ARC takes to fill."
    )
    return found

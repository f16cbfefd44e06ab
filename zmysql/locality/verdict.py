"""The verdict: what the figures of a trace say about L2ARC. Pure, and only as sure as the trace is long."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from zmysql.locality.latency import hit_ratio_for, speedup
from zmysql.units import format_size

PAYS = 1.25  # a speed-up below this isn't worth a device: it drowns in the differences between two days
FEW_ARC_MISSES = 0.01  # of all reads, seen while recording
FEW_REREADS_MISSED = 0.01  # of all reads
FEW_FIRST_READS = 0.2  # of all reads: a block is read five times on average
RAM_DOES_AS_WELL = 0.8  # of the hits that L2ARC would add
HEADERS_CROWD_OUT = 0.5  # of the ARC


class Choice(StrEnum):
    """What to do."""

    L2ARC = "l2arc"
    MORE_RAM = "more-ram"
    LEAVE_IT = "leave-it"
    RECORD_LONGER = "record-longer"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the verdict rests on.

    Hits are those of an LRU cache of that size which starts empty: the ARC, ARC and L2ARC as one, and an ARC of twice
    the size. `latency_ratio` is r of zmysql.locality.latency, above 1. `header_bytes` is the ARC's memory that a full
    L2ARC's headers take. `arc_misses_seen` is how many reads the ARC that was there missed while recording; None where
    the trace doesn't say, or that ARC had another size; `l2arc_hits_seen` is how many of those its L2ARC served.
    First reads miss in each of these caches; in a long-running one some of them would hit.
    """

    references: int
    first_reads: int
    arc_bytes: int
    l2arc_bytes: int
    arc_hits: int
    both_hits: int
    double_arc_hits: int
    header_bytes: int
    latency_ratio: float
    arc_misses_seen: int | None = None
    l2arc_hits_seen: int | None = None

    @property
    def arc_misses(self) -> int:
        """Reads that miss the ARC; at least the first of all reads does."""
        return self.references - self.arc_hits

    @property
    def arc_hit_ratio(self) -> float:
        """Hits of the ARC in all reads."""
        return self.arc_hits / self.references

    @property
    def both_hit_ratio(self) -> float:
        """Hits of ARC and L2ARC in all reads."""
        return self.both_hits / self.references

    @property
    def l2arc_hit_ratio(self) -> float:
        """h: hits of the L2ARC in the reads that miss the ARC, if first reads go on missing."""
        return (self.both_hits - self.arc_hits) / self.arc_misses

    @property
    def l2arc_hit_ratio_at_most(self) -> float:
        """Give h if each first read had been in the L2ARC from before."""
        return (self.both_hits - self.arc_hits + self.first_reads) / self.arc_misses

    @property
    def speedup(self) -> float:
        """x: how many times faster L2ARC makes the reads that miss the ARC."""
        return speedup(self.latency_ratio, self.l2arc_hit_ratio)

    @property
    def speedup_at_most(self) -> float:
        """Give x if each first read had been in the L2ARC from before."""
        return speedup(self.latency_ratio, self.l2arc_hit_ratio_at_most)

    @property
    def speedup_seen(self) -> float:
        """Give x for the hits that the L2ARC that was there had; 1 where none was."""
        if not self.arc_misses_seen or not self.l2arc_hits_seen:
            return 1.0
        return speedup(self.latency_ratio, self.l2arc_hits_seen / self.arc_misses_seen)

    @property
    def first_read_ratio(self) -> float:
        """First reads in all reads."""
        return self.first_reads / self.references


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do, and why: sentences with figures."""

    choice: Choice
    reasons: tuple[str, ...]


def judge(evidence: Evidence) -> Verdict:
    """Choose what the evidence supports, whatever the first reads would turn out to be in a longer recording."""
    arc, l2arc = format_size(evidence.arc_bytes), format_size(evidence.l2arc_bytes)
    seen = evidence.arc_misses_seen
    if seen is not None and seen <= FEW_ARC_MISSES * evidence.references:
        missed = f"While this was recorded, the ARC of {arc} missed {seen:,} of {evidence.references:,} reads."
        return Verdict(Choice.LEAVE_IT, (missed, "What the ARC holds, no L2ARC can serve faster."))
    if evidence.speedup_seen >= PAYS:
        return Verdict(Choice.L2ARC, _seen_to_pay(evidence))
    served = f"An ARC of {arc} serves {_percent(evidence.arc_hit_ratio)} of the reads."
    rereads_missed = (evidence.arc_misses - evidence.first_reads) / evidence.references
    if rereads_missed <= FEW_REREADS_MISSED and evidence.first_read_ratio <= FEW_FIRST_READS:
        missed = f"Only {_percent(rereads_missed)} of the reads were of records that it had held before and lost."
        return Verdict(Choice.LEAVE_IT, (served, missed))
    adds = (
        f"An L2ARC of {l2arc} serves {_percent(evidence.l2arc_hit_ratio)} of the reads that miss it; with disks"
        f" {evidence.latency_ratio:.3g} times slower than the SSD that makes these reads {evidence.speedup:.2f} times"
        " as fast."
    )
    reasons = (served, adds)
    if evidence.speedup_at_most < PAYS:
        most = f"Even if L2ARC had served each first read, it would be {evidence.speedup_at_most:.2f} times."
        return Verdict(Choice.LEAVE_IT, (*reasons, most, _needed(evidence)))
    if evidence.speedup < PAYS:
        unknown = (
            f"{_percent(evidence.first_read_ratio)} of the reads are first reads, which tell nothing of a cache that"
            f" has run for days: had L2ARC served them all, it would be {evidence.speedup_at_most:.2f} times."
        )
        return Verdict(Choice.RECORD_LONGER, (*reasons, unknown, _needed(evidence)))
    return _l2arc_or_ram(evidence, reasons)


def _seen_to_pay(evidence: Evidence) -> tuple[str, ...]:
    """Say what the L2ARC that was there did: that is worth more than what a model says of it."""
    hits, misses = evidence.l2arc_hits_seen or 0, evidence.arc_misses_seen or 1
    arc, l2arc = format_size(evidence.arc_bytes), format_size(evidence.l2arc_bytes)
    missed = f"While this was recorded, the ARC of {arc} missed {misses:,} of {evidence.references:,} reads."
    served = f"The L2ARC of {l2arc} that is there served {hits:,} of these, {_percent(hits / misses)}."
    slower = f"With disks {evidence.latency_ratio:.3g} times slower than the SSD"
    faster = f"{slower} they are {evidence.speedup_seen:.2f} times as fast as they would be without it."
    return missed, served, faster, _headers(evidence)


def _l2arc_or_ram(evidence: Evidence, reasons: tuple[str, ...]) -> Verdict:
    headers = _headers(evidence)
    if evidence.header_bytes >= HEADERS_CROWD_OUT * evidence.arc_bytes:
        return Verdict(Choice.MORE_RAM, (*reasons, f"{headers} That leaves too little: add memory first."))
    share = (evidence.double_arc_hits - evidence.arc_hits) / (evidence.both_hits - evidence.arc_hits)
    double = f"Twice the ARC would bring {_percent(share)} of these hits"
    if share >= RAM_DOES_AS_WELL:
        return Verdict(Choice.MORE_RAM, (*reasons, f"{double}, from memory."))
    return Verdict(Choice.L2ARC, (*reasons, f"{double} only.", headers))


def _headers(evidence: Evidence) -> str:
    return f"The headers of its records take {format_size(evidence.header_bytes)} of the ARC's memory."


def _needed(evidence: Evidence) -> str:
    """Say what would change the verdict."""
    needed = hit_ratio_for(evidence.latency_ratio, PAYS)
    if needed > 1:
        return f"With devices so alike no hit ratio makes it {PAYS} times, from where on L2ARC pays."
    return f"It pays from {PAYS} times on, for which it must serve {_percent(needed)} of the reads that miss the ARC."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"

"""The verdict: what to do, and why. Pure, and only as sure as the trace is long.

judge() answers the narrow question, whether an L2ARC of one size pays, and whether memory would do as well; decide()
then takes the best buy among all candidates, unless the narrow answer settles it: an ARC that was seen to be enough, an
L2ARC that was seen to pay, or a trace that can't tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.locality.buying import HEADERS_CROWD_OUT, Buy, best_buy, records_alone
from zmysql.locality.latency import PAYS, hit_ratio_for, speedup
from zmysql.locality.options import Choice
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.locality.candidates import Candidate, Goal
    from zmysql.locality.options import Wishes

FEW_ARC_MISSES = 0.01  # of all reads, seen while recording
FEW_REREADS_MISSED = 0.01  # of all reads
FEW_FIRST_READS = 0.2  # of all reads: a block is read five times on average
RAM_DOES_AS_WELL = 0.8  # of the hits that L2ARC would add


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the verdict rests on.

    Hits are those of an LRU cache of that size which starts empty: the ARC, ARC and L2ARC as one, and an ARC of twice
    the size. `latency_ratio` is r of zmysql.locality.latency, above 1. `header_bytes` is the ARC's memory that a full
    L2ARC's headers take. `arc_misses_seen` is how many reads the ARC that was there missed while recording; None where
    the trace doesn't say, or that ARC had another size; `l2arc_hits_seen` is how many of those its L2ARC served.
    First reads miss in each of these caches; in a long-running one some of them would hit. `warm_hit_ratio` is that of
    the L2ARC, in the reads that miss the ARC, with caches that hold what the same reads left in them; None where nobody
    looked.
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
    warm_hit_ratio: float | None = None

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
        """Give h in warm caches; where nobody looked, if each first read had been in the L2ARC from before."""
        if self.warm_hit_ratio is not None:
            return max(self.l2arc_hit_ratio, self.warm_hit_ratio)
        return min((self.both_hits - self.arc_hits + self.first_reads) / self.arc_misses, 1.0)

    @property
    def speedup(self) -> float:
        """x: how many times faster L2ARC makes the reads that miss the ARC."""
        return speedup(self.latency_ratio, self.l2arc_hit_ratio)

    @property
    def speedup_at_most(self) -> float:
        """Give x in warm caches, at the best."""
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
    """What to do, and why: sentences with figures.

    `seen` is a verdict that rests on what happened while recording, not on a model; `settled` is one that no other
    candidate can change. `candidate` is the chosen one, None where all is left as it is; `buy` has the next best
    too, None where nothing is to be bought.
    """

    choice: Choice
    reasons: tuple[str, ...]
    settled: bool = False
    seen: bool = False
    candidate: Candidate | None = None
    buy: Buy | None = None


def judge(evidence: Evidence) -> Verdict:
    """Choose what the evidence supports, whatever the first reads would turn out to be in a longer recording."""
    arc, l2arc = format_size(evidence.arc_bytes), format_size(evidence.l2arc_bytes)
    seen = evidence.arc_misses_seen
    if seen is not None and seen <= FEW_ARC_MISSES * evidence.references:
        missed = f"While this was recorded, the ARC of {arc} missed {seen:,} of {evidence.references:,} reads."
        return Verdict(
            Choice.LEAVE_IT, (missed, "What the ARC holds, no L2ARC can serve faster."), settled=True, seen=True
        )
    if evidence.speedup_seen >= PAYS:
        return Verdict(Choice.L2ARC, _seen_to_pay(evidence), settled=True, seen=True)
    served = f"An ARC of {arc} serves {_percent(evidence.arc_hit_ratio)} of the reads."
    rereads_missed = (evidence.arc_misses - evidence.first_reads) / evidence.references
    if rereads_missed <= FEW_REREADS_MISSED and evidence.first_read_ratio <= FEW_FIRST_READS:
        missed = f"Only {_percent(rereads_missed)} of the reads were of records that it had held before and lost."
        return Verdict(Choice.LEAVE_IT, (served, missed), settled=True)
    adds = (
        f"An L2ARC of {l2arc} serves {_percent(evidence.l2arc_hit_ratio)} of the reads that miss it; with disks"
        f" {evidence.latency_ratio:.3g} times slower than the SSD that makes these reads {evidence.speedup:.2f} times"
        " as fast."
    )
    reasons = (served, adds)
    if evidence.speedup_at_most < PAYS:
        warm = "In warm caches" if evidence.warm_hit_ratio is not None else "Even if L2ARC had served each first read,"
        most = f"{warm} it would be {evidence.speedup_at_most:.2f} times."
        return Verdict(Choice.LEAVE_IT, (*reasons, most, _needed(evidence)))
    if evidence.speedup < PAYS:
        known = "had L2ARC served them all" if evidence.warm_hit_ratio is None else "in caches warm with the same reads"
        unknown = (
            f"{_percent(evidence.first_read_ratio)} of the reads are first reads, which tell nothing of a cache that"
            f" has run for days: {known}, it would be {evidence.speedup_at_most:.2f} times."
        )
        return Verdict(Choice.RECORD_LONGER, (*reasons, unknown, _needed(evidence)))
    return _l2arc_or_ram(evidence, reasons)


def decide(evidence: Evidence, found: Sequence[Candidate], goal: Goal, wishes: Wishes) -> Verdict:
    """Choose among the candidates, of which the first leaves all as it is, and one is the L2ARC of the evidence."""
    verdict = _decided(evidence, found, goal, wishes)
    records = None if verdict.seen else records_alone(found, goal)
    if records is None:
        return verdict
    try_first = (
        f"Before anything is bought: {records.option.name} would make it {records.gain(found[0], goal):.2f} times as"
        " fast, for a rewrite of the files, and for what larger records cost the writes."
    )
    return replace(verdict, reasons=(*verdict.reasons, try_first))


def _decided(evidence: Evidence, found: Sequence[Candidate], goal: Goal, wishes: Wishes) -> Verdict:
    verdict = judge(evidence)
    base = found[0]
    if verdict.settled:
        return _with_candidate(verdict, evidence, found)
    buy = best_buy(found, goal, wishes)
    if buy is None:
        return _nothing_to_buy(verdict, base)
    chosen = buy.candidate
    is_cache = chosen.choice in {Choice.L2ARC, Choice.MORE_RAM}
    if verdict.choice is Choice.RECORD_LONGER and not is_cache:
        # Faster disks help whatever is read again, but so might a cache for less: that the trace can't tell.
        whatever = f"Whatever is read again, {chosen.option.name} makes it {buy.gain:.2f} times as fast."
        return Verdict(Choice.RECORD_LONGER, (*verdict.reasons, whatever))
    judged = verdict.choice is chosen.choice and chosen.case.l2arc_bytes == evidence.l2arc_bytes
    reasons = verdict.reasons if judged else verdict.reasons[:1]
    return Verdict(chosen.choice, (*reasons, *buy.sentences(base, goal)), candidate=chosen, buy=buy)


def _with_candidate(verdict: Verdict, evidence: Evidence, found: Sequence[Candidate]) -> Verdict:
    """Add which candidate a settled verdict means, and that a model whose caches start empty may say otherwise."""
    if verdict.choice is not Choice.L2ARC:
        return verdict
    alike = (one for one in found if one.choice is Choice.L2ARC and one.case.recordsize is None)
    its = next((one for one in alike if one.case.l2arc_bytes == evidence.l2arc_bytes), None)
    if its is None or evidence.speedup >= PAYS:
        return replace(verdict, candidate=its)
    cold = "The simulation, whose caches start empty, doesn't see that: what was seen is the stronger evidence."
    return replace(verdict, candidate=its, reasons=(*verdict.reasons, cold))


def _nothing_to_buy(verdict: Verdict, base: Candidate) -> Verdict:
    """Say why what the hit ratios promise isn't worth it: all that can be bought brings too little."""
    if verdict.choice in {Choice.LEAVE_IT, Choice.RECORD_LONGER}:
        return verdict
    little = f"Of all reads, with those that the ARC serves, nothing that can be bought makes it {PAYS} times as fast."
    mean = f"A read takes {base.mean_latency_ns / 1e6:.3g} ms on average as it is."
    return Verdict(Choice.LEAVE_IT, (verdict.reasons[0], little, mean))


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

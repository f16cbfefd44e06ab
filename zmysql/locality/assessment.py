"""Puts header, figures and what a person said together to what the locality report says. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.errors import UsageError
from zmysql.locality.analysis import header_bytes
from zmysql.locality.breakeven import break_evens
from zmysql.locality.candidates import candidates
from zmysql.locality.caveats import caveats
from zmysql.locality.confidence import Doubts, confidence
from zmysql.locality.formula import formula
from zmysql.locality.latency import PAYS, hit_ratio_for
from zmysql.locality.options import Choice
from zmysql.locality.sampling import sampling_ratio
from zmysql.locality.simulation import LARGEST_BYTES, Case
from zmysql.locality.verdict import Evidence, decide
from zmysql.units import format_size

if TYPE_CHECKING:
    from pathlib import Path

    from zmysql.locality.analysis import Analysis
    from zmysql.locality.breakeven import BreakEven
    from zmysql.locality.candidates import Candidate, Served
    from zmysql.locality.confidence import Confidence
    from zmysql.locality.formula import Formula
    from zmysql.locality.options import Wishes
    from zmysql.locality.profile import Profile
    from zmysql.locality.question import Caches, Question
    from zmysql.locality.verdict import Verdict
    from zmysql.trace.format import Header

_SURE_ERRORS = 3  # standard errors: nearly nothing lies further off


@dataclass(frozen=True, slots=True)
class Assessment:
    """A trace, its figures, and what they mean for a question.

    `evidence` is of an LRU curve, as Suresh's formula wants it. `pays_from_bytes` is an L2ARC that by that curve brings
    the speed-up from which it pays, None where no size does. `warnings` are sentences on what the figures can't tell.
    """

    path: Path
    header: Header
    analysis: Analysis
    question: Question
    evidence: Evidence
    verdict: Verdict
    candidates: tuple[Candidate, ...]
    formula: Formula
    break_evens: tuple[BreakEven, ...]
    confidence: Confidence
    pays_from_bytes: int | None
    warnings: tuple[str, ...]

    @property
    def profile(self) -> Profile:
        """The figures of the trace."""
        return self.analysis.profile

    @property
    def caches(self) -> Caches:
        """The sizes that were judged for."""
        return self.question.caches

    @property
    def l2arc_hit_ratio_seen(self) -> float | None:
        """Hits of the L2ARC in the reads that missed the ARC while recording; None where there was nothing to see."""
        hits, misses = self.profile.classes["l2hit"], self.profile.classes["miss"]
        return hits / (hits + misses) if self.header.l2arc_bytes and hits + misses else None


def assess(path: Path, header: Header, analysis: Analysis, question: Question) -> Assessment:
    """Judge what an L2ARC, memory or SSDs would bring.

    Raises UsageError for a database that would be smaller than what was read of it.
    """
    _check_database(header, question.wishes, analysis)
    found = candidates(analysis.options, analysis.served, question.rig, analysis.warm)
    curve = _curve_evidence(header, analysis.profile, question)
    verdict = decide(_expected(curve, analysis), found, question.goal, question.wishes)
    doubts = _doubts(header, analysis, question, found, verdict)
    return Assessment(
        path=path,
        header=header,
        analysis=analysis,
        question=question,
        evidence=curve,
        verdict=verdict,
        candidates=found,
        formula=formula(curve, found, question.rig, question.compressratio),
        break_evens=break_evens(found, question.goal, question.wishes, question.rig),
        confidence=confidence(doubts),
        pays_from_bytes=_pays_from(analysis.profile, curve),
        warnings=caveats(header, analysis, question, curve),
    )


def _check_database(header: Header, wishes: Wishes, analysis: Analysis) -> None:
    # Of a sample the bytes that were read are an estimate, with a standard error of that share where blocks are alike.
    error = 0.0 if sampling_ratio(header) == 1 else analysis.profile.distinct_blocks**-0.5
    if wishes.db_bytes is not None and wishes.db_bytes < analysis.read_bytes * (1 - _SURE_ERRORS * error):
        read = format_size(analysis.read_bytes)
        raise UsageError(f"--db-size {format_size(wishes.db_bytes)}: {read} of the database were read, so it is larger")


def _curve_evidence(header: Header, profile: Profile, question: Question) -> Evidence:
    """Give the evidence of an LRU curve, and what was seen while recording."""
    caches = question.caches
    return Evidence(
        references=profile.references,
        first_reads=profile.first_reads,
        arc_bytes=caches.arc_bytes,
        l2arc_bytes=caches.l2arc_bytes,
        arc_hits=profile.hits[caches.arc_bytes],
        both_hits=profile.hits[caches.both_bytes],
        double_arc_hits=profile.hits[min(2 * caches.arc_bytes, LARGEST_BYTES)],
        header_bytes=header_bytes(caches.l2arc_bytes, profile, header),
        latency_ratio=question.ratio.value,
        arc_misses_seen=_arc_misses_seen(header, profile, caches),
        l2arc_hits_seen=profile.classes["l2hit"] if caches.l2arc_bytes == header.l2arc_bytes else None,
    )


def _expected(curve: Evidence, analysis: Analysis) -> Evidence:
    """Give the same evidence with the hits of the simulation, where there is one."""
    alone, double = (
        analysis.served[Case(None, min(size, LARGEST_BYTES))] for size in (curve.arc_bytes, 2 * curve.arc_bytes)
    )
    both = analysis.served[Case(None, curve.arc_bytes, curve.l2arc_bytes)]
    if not (alone.simulated and both.simulated and double.simulated):
        return curve
    warm = analysis.warm.get(Case(None, curve.arc_bytes, curve.l2arc_bytes))
    missed = warm.references - warm.arc_hits if warm else 0
    return replace(
        curve,
        warm_hit_ratio=warm.l2arc_hits / missed if warm and missed else None,
        references=alone.references,
        first_reads=min(curve.first_reads, both.misses),  # prefetch may have brought some
        arc_hits=alone.arc_hits,
        both_hits=both.arc_hits + both.l2arc_hits,
        double_arc_hits=double.arc_hits,
        header_bytes=max(both.header_bytes, curve.header_bytes),
    )


def _arc_misses_seen(header: Header, profile: Profile, caches: Caches) -> int | None:
    """Give the reads that the recorded ARC missed, if the verdict is for that ARC. What waited may be from a disk."""
    counts = profile.classes
    if header.imported is not None or caches.arc_bytes != header.arc_bytes or counts["-"]:
        return None
    return counts["miss"] + counts["l2hit"] + counts["wait"]


def _pays_from(profile: Profile, evidence: Evidence) -> int | None:
    """Give the smallest L2ARC among the curve's points with which the speed-up pays."""
    missed = (evidence.arc_misses / profile.references) * (1 - hit_ratio_for(evidence.latency_ratio, PAYS))
    sizes = (size - evidence.arc_bytes for size, miss_ratio in profile.mrc if miss_ratio <= missed)
    return next((size for size in sizes if size > 0), None)


def _doubts(
    header: Header, analysis: Analysis, question: Question, found: tuple[Candidate, ...], verdict: Verdict
) -> Doubts:
    profile, caches = analysis.profile, question.caches
    main = analysis.served[Case(None, caches.arc_bytes, caches.l2arc_bytes)]
    gains = [one.gain(found[0], question.goal) for one in found if one.choice in {Choice.L2ARC, Choice.MORE_RAM}]
    seen, off = _seen(header, analysis, caches)
    # A share of the reads loses the same share of what was dropped.
    lost = None if header.drops is None else round(header.drops * profile.references / analysis.records)
    return Doubts(
        references=profile.references,
        first_reads=profile.first_reads,
        complete=header.complete,
        drops=lost,
        imported=header.imported is not None,
        out_of_order=profile.out_of_order,
        kept=float(sampling_ratio(header)),
        sampling_assumed=header.sampling_assumed,
        sampled_blocks=profile.distinct_blocks,
        error=analysis.share.error if analysis.share else None,
        assumed=caches.assumed,
        simulated=main.simulated,
        span_s=profile.span_ns / 1e9,
        warmup_s=_fill_seconds(main) if verdict.choice in {Choice.L2ARC, Choice.RECORD_LONGER} else None,
        read_bytes=analysis.read_bytes,
        db_bytes=question.wishes.db_bytes,
        gain=verdict.buy.gain if verdict.buy else max(gains, default=None),
        undecided=verdict.choice is Choice.RECORD_LONGER,
        seen=seen,
        settled_by_sight=verdict.seen,
        model_off=off,
    )


def _fill_seconds(main: Served) -> float | None:
    """Give how long the L2ARC took to fill: for ever, if it was still filling in the end."""
    if not main.simulated or not main.l2arc_written_bytes:
        return None
    return math.inf if main.warmup_seconds is None else main.warmup_seconds


def _seen(header: Header, analysis: Analysis, caches: Caches) -> tuple[str | None, float | None]:
    """Say how the ARC that was recorded did, and by how much of the reads the simulation of it is off."""
    missed = _arc_misses_seen(header, analysis.profile, caches)
    if missed is None:
        return None, None
    share = missed / analysis.profile.references
    said = f"While recording, {100 * share:.1f} % of the reads missed the ARC; that was seen, not reckoned."
    alone = analysis.served[Case(None, caches.arc_bytes)]
    # A cache that starts empty misses first reads that the one on the machine may have had.
    first = analysis.profile.first_reads / analysis.profile.references
    reckoned = 1 - alone.arc_hits / alone.references
    off = max(share - reckoned, reckoned - first - share, 0.0)
    return said, off

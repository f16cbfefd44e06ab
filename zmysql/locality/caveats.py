"""What the figures can't tell, or only roughly: sentences that go with a report. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.locality.analysis import L2ARC_HEADER_BYTES
from zmysql.locality.confidence import MANY_DROPS, MANY_FIRST_READS, MUCH_DISORDER
from zmysql.locality.sampling import sampling_ratio
from zmysql.units import format_size

if TYPE_CHECKING:
    from zmysql.locality.analysis import Analysis
    from zmysql.locality.question import Question
    from zmysql.locality.share import Share
    from zmysql.locality.verdict import Evidence
    from zmysql.trace.format import Header

_MUCH_HEADER_MEMORY = 0.1  # of the ARC


def caveats(header: Header, analysis: Analysis, question: Question, evidence: Evidence) -> tuple[str, ...]:
    """Say what the recording lacks, what was left out of it, and what was assumed; the evidence is an LRU curve's."""
    return (*_of_recording(header, analysis), *_of_judgement(analysis, question, evidence))


def _of_recording(header: Header, analysis: Analysis) -> list[str]:
    found = []
    records, share = analysis.records, analysis.share
    out_of_order = share.whole.out_of_order if share else analysis.profile.out_of_order
    if not header.complete:
        found.append(f"The recording was cut off: {records} records were kept, and drops are unknown.")
    elif header.drops is None and header.imported is None:
        found.append("The trace doesn't say how many records were dropped.")
    if header.drops:
        lost = header.drops / (header.drops + records)
        low = "all counts are low by about as much"
        trust = "don't trust the figures, and not the verdict" if lost > MANY_DROPS else low
        found.append(f"{header.drops} records ({100 * lost:.2f} %) were dropped while recording: {trust}.")
    if header.sampling_assumed:
        found.append(
            "The trace doesn't name its sampling, so it is taken to hold all blocks: of a sample no size holds."
        )
    if sampling_ratio(header) != 1:
        found.append(_sampled(header, share))
    if direct := (share.whole if share else analysis.profile).classes.get("direct"):
        found.append(
            f"{direct} reads ({100 * direct / records:.1f} %) were Direct I/O, which passes by the ARC, so that no"
            " L2ARC ever has them: the figures are of a dataset with direct=disabled (or innodb_flush_method=fsync)."
        )
    if out_of_order > MUCH_DISORDER * records:
        found.append(f"{out_of_order} records are out of the order of their times, and counted as they stand.")
    return found


def _sampled(header: Header, share: Share | None) -> str:
    """Say which of the blocks are in the figures: those that the recorder kept, and of these what --sample asks for."""
    if share is None:
        return (
            f"The trace holds a sample of {header.sampling} of the blocks: counts and bytes are the sample's, sizes of"
            " caches are scaled, and ratios are estimates."
        )
    kept, recorded = f"1/{share.one_in}", sampling_ratio(header) * share.one_in
    of = "the blocks" if recorded == 1 else f"the trace's blocks, which are {recorded} of all,"
    return (
        f"As --sample asks, {kept} of {of} were analysed, {share.distinct_blocks:,} records of a trace with"
        f" {share.whole.references:,} reads: counts and bytes are {kept} of the trace's, sizes of caches are scaled,"
        f" ratios are estimates. The miss ratios of the caches here have a standard error of {100 * share.error:.2g} %"
        " at most. Larger records can't be judged: their neighbours are missing."
    )


def _of_judgement(analysis: Analysis, question: Question, evidence: Evidence) -> list[str]:
    caches, found = question.caches, []
    if caches.assumed:
        sizes = {"ARC": caches.arc_bytes, "L2ARC": caches.l2arc_bytes}
        words = " and ".join(f"an {name} of {format_size(sizes[name])}" for name in caches.assumed)
        options = " and ".join(f"--{name.lower()} SIZE" for name in caches.assumed)
        found.append(f"The trace names no such size, so {words} is assumed: say {options}.")
    if evidence.first_read_ratio > MANY_FIRST_READS:
        found.append(
            f"First reads are {100 * evidence.first_read_ratio:.1f} % of the references, and miss in any cache that"
            " starts empty: record longer to learn more."
        )
    if evidence.header_bytes > _MUCH_HEADER_MEMORY * evidence.arc_bytes:
        headers, arc = format_size(evidence.header_bytes), format_size(evidence.arc_bytes)
        found.append(
            f"Headers of the L2ARC's records ({L2ARC_HEADER_BYTES} B each) would take {headers} of the ARC's {arc}."
        )
    if question.wishes.db_bytes is None:
        read = format_size(analysis.read_bytes)
        found.append(
            f"{read} of the database were read; how large it is, and so SSDs for all of it, --db-size SIZE tells."
        )
    if analysis.outcomes and analysis.simulated_share < 1:
        share, whose = f"{100 * analysis.simulated_share:.2g} %", "the sample's" if analysis.share else "its"
        found.append(
            f"The trace is long, so that {share} of {whose} records were simulated, in caches as much smaller."
        )
    found.append(
        "Only reads are in the trace: what larger records cost the writes, and these the caches, isn't judged."
    )
    return found

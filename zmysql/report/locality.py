"""The locality report: on the terminal, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from zmysql.locality.verdict import Choice
from zmysql.report.output import output_version
from zmysql.units import format_size

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zmysql.locality.assessment import Assessment
    from zmysql.locality.profile import Profile

_SURESH = {"more than once": "5 %", "more than twice": "0.2 %"}  # of the blocks, in his article's random read load
_CLASS_WORDS = {
    "dbuf": "dbuf cache",
    "arc": "ARC",
    "l2hit": "L2ARC",
    "miss": "disk",
    "wait": "a read in flight",
    "hole": "no device: holes",
}
_MOST_FILES = 5
_MOST_BARS = 10
_BAR_WIDTH = 40
_CHOICES = {
    Choice.L2ARC: ("L2ARC pays", "green"),
    Choice.MORE_RAM: ("add memory", "green"),
    Choice.LEAVE_IT: ("leave it: L2ARC wouldn't pay", "yellow"),
    Choice.RECORD_LONGER: ("record longer: this trace can't tell", "yellow"),
}


def as_json(found: Assessment) -> dict[str, object]:
    """Give the report as JSON's values: sizes in bytes, times in ns, ratios from 0 to 1."""
    profile, evidence, header = found.profile, found.evidence, found.header
    return {
        "output_version": output_version("locality report"),
        "file": str(found.path),
        "complete": header.complete,
        "sampling": header.sampling,
        "drops": header.drops,
        "span_ns": profile.span_ns,
        "references": profile.references,
        "distinct_blocks": profile.distinct_blocks,
        "distinct_bytes": profile.distinct_bytes,
        "blocks_read_once": profile.blocks_read_once,
        "blocks_read_more_than_once": profile.blocks_read_more_than_once,
        "blocks_read_more_than_twice": profile.blocks_read_more_than_twice,
        "first_reads": profile.first_reads,
        "out_of_order": profile.out_of_order,
        "classes": dict(profile.classes),
        "mrc": [{"cache_bytes": size, "miss_ratio": miss_ratio} for size, miss_ratio in profile.mrc],
        "flat_bytes": profile.flat_bytes,
        "arc_bytes": found.caches.arc_bytes,
        "l2arc_bytes": found.caches.l2arc_bytes,
        "assumed": list(found.caches.assumed),
        "arc_hit_ratio": evidence.arc_hit_ratio,
        "arc_and_l2arc_hit_ratio": evidence.both_hit_ratio,
        "l2arc_hit_ratio": evidence.l2arc_hit_ratio,
        "l2arc_hit_ratio_at_most": evidence.l2arc_hit_ratio_at_most,
        "l2arc_header_bytes": evidence.header_bytes,
        "latency_ratio": evidence.latency_ratio,
        "arc_misses_seen": evidence.arc_misses_seen,
        "speedup_seen": evidence.speedup_seen,
        "l2arc_hit_ratio_seen": found.l2arc_hit_ratio_seen,
        "speedup": evidence.speedup,
        "speedup_at_most": evidence.speedup_at_most,
        "l2arc_pays_from_bytes": found.pays_from_bytes,
        "files": [
            {
                "objset": file.objset,
                "object": file.object,
                "path": file.path,
                "references": file.references,
                "distinct_blocks": file.distinct_blocks,
            }
            for file in profile.files
        ],
        "verdict": {"choice": found.verdict.choice.value, "reasons": list(found.verdict.reasons)},
        "warnings": list(found.warnings),
    }


def for_terminal(found: Assessment) -> RenderableType:
    """Give the report for rich to print."""
    words, colour = _CHOICES[found.verdict.choice]
    verdict = _list(found.verdict.reasons)
    title = Text(f" Verdict: {words} ", style=f"bold {colour}")
    return Group(
        Text(f"Locality of {found.path}", style="bold"),
        _indented(_recorded(found)),
        Text("\nRecords read", style="bold"),
        _indented(_counts(found.profile)),
        Text("\nMost read", style="bold"),
        _indented(_files(found)),
        Text("\nReads that miss an LRU cache of this size", style="bold"),
        _indented(_curve(found)),
        Text("\nWhat an L2ARC would bring", style="bold"),
        _indented(_expected(found)),
        Text(),
        Panel(verdict, title=title, title_align="left", border_style=colour, expand=False),
        _list(found.warnings, style="dim"),
    )


def _recorded(found: Assessment) -> Table:
    header = found.header
    table = _grid(2)
    machine = [
        header.host,
        header.os,
        f"ZFS {header.zfs}" if header.zfs else None,
        f"MySQL {header.mysql}" if header.mysql else None,
        f"imported from {header.imported}" if header.imported else None,
    ]
    table.add_row("on", _plain(", ".join(word for word in machine if word) or "an unknown machine"))
    # The span of the records where the recording doesn't say how long it was.
    seconds = (found.profile.span_ns if header.duration_ns is None else header.duration_ns) / 1e9
    since = f" from {header.started}" if header.started else ""
    ended = f" ({header.ended})" if header.ended not in (None, "duration") else ""
    table.add_row("for", _plain(f"{seconds:,.1f} s{since}{ended}"))
    if header.datasets and not header.imported:
        names = (f"{dataset.name} ({format_size(dataset.recordsize)} records)" for dataset in header.datasets.values())
        table.add_row("of", _plain(", ".join(names)))
    return table


def _counts(profile: Profile) -> Table:
    table = _grid(4, right=(1, 2))
    distinct = f"{profile.distinct_blocks:,}"
    table.add_row("reads", f"{profile.references:,}")
    table.add_row("distinct records", distinct, "", f"{format_size(profile.distinct_bytes)}")
    for name, blocks in (
        ("once", profile.blocks_read_once),
        ("more than once", profile.blocks_read_more_than_once),
        ("more than twice", profile.blocks_read_more_than_twice),
    ):
        compared = f"Suresh 2009: {_SURESH[name]}" if name in _SURESH else ""
        table.add_row(f"  read {name}", f"{blocks:,}", _percent(blocks, profile.distinct_blocks), compared)
    for name, reads in profile.classes.items():
        if reads and name != "-":
            table.add_row(f"reads from {_CLASS_WORDS[name]}", f"{reads:,}", _percent(reads, profile.references))
    return table


def _files(found: Assessment) -> Table:
    profile = found.profile
    table = _grid(3, right=(0, 1))
    for file in profile.files[:_MOST_FILES]:
        name = _plain(file.path or f"objset {file.objset}, object {file.object}")
        table.add_row(f"{file.references:,}", _percent(file.references, profile.references), name)
    others = profile.files[_MOST_FILES:]
    if others:
        reads = sum(file.references for file in others)
        table.add_row(f"{reads:,}", _percent(reads, profile.references), f"in {len(others)} others")
    return table


def _curve(found: Assessment) -> Table:
    """Draw the miss-ratio curve as bars: some sizes of the curve, and the caches' own."""
    profile, caches = found.profile, found.caches
    doublings = profile.mrc[1::8]  # eight points a doubling, after that of no cache
    rows = {size: (miss_ratio, "") for size, miss_ratio in doublings[:: len(doublings) // _MOST_BARS + 1]}
    last_size, last_ratio = profile.mrc[-1]
    rows[last_size] = (last_ratio, "flat from here: first reads")
    for size, name in ((caches.arc_bytes, "ARC"), (caches.both_bytes, "ARC + L2ARC")):
        rows[size] = ((profile.references - profile.hits[size]) / profile.references, f"← {name}")
    table = _grid(4, right=(0, 1))
    for size, (miss_ratio, note) in sorted(rows.items()):
        bar = Text("█" * round(miss_ratio * _BAR_WIDTH), style="cyan" if note.startswith("←") else "blue")
        bar.append(f" {note}" if note else "", style="bold" if note.startswith("←") else "dim")
        table.add_row(format_size(size), f"{100 * miss_ratio:.1f} %", bar)
    return table


def _expected(found: Assessment) -> Table:
    evidence, caches = found.evidence, found.caches
    table = _grid(3, right=(1,))
    arc, l2arc = format_size(caches.arc_bytes), format_size(caches.l2arc_bytes)
    table.add_row(f"ARC of {arc}", f"{100 * evidence.arc_hit_ratio:.1f} %", "of the reads hit")
    table.add_row(f"with L2ARC of {l2arc}", f"{100 * evidence.both_hit_ratio:.1f} %", "of the reads hit either")
    table.add_row("h", f"{100 * evidence.l2arc_hit_ratio:.1f} %", "of the reads that miss the ARC hit the L2ARC")
    if found.l2arc_hit_ratio_seen is not None:
        table.add_row(
            "  seen while recording", f"{100 * found.l2arc_hit_ratio_seen:.1f} %", "did, of the L2ARC that is there"
        )
    table.add_row("r", f"{evidence.latency_ratio:.3g}", f"disk to SSD latency: {found.ratio.origin}")
    table.add_row("x = r / (r(1 - h) + h)", f"{evidence.speedup:.2f}", "times as fast, of the reads that miss the ARC")
    if found.pays_from_bytes is not None:
        table.add_row("pays from", format_size(found.pays_from_bytes), "of L2ARC on")
    return table


def _plain(text: str) -> Text:
    """Show words of the trace without taking them as markup or control codes: it may come from anyone."""
    return Text(text if text.isprintable() else repr(text), overflow="fold")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def _grid(columns: int, right: tuple[int, ...] = ()) -> Table:
    table = Table.grid(padding=(0, 2))
    for column in range(columns):
        table.add_column(
            justify="right" if column in right else "left", style="dim" if column == 0 and not right else ""
        )
    return table


def _indented(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, 2))


def _list(sentences: tuple[str, ...], style: str = "") -> Table:
    table = Table.grid(padding=(0, 1))
    for sentence in sentences:
        table.add_row(Text("•", style=style), Text(sentence, style=style))
    return table

"""The locality report on the terminal: the verdict first, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from zmysql.locality.buying import dollars
from zmysql.locality.confidence import Level
from zmysql.locality.options import Choice
from zmysql.report import locality_trace as trace
from zmysql.report.locality_json import as_json
from zmysql.report.terminal import bullets, duration, grid, indented, percent, plain
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from zmysql.locality.assessment import Assessment
    from zmysql.locality.candidates import Candidate

__all__ = ["as_json", "for_terminal"]

_CHOICES = {
    Choice.L2ARC: ("L2ARC pays", "green"),
    Choice.FULL_SSD: ("put all of it on SSD", "green"),
    Choice.SPECIAL_VDEV: ("put the hot tables on a special vdev of SSDs", "green"),
    Choice.MORE_RAM: ("add memory", "green"),
    Choice.LEAVE_IT: ("leave it: L2ARC wouldn't pay", "yellow"),
    Choice.RECORD_LONGER: ("record longer: this trace can't tell", "yellow"),
}
_TOLD_APART = 0.01
_LEVELS = {Level.HIGH: "green", Level.MEDIUM: "yellow", Level.LOW: "red"}


def for_terminal(found: Assessment) -> RenderableType:
    """Give the report for rich to print."""
    return Group(Text(f"Locality of {found.path}", style="bold"), Text(), _verdict(found), *_sections(found))


def _sections(found: Assessment) -> Iterator[RenderableType]:
    sections = (
        ("What could be done", _candidates(found)),
        ("What would change the verdict", bullets(one.sentence for one in found.break_evens)),
        ("The trace", trace.recorded(found)),
        ("Records read", trace.counts(found.profile)),
        ("Most read", trace.tables(found)),
        ("Reads that miss an LRU cache of this size", trace.curve(found)),
        ("Recordsizes, with ARC and L2ARC as one LRU cache", trace.recordsizes(found)),
        ("Working set", trace.working_set(found)),
        ("Suresh's formula, and the simulation", _formula(found)),
    )
    for title, part in sections:
        if not isinstance(part, Table) or part.row_count:
            yield Text(f"\n{title}", style="bold")
            yield indented(part)
    yield Text()
    yield bullets(found.warnings, style="dim")


def _verdict(found: Assessment) -> Panel:
    words, colour = _CHOICES[found.verdict.choice]
    level = found.confidence.level
    sure = Text.assemble("\nConfidence: ", (str(level), f"bold {_LEVELS[level]}"))
    parts: list[RenderableType] = [bullets(found.verdict.reasons), sure]
    if found.confidence.reasons:
        parts.append(bullets(found.confidence.reasons, style="dim"))
    title = Text(f" Verdict: {words} ", style=f"bold {colour}")
    return Panel(Group(*parts), title=title, title_align="left", border_style=colour, expand=False)


def _candidates(found: Assessment) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    table.add_column("", overflow="fold", max_width=24)
    for heading in ("mean", "warm", "p99", "reads/s", "faster", "cost"):
        table.add_column(heading, justify="right", no_wrap=True)
    base = found.candidates[0]
    for one in _told_apart(found):
        chosen = one is found.verdict.candidate
        table.add_row(
            Text("→" if chosen else ""),
            plain(one.option.name),
            duration(one.mean_latency_ns),
            "" if one.warm_latency_ns is None else duration(one.warm_latency_ns),
            duration(one.p99_latency_ns),
            f"{one.reads_per_second:,.0f}",
            f"{base.mean_latency_ns / one.mean_latency_ns:.2f} x",
            "?" if one.cost is None else dollars(one.cost) if one.cost else "",
            style="bold" if chosen else "",
        )
    return Group(table, bullets(_assumptions(found), style="dim"))


def _assumptions(found: Assessment) -> Iterator[str]:
    rig = found.question.rig
    if found.analysis.warm:
        yield "mean: of a read, with caches that start empty; warm: with what the same reads left in them, at the best."
    yield (
        f"Disks: {rig.disks} like {rig.disk.name}, {duration(rig.disk.latency.mean_ns)} a read. SSD: {rig.ssd.name},"
        f" {duration(rig.ssd.latency.mean_ns)}; what lies on SSD for good is mirrored. {rig.readers} readers."
    )
    price, memory = rig.ssd.sources.get("price_per_gb"), rig.memory.sources.get("price_per_gib")
    if rig.ssd.price_per_gb is not None and price and memory:
        yield (
            f"Prices: SSD ${rig.ssd.price_per_gb:.3g} a GB ({price.text}), memory ${rig.memory.price_per_gib:.3g} a GiB"
            f" ({memory.text}); give yours with --prices FILE."
        )
    chosen = found.verdict.candidate
    if chosen is not None and chosen.choice is Choice.L2ARC:
        yield from _l2arc(chosen)


def _told_apart(found: Assessment) -> Iterator[Candidate]:
    """Leave out sizes that bring what the one before them does, as far as a hundredth tells; JSON has all."""
    last = found.candidates[0]
    for one in found.candidates:
        asked = one is found.verdict.candidate or one.case.l2arc_bytes == found.caches.l2arc_bytes
        alike = abs(one.mean_latency_ns / last.mean_latency_ns - 1) < _TOLD_APART and one.choice is last.choice
        if one is last or asked or not alike:
            yield one
            last = one


def _l2arc(chosen: Candidate) -> Iterator[str]:
    served = chosen.served
    headers = f"Its headers take {format_size(served.header_bytes)} of the ARC"
    if served.simulated:
        fills = "it was still filling when the trace ended"
        if served.warmup_seconds is not None:
            fills = f"it is warm after {duration(served.warmup_seconds * 1e9)}"
        headers += f"; {fills}"
    yield f"{headers}."
    if chosen.ssd_written_bytes_per_day is not None:
        life = "" if chosen.ssd_life_years is None else f", at which the SSD lasts {chosen.ssd_life_years:,.1f} years"
        yield f"It is written {format_size(chosen.ssd_written_bytes_per_day)} a day{life}."


def _formula(found: Assessment) -> RenderableType:
    evidence, caches = found.evidence, found.caches
    table = grid(3, right=(1,))
    arc, l2arc = format_size(caches.arc_bytes), format_size(caches.l2arc_bytes)
    table.add_row(f"ARC of {arc}", percent(evidence.arc_hit_ratio), "of the reads hit")
    table.add_row(f"with L2ARC of {l2arc}", percent(evidence.both_hit_ratio), "of the reads hit either")
    table.add_row("h", percent(evidence.l2arc_hit_ratio), "of the reads that miss the ARC hit the L2ARC")
    if found.l2arc_hit_ratio_seen is not None:
        table.add_row("  seen while recording", percent(found.l2arc_hit_ratio_seen), "did, of the L2ARC that is there")
    table.add_row("r", f"{evidence.latency_ratio:.3g}", f"disk to SSD latency: {found.question.ratio.origin}")
    table.add_row("x = r / (r(1 - h) + h)", f"{evidence.speedup:.2f}", "times as fast, of the reads that miss the ARC")
    if found.formula.simulated_x is not None:
        table.add_row("x, simulated", f"{found.formula.simulated_x:.2f}", "times, of the same reads")
    if found.pays_from_bytes is not None:
        table.add_row("pays from", format_size(found.pays_from_bytes), "of L2ARC on, by the formula")
    return Group(table, bullets(found.formula.why, style="dim"))

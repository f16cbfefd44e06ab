"""The load over time, and where its reads were served."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import altair as alt

from zmysql.report.page import words
from zmysql.report.page.figure import (
    Figure,
    Missing,
    Panel,
    Report,
    Row,
    Table,
    data,
    even_ns,
    nearest,
    percent_axis,
    size_axis,
    time_axis,
    tooltips,
)

if TYPE_CHECKING:
    from zmysql.report.page.theme import Palette

_SET_KEY, _SET_TITLE = "working-set", "The working set over time"
_SERVED_KEY, _SERVED_TITLE = "served-from", "Where reads were served while recording"
_MOST_WINDOWS = 400
_HEIGHT = 170
_FAR_ABOVE = 3  # times the largest working set: a line so far up would flatten the chart


def working_set(report: Report, palette: Palette) -> Figure | Missing:
    """Draw the distinct bytes that are read in each window of time, and the reads a second."""
    found = report.get("working_set") or {}
    whole = [one for one in found.get("windows") or [] if one["start_ns"] + found["window_ns"] <= report["span_ns"]]
    windows = _thinned(whole)
    if len(windows) < 2:  # noqa: PLR2004 - one point shows no course
        return Missing(_SET_KEY, _SET_TITLE, "The trace is too short to show it, or the report doesn't have it.")
    window_ns = found["window_ns"]
    kept_s = float(Fraction(report.get("sampling") or 1)) * window_ns / 1e9  # a sample has so much fewer reads
    rows = [
        {
            "start": one["start_ns"],
            "bytes": one["distinct_bytes"],
            "rate": one["references"] / kept_s,
            "from": words.time(one["start_ns"]),
            "distinct": words.size(one["distinct_bytes"]),
            "reads a second": words.count(one["references"] / kept_s),
        }
        for one in windows
    ]
    largest = max(row["bytes"] for row in rows)
    sizes = _course(rows, "bytes", size_axis(grid=True, most=largest), palette.memory)
    rates = _course(rows, "rate", alt.Axis(title=None, format="~s", tickCount=4), palette.quiet)
    columns = ("from", "distinct", "reads a second")
    return Figure(
        key=_SET_KEY,
        title=_SET_TITLE,
        sentence=_set_sentence(report, windows, window_ns),
        panels=(
            Panel(f"distinct bytes in {words.time(window_ns)}", alt.layer(sizes, *_arc_rule(report, rows, palette))),
            Panel("reads a second", rates),
        ),
        table=Table(columns, tuple(tuple(row[column] for column in columns) for row in rows)),
        wide=True,
    )


def served(report: Report, palette: Palette) -> Figure | Missing:
    """Draw who served the reads of the trace: the caches that were there, or the disks."""
    counts = report.get("classes") or {}
    places = (
        ("dbuf cache and ARC", counts.get("dbuf", 0) + counts.get("arc", 0), palette.memory),
        ("L2ARC", counts.get("l2hit", 0), palette.flash),
        ("disks", counts.get("miss", 0) + counts.get("wait", 0) + counts.get("direct", 0), palette.disk),
        ("nothing: holes", counts.get("hole", 0), palette.quiet),
    )
    known = sum(reads for _, reads, _ in places)
    if not known:
        return Missing(
            _SERVED_KEY, _SERVED_TITLE, "The trace doesn't say where its reads were served, as imported ones don't."
        )
    rows = [
        {
            "from": name,
            "share": reads / known,
            "reads": words.count(reads),
            "of the reads": words.percent(reads / known),
        }
        for name, reads, _ in places
    ]
    names = [name for name, _, _ in places]
    chart = alt.Chart(data(rows)).encode(
        x=alt.X("share:Q", axis=percent_axis("of the reads"), scale=alt.Scale(domainMin=0)),
        y=alt.Y("from:N", sort=names, axis=alt.Axis(title=None, labelLimit=150)),
        color=alt.Color(
            "from:N", scale=alt.Scale(domain=names, range=[colour for _, _, colour in places]), legend=None
        ),
        tooltip=tooltips("from", "reads", "of the reads"),
    )
    memory, flash, disk = (words.percent(row["share"]) for row in rows[:3])
    return Figure(
        key=_SERVED_KEY,
        title=_SERVED_TITLE,
        sentence=f"Memory served {memory} of the reads, the L2ARC {flash}, and {disk} went to the disks.",
        panels=(Panel(_SERVED_TITLE, chart.mark_bar(height={"band": 0.62}).properties(height=_HEIGHT)),),
        table=Table(("from", "reads", "of the reads"), tuple((r["from"], r["reads"], r["of the reads"]) for r in rows)),
    )


def _course(rows: list[Row], field: str, axis: alt.Axis, colour: str) -> alt.LayerChart:
    at = alt.Chart(data(rows)).encode(
        x=alt.X("start:Q", axis=time_axis("since the start", even_ns(rows[-1]["start"])), scale=alt.Scale(nice=False)),
        y=alt.Y(f"{field}:Q", axis=axis, scale=alt.Scale(zero=True)),
    )
    dot = nearest(
        f"near_{field}",
        at.mark_point(filled=True, size=80, color=colour),
        "start",
        "from",
        "distinct",
        "reads a second",
    )
    area, line = at.mark_area(color=colour, opacity=0.14), at.mark_line(color=colour, strokeWidth=2)
    return alt.LayerChart(layer=[area, line, dot]).properties(height=_HEIGHT)


def _arc_rule(report: Report, rows: list[Row], palette: Palette) -> list[alt.Chart]:
    """Draw the ARC's size across the working set, where it is near enough to be seen with it."""
    arc = report.get("arc_bytes")
    if not arc or arc > _FAR_ABOVE * max(row["bytes"] for row in rows):
        return []
    rule = alt.Chart(data([{"bytes": arc, "text": f"ARC: {words.size(arc)}"}])).encode(y="bytes:Q")
    text = rule.mark_text(align="left", baseline="bottom", dx=6, dy=-3, fontSize=11.5, color=palette.ink)
    text = text.encode(x=alt.value(0), text="text:N")
    return [rule.mark_rule(strokeDash=[5, 3], color=palette.ink, opacity=0.65), text]


def _set_sentence(report: Report, windows: list[Row], window_ns: int) -> str:
    sizes = sorted(one["distinct_bytes"] for one in windows)
    window, median, largest = words.time(window_ns), words.size(sizes[len(sizes) // 2]), words.size(sizes[-1])
    said = f"In {window} this load reads distinct records of {median} (the median), and {largest} at most;"
    return f"{said} in the whole recording, {words.size(report['distinct_bytes'])}."


def _thinned(windows: list[Row]) -> list[Row]:
    """Of too many windows to draw, keep the largest of each few, so that no peak is lost."""
    each = -(-len(windows) // _MOST_WINDOWS) or 1
    return [max(windows[at : at + each], key=lambda one: one["distinct_bytes"]) for at in range(0, len(windows), each)]

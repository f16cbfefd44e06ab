"""When a record is read again: reuse distances in bytes, and the time in between."""

from __future__ import annotations

from math import log2
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
    decades_ns,
    log_scale,
    percent_axis,
    size_axis,
    time_axis,
    tooltips,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zmysql.report.page.theme import Palette

_BYTES_KEY, _BYTES_TITLE = "reuse-distances", "How far apart the reads of a record are"
_TIME_KEY, _TIME_TITLE = "inter-reference-times", "How long until a record is read again"
_TIERS = ("fits the ARC", "fits ARC + L2ARC", "fits neither")
_HEIGHT = 200


def reuse_distances(report: Report, palette: Palette) -> Figure | Missing:
    """Draw how many bytes of other records are read before a record is read again, by the cache that it takes."""
    bins = _bins(report.get("reuse_distances") or (), "bytes")
    if not bins:
        return Missing(_BYTES_KEY, _BYTES_TITLE, _why("reuse_distances", report))
    arc, both = report.get("arc_bytes") or 0, (report.get("arc_bytes") or 0) + (report.get("l2arc_bytes") or 0)
    rows = _rows(bins, words.size, report["references"])
    for row in rows:
        row["by"] = _TIERS[0 if row["to"] <= arc else 1 if row["to"] <= both else 2]
    chart = _bars(rows, size_axis("distinct bytes read since"), palette.memory)
    tiers = [tier for tier in _TIERS if any(row["by"] == tier for row in rows)]
    colours = dict(zip(_TIERS, (palette.memory, palette.flash, palette.disk), strict=True))
    scale = alt.Scale(domain=tiers, range=[colours[tier] for tier in tiers])
    shown = alt.selection_point(name="shown", fields=["by"], bind="legend")
    chart = chart.encode(
        color=alt.Color("by:N", scale=scale, legend=alt.Legend(columns=3)),
        opacity=alt.condition(shown, alt.value(1), alt.value(0.15)),
        tooltip=tooltips("distance", "reads", "of all reads", "by"),
    ).add_params(shown)
    half, most = _quantile(bins, 0.5), _quantile(bins, 0.9)
    return Figure(
        key=_BYTES_KEY,
        title=_BYTES_TITLE,
        sentence=(
            f"Half of the rereads come back within {words.size(half)}, nine of ten within {words.size(most)}: a cache"
            " of that size serves them."
        ),
        panels=(Panel(_BYTES_TITLE, chart),),
        table=_table(rows, "by"),
    )


def inter_reference(report: Report, palette: Palette) -> Figure | Missing:
    """Draw how much time passes before a record is read again."""
    bins = _bins(report.get("inter_reference") or (), "ns")
    if not bins:
        return Missing(_TIME_KEY, _TIME_TITLE, _why("inter_reference", report))
    rows = _rows(bins, words.time, report["references"])
    chart = _bars(
        rows,
        time_axis("time since the record's last read", decades_ns(rows[0]["from"], rows[-1]["to"])),
        palette.memory,
    )
    half, most = _quantile(bins, 0.5), _quantile(bins, 0.9)
    return Figure(
        key=_TIME_KEY,
        title=_TIME_TITLE,
        sentence=(
            f"Half of the rereads come within {words.time(half)}, nine of ten within {words.time(most)}: what is read"
            " again only after that, a longer recording would show better."
        ),
        panels=(Panel(_TIME_TITLE, chart.encode(tooltip=tooltips("distance", "reads", "of all reads"))),),
        table=_table(rows),
    )


def _bins(found: Sequence[Row], unit: str) -> list[tuple[float, float, int]]:
    """Give (from, to, references) of what was counted; a logarithmic axis begins above 0."""
    counted = [(one[f"from_{unit}"], one[f"to_{unit}"], one["references"]) for one in found if one["references"]]
    return [(low or max(high / 2, 1), max(high, low + 1), references) for low, high, references in sorted(counted)]


def _rows(bins: Sequence[tuple[float, float, int]], say: Callable[[float], str], references: int) -> list[Row]:
    return [
        {
            "from": low,
            "to": high,
            "density": reads / references / log2(high / low),
            "distance": words.span(say(low), say(high)),
            "reads": words.count(reads),
            "of all reads": words.percent(reads / references),
        }
        for low, high, reads in bins
    ]


def _bars(rows: list[Row], axis: alt.Axis, colour: str) -> alt.Chart:
    """Draw bars of the shares for each doubling, so that wide and narrow bins compare."""
    scale = log_scale(rows[0]["from"], max(row["to"] for row in rows))
    chart: alt.Chart = alt.Chart(data(rows)).mark_bar(binSpacing=1, color=colour)
    chart = chart.encode(
        x=alt.X("from:Q", scale=scale, axis=axis),
        x2="to:Q",
        y=alt.Y("density:Q", axis=percent_axis("of all reads, a doubling"), scale=alt.Scale(zero=True)),
        y2=alt.Y2(datum=0),
    )
    return chart.properties(height=_HEIGHT)


def _quantile(bins: Sequence[tuple[float, float, int]], share: float) -> float:
    """Give the upper end of the bin in which this share of the rereads is reached."""
    wanted = share * sum(references for _, _, references in bins)
    reached = 0
    for _, high, references in bins:
        reached += references
        if reached >= wanted:
            return high
    return bins[-1][1]


def _table(rows: list[Row], *more: str) -> Table:
    columns = ("distance", "reads", "of all reads", *more)
    return Table(columns, tuple(tuple(row[column] for column in columns) for row in rows))


def _why(key: str, report: Report) -> str:
    if key in report:
        return "No record was read twice in this trace."
    return "The report that this page is made from doesn't have it."

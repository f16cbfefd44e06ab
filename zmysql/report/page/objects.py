"""Tables and indexes: who reads, and how much cache each would need for itself."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import altair as alt

from zmysql.report.page import words
from zmysql.report.page.figure import AnyChart, Figure, Missing, Panel, Report, Row, Table, data, percent_axis, tooltips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.report.page.theme import Palette

_KEY, _TITLE = "tables", "Which tables are hot"
_MOST = 15
_MOST_SIZES = 8
_HEAT = (0.2, 0.4, 0.6, 0.8, 0.9)  # hit ratios at which the colour changes
_FIRST_HITS = 0.95  # a miss ratio below which a cache begins to serve a table
_STEP = 26
_MOST_LETTERS = 34


def tables(report: Report, palette: Palette) -> Figure | Missing:
    """Draw the reads of each table, and the hits that a cache of its own would have at some sizes."""
    found = sorted(report.get("objects") or (), key=lambda one: (-one["references"], one["objset"], one["object"]))
    if not found:
        return Missing(_KEY, _TITLE, "This report has no figures of single tables.")
    shown = found[:_MOST]
    names = _names(shown)
    rows = [_row(name, one, report["references"]) for name, one in zip(names, shown, strict=True)]
    panels = [Panel("reads", _reads(rows, names, palette))]
    sizes = _sizes(shown)
    heat = [cell for name, one in zip(names, shown, strict=True) for cell in _cells(name, one, sizes)]
    if heat:
        chart = _heat(heat, names, [words.size(size) for size in sizes], palette)
        panels.append(Panel("hits in a cache of its own of this size, in per cent", chart))
    columns = ("table", "reads", "of the reads", "distinct bytes", "reads a record", "file")
    return Figure(
        key=_KEY,
        title=_TITLE,
        sentence=_sentence(rows, len(found)),
        panels=tuple(panels),
        table=Table(columns, tuple(tuple(row[column] for column in columns) for row in rows)),
        wide=True,
    )


def _reads(rows: list[Row], names: list[str], palette: Palette) -> alt.Chart:
    chart: alt.Chart = alt.Chart(data(rows)).mark_bar(color=palette.memory, height={"band": 0.7})
    chart = chart.encode(
        x=alt.X("share:Q", axis=percent_axis("of the reads")),
        y=_by_table(names),
        tooltip=tooltips("table", "reads", "of the reads", "distinct bytes", "reads a record", "file"),
    )
    return chart.properties(height=len(names) * _STEP)


def _heat(cells: list[Row], names: list[str], sizes: list[str], palette: Palette) -> AnyChart:
    at = alt.Chart(data(cells)).encode(
        x=alt.X("cache:N", sort=sizes, axis=alt.Axis(title=None, labelAngle=-35, labelOverlap=False)),
        y=_by_table(names),
        tooltip=tooltips("table", "cache", "hits"),
    )
    boxes = at.mark_rect(cornerRadius=2, stroke=palette.card, strokeWidth=1).encode(color=_by_hits(palette.heat))
    figures = at.mark_text(fontSize=11).encode(text="short:N", color=_by_hits(palette.on_heat))
    chart: AnyChart = alt.layer(boxes, figures).resolve_scale(color="independent")
    return chart.properties(height=len(names) * _STEP)


def _by_hits(steps: list[str]) -> alt.Color:
    return alt.Color("hit:Q", scale=alt.Scale(type="threshold", domain=list(_HEAT), range=steps), legend=None)


def _by_table(names: list[str]) -> alt.Y:
    return alt.Y("table:N", sort=names, axis=alt.Axis(title=None, labelLimit=150, domain=False, ticks=False))


def _row(name: str, one: Row, references: int) -> Row:
    return {
        "table": name,
        "share": one["references"] / references,
        "reads": words.count(one["references"]),
        "of the reads": words.percent(one["references"] / references),
        "distinct bytes": words.size(one["distinct_bytes"]),
        "reads a record": f"{one['references'] / max(one['distinct_blocks'], 1):.1f}",
        "file": one.get("path") or "unknown",
    }


def _names(found: Sequence[Row]) -> list[str]:
    """Give each object a name that is short and no other's."""
    names: list[str] = []
    for one in found:
        where = f"objset {one['objset']}, object {one['object']}"
        name = one.get("name") or one.get("path") or where
        name = name if len(name) <= _MOST_LETTERS else "…" + name[1 - _MOST_LETTERS :]
        names.append(f"{name} ({where})" if name in names else name)
    return names


def _sizes(found: Sequence[Row]) -> list[int]:
    """Give some powers of two over which the tables' own curves fall."""
    points = [point for one in found for point in one.get("mrc") or () if point["cache_bytes"] > 0]
    ends = [point["cache_bytes"] for point in points if point["miss_ratio"] < _FIRST_HITS]
    if not ends:
        return []
    low, high = (min(ends) - 1).bit_length(), (max(ends) - 1).bit_length()
    each = max(1, -(-(high - low) // (_MOST_SIZES - 1)))
    return [1 << power for power in range(high, low - 1, -each)][:_MOST_SIZES][::-1]


def _cells(name: str, one: Row, sizes: Sequence[int]) -> list[Row]:
    curve = sorted((point["cache_bytes"], point["miss_ratio"]) for point in one.get("mrc") or ())
    if not curve:
        return []
    cells = []
    for size in sizes:
        hit = 1 - curve[max(bisect_right(curve, (size, 2.0)) - 1, 0)][1]
        cell = {"table": name, "cache": words.size(size), "hit": hit, "short": f"{100 * hit:.0f}"}
        cells.append(cell | {"hits": words.percent(hit)})
    return cells


def _sentence(rows: list[Row], number: int) -> str:
    first = rows[0]
    takes = f"{first['table']} takes {first['of the reads']} of the reads"
    said = f"{takes}, from {first['distinct bytes']} of distinct records."
    return said if number <= _MOST else f"{said} Shown are the first {_MOST} of {number}."

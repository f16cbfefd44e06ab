"""The miss-ratio curve, with the sizes that were judged marked on it."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Any

import altair as alt

from zmysql.report.page import words
from zmysql.report.page.figure import (
    AnyChart,
    Figure,
    Missing,
    Panel,
    Report,
    Row,
    Table,
    data,
    log_scale,
    nearest,
    percent_axis,
    size_axis,
    tooltips,
)
from zmysql.report.page.judged import judged_sizes, simulated_ratios

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.report.page.theme import Palette

_KEY, _TITLE = "miss-ratio-curve", "How much cache this load can use"
_EXACT = "any LRU cache of this size"
_ARC, _BOTH = "OpenZFS's ARC, simulated", "ARC and L2ARC, simulated"
_SHAPES = {_EXACT: "circle", _ARC: "triangle-up", _BOTH: "diamond"}
_HINT = "Drag to move, Shift and the wheel to zoom, double click for all of it."
_HEIGHT, _ROW_HEIGHT = 260, 17
_MOST_POINTS = 600
_ROOM = 1.1  # of the largest size, so that the last dot is whole


def miss_ratio_curve(report: Report, palette: Palette) -> Figure | Missing:
    """Draw the reads that miss at each size of a cache, exact and simulated."""
    points = [(point["cache_bytes"], point["miss_ratio"]) for point in report.get("mrc") or () if point["cache_bytes"]]
    if not points:
        return Missing(_KEY, _TITLE, "This report has no miss-ratio curve.")
    marks = judged_sizes(report)
    simulated = [
        _row(_BOTH if has_l2arc else _ARC, size, ratio) | {"with": caches}
        for size, ratio, caches, has_l2arc in simulated_ratios(report)
    ]
    last_size, last_ratio = points[-1]
    high = _ROOM * max([last_size] + [row["bytes"] for row in (*simulated, *marks)])
    # The curve stays what it was at its end: nothing is gained by more.
    points = [*points[:: len(points) // _MOST_POINTS + 1], (last_size, last_ratio), (high, last_ratio)]
    curve = [_row(_EXACT, size, ratio) for size, ratio in points]
    columns = ("size", "reads that miss", "series")
    return Figure(
        key=_KEY,
        title=_TITLE,
        sentence=_sentence(report),
        panels=(Panel(_TITLE, _chart(report, palette, curve, simulated, marks)),),
        table=Table(
            ("cache size", "reads that miss", "by"),
            tuple(tuple(row[column] for column in columns) for row in (*curve, *simulated)),
        ),
        wide=True,
        hint=_HINT,
    )


def _chart(report: Report, palette: Palette, curve: list[Row], simulated: list[Row], marks: list[Row]) -> AnyChart:
    band = len(marks) * _ROW_HEIGHT + 4  # above the curve, for the words of the marks
    ends = (curve[0]["bytes"], curve[-1]["bytes"])
    colours = {_EXACT: palette.memory, _ARC: palette.disk, _BOTH: palette.flash}
    series = [name for name in colours if any(row["series"] == name for row in (*curve, *simulated))]
    seen = alt.selection_point(name="seen", fields=["series"], bind="legend")
    # Dragging moves the sizes; the wheel alone goes on scrolling the page.
    moved = alt.selection_interval(name="moved", bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]")
    x = alt.X("bytes:Q", scale=log_scale(*ends), axis=size_axis("size of the cache"))
    y_scale = alt.Scale(domain=[0, 1], range=[_HEIGHT + band, band])
    y = alt.Y("ratio:Q", scale=y_scale, axis=percent_axis("reads that miss"), stack=None)
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=series, range=[colours[name] for name in series]),
        legend=alt.Legend(columns=1) if simulated else None,
    )
    shape = alt.Shape("series:N", scale=alt.Scale(domain=series, range=[_SHAPES[name] for name in series]))
    faded = alt.condition(seen, alt.value(1), alt.value(0.12))
    line = alt.Chart(data(curve)).encode(x=x, y=y)
    dots = alt.Chart(data(simulated)).encode(x=x, y=y, color=colour, shape=shape, opacity=faded)
    layers = [
        line.mark_area(interpolate="step-after", color=palette.memory, opacity=0.1, clip=True),
        *_first_reads(report, palette),
        *_marked(palette, ends, marks, band),
        line.mark_line(interpolate="step-after", strokeWidth=2.5, clip=True)
        .encode(color=colour, opacity=faded)
        .add_params(seen),
        nearest(
            "near",
            line.mark_point(filled=True, size=90, clip=True, color=palette.memory),
            "bytes",
            *("size", "reads that miss"),
        ),
        dots.mark_point(filled=True, size=90, clip=True).encode(tooltip=tooltips("with", "reads that miss")),
    ]
    return alt.layer(*layers).properties(height=_HEIGHT + band).add_params(moved)


def _first_reads(report: Report, palette: Palette) -> Iterator[alt.Chart]:
    """Draw the reads that miss in any cache that starts empty."""
    if not report.get("first_reads"):
        return
    ratio = report["first_reads"] / report["references"]
    text = f"first reads, {words.percent(ratio)}: these miss in any cache that starts empty"
    floor = alt.Chart(data([{"ratio": ratio, "text": text}])).encode(y="ratio:Q")
    yield floor.mark_rule(strokeDash=[2, 3], color=palette.muted)
    yield floor.mark_text(
        align="left", baseline="top", dx=6, dy=5, color=palette.muted, fontSize=11, limit=alt.expr("width - 10")
    ).encode(x=alt.value(0), text="text:N")


def _marked(palette: Palette, ends: tuple[float, float], marks: list[Row], band: float) -> Iterator[alt.Chart]:
    """Draw the sizes that were judged: a rule each, and its words in a row of their own above the curve.

    Words are on the side where there is room, and in an order in which no rule crosses them.
    """
    places = {mark["bytes"]: log2(mark["bytes"] / ends[0]) / log2(ends[1] / ends[0]) for mark in marks}
    to_the_left = [mark for mark in marks if places[mark["bytes"]] > 0.5]  # noqa: PLR2004 - half of the axis
    to_the_right = [mark for mark in marks if mark not in to_the_left]
    for row, mark in enumerate((*reversed(to_the_left), *to_the_right)):
        top = alt.value(row * _ROW_HEIGHT + 8)
        align, dx = ("right", -6) if mark in to_the_left else ("left", 6)
        ink, weight = (palette.good, "bold") if mark["chosen"] else (palette.ink, "normal")
        at = alt.Chart(data([mark])).encode(x="bytes:Q", y=top)
        style: dict[str, Any] = {"align": align, "dx": dx, "baseline": "middle", "fontSize": 11.5, "fontWeight": weight}
        room = max(places[mark["bytes"]], 1 - places[mark["bytes"]])
        style |= {"clip": True, "limit": alt.expr(f"{room:.3f} * width - 8")}
        yield at.mark_rule(strokeDash=[5, 3], color=ink, strokeWidth=1 + mark["chosen"], opacity=0.7, clip=True).encode(
            y2=alt.value(_HEIGHT + band)
        )
        yield at.mark_text(**style, stroke=palette.card, strokeWidth=4, strokeJoin="round").encode(text="text:N")
        yield at.mark_text(**style, color=ink).encode(text="text:N")


def _sentence(report: Report) -> str:
    """Say where the curve ends, and what the ARC that is there is worth."""
    said = []
    if report.get("flat_bytes") and report.get("first_reads"):
        flat, first = words.size(report["flat_bytes"]), words.percent(report["first_reads"] / report["references"])
        said.append(f"Beyond {flat} nothing is gained: what still misses are first reads, {first} of all.")
    if report.get("arc_bytes") and report.get("arc_hit_ratio") is not None:
        arc, missed = words.size(report["arc_bytes"]), words.percent(1 - report["arc_hit_ratio"])
        said.append(f"An LRU cache as large as the ARC, {arc}, misses {missed} of the reads.")
    return " ".join(said) or "The further left the curve falls, the less memory serves this load."


def _row(series: str, size: float, ratio: float) -> Row:
    return {
        "series": series,
        "bytes": size,
        "ratio": ratio,
        "size": words.size(size),
        "reads that miss": words.percent(ratio),
    }

"""The candidates: what each would bring and cost, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from zmysql.report.page import words
from zmysql.report.page.comparison import chosen, comparison, money, shortlist
from zmysql.report.page.figure import (
    AnyChart,
    Figure,
    Missing,
    Panel,
    Report,
    Row,
    data,
    decades_ns,
    log_scale,
    time_axis,
    tooltips,
)

if TYPE_CHECKING:
    from zmysql.report.page.theme import Palette

_KEY, _TITLE = "candidates", "What each candidate would bring and cost"
_STEP = 34
_ROOM = 1.3  # of the largest cost, for its words


def candidates(report: Report, palette: Palette) -> Figure | Missing:
    """Draw mean and tail latency, and cost, of each candidate."""
    found = [one for one in shortlist(report) if one.get("mean_latency_ns")]
    if not found:
        return Missing(_KEY, _TITLE, "This report weighs no candidates against each other.")
    names = [one["name"] for one in found]
    best = chosen(report)
    rows = [_row(one, chosen=one is best) for one in found]
    panels = [Panel("latency of a read: mean (dot) and 99th percentile (tick)", _latencies(rows, names, palette))]
    if any(one.get("cost") for one in found):
        panels.append(Panel("cost", _costs(rows, names, palette)))
    fastest = min(found, key=lambda one: one["mean_latency_ns"])
    table = comparison(report["candidates"])
    return Figure(
        key=_KEY,
        title=_TITLE,
        sentence=f"Fastest on average is “{fastest['name']}” with {words.time(fastest['mean_latency_ns'])} a read.",
        panels=tuple(panels),
        table=table,
        wide=True,
    )


def _latencies(rows: list[Row], names: list[str], palette: Palette) -> AnyChart:
    ends = [row[key] for row in rows for key in ("mean", "tail") if row[key]]
    low, high = min(ends) / 2, max(ends) * 2
    axis, scale = time_axis(None, decades_ns(low, high)), log_scale(low, high, base=10)
    at = alt.Chart(data(rows)).encode(y=_by_name(names), tooltip=tooltips("candidate", "mean read", "99th percentile"))
    mean = alt.X("mean:Q", scale=scale, axis=axis)
    tails = at.transform_filter("isValid(datum.tail)")
    return alt.layer(
        tails.mark_rule(color=palette.quiet, strokeWidth=2).encode(x=mean, x2="tail:Q"),
        tails.mark_tick(color=palette.disk, thickness=3, size=16).encode(x=alt.X("tail:Q", scale=scale, axis=axis)),
        at.mark_point(filled=True, size=120, opacity=1).encode(x=mean, color=_emphasis(palette)),
    ).properties(height=len(names) * _STEP)


def _costs(rows: list[Row], names: list[str], palette: Palette) -> AnyChart:
    known = [row for row in rows if row["price"] is not None]
    most = _ROOM * max(row["price"] for row in known)
    at = alt.Chart(data(known)).encode(
        x=alt.X("price:Q", axis=alt.Axis(title=None, format="$~s", tickCount=4), scale=alt.Scale(domain=[0, most])),
        y=_by_name(names),
    )
    return alt.layer(
        at.mark_bar(height={"band": 0.6}).encode(color=_emphasis(palette), tooltip=tooltips("candidate", "cost")),
        at.mark_text(align="left", dx=5).encode(text="cost:N"),
    ).properties(height=len(names) * _STEP)


def _emphasis(palette: Palette) -> alt.Color:
    return alt.Color(
        "chosen:N", scale=alt.Scale(domain=[True, False], range=[palette.good, palette.quiet]), legend=None
    )


def _by_name(names: list[str]) -> alt.Y:
    axis = alt.Axis(title=None, labelLimit=170, domain=False, ticks=False)
    return alt.Y("candidate:N", sort=names, scale=alt.Scale(domain=names), axis=axis)


def _row(one: Row, *, chosen: bool) -> Row:
    tail, price = one.get("p99_latency_ns"), one.get("cost")
    return {
        "candidate": one["name"],
        "chosen": chosen,
        "mean": one["mean_latency_ns"],
        "tail": tail,
        "price": price,
        "mean read": words.time(one["mean_latency_ns"]),
        "99th percentile": "unknown" if tail is None else words.time(tail),
        "cost": "unknown" if price is None else money(price),
    }

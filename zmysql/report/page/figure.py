"""What a figure of the page consists of, and what several of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Report = Mapping[str, Any]  # the dict of `zmysql locality report -j`
AnyChart = alt.Chart | alt.LayerChart | alt.FacetChart
Row = dict[str, Any]

_SIZE_UNITS = ((1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_TIME_UNITS = ((86_400e9, "days"), (3_600e9, "h"), (60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"))
_STEPS_S = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800),
    *(3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000),
)
_MOST_TICKS = 7


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart of a figure; `label` is over it where there are several."""

    label: str
    chart: AnyChart


@dataclass(frozen=True, slots=True)
class Table:
    """The same data in words; the first column names the row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """Charts, one or two sentences that say what is to be seen in them, and their data as a table.

    `key` is the id in the page and the name of the picture's file; `hint` says what hands can do.
    """

    key: str
    title: str
    sentence: str
    panels: tuple[Panel, ...]
    table: Table
    wide: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """A figure that this report has no data for, and why."""

    key: str
    title: str
    why: str


def data(rows: Iterable[Row]) -> alt.Data:
    """Give rows as the data of a chart, inline."""
    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call] # altair annotates no wrapper


def size_axis(title: str | None = None, *, grid: bool = False, most: float | None = None) -> alt.Axis:
    """Give an axis of bytes that says KiB, MiB, GiB; a linear one up to `most` has its ticks at round sizes."""
    ticks = alt.Undefined if most is None else _round_sizes(most)
    return alt.Axis(title=title, labelExpr=_unit_label(_SIZE_UNITS, "B"), grid=grid, labelFlush=True, values=ticks)


def time_axis(title: str | None, ticks: Sequence[float]) -> alt.Axis:
    """Give an axis of nanoseconds that says ms, s, min, h."""
    return alt.Axis(
        title=title, labelExpr=_unit_label(_TIME_UNITS, "ns"), grid=False, labelFlush=True, values=list(ticks)
    )


def percent_axis(title: str | None = None) -> alt.Axis:
    """Give an axis of ratios that says per cent."""
    return alt.Axis(title=title, format="~%", tickCount=5)


def decades_ns(low_ns: float, high_ns: float) -> list[float]:
    """Give round times within a logarithmic axis: 10 ms, 100 ms, 1 s, 10 s, 1 min, 10 min, 1 h and so on."""
    seconds = [10.0**power for power in range(-9, 2)]
    longer = [60.0, 600.0, 3600.0, 36_000.0, 86_400.0, 864_000.0]
    found = [second * 1e9 for second in (*seconds, *longer) if low_ns <= second * 1e9 <= high_ns]
    return found if len(found) > 1 else [low_ns, high_ns]


def even_ns(span_ns: float) -> list[float]:
    """Give round times within a linear axis from 0."""
    step_ns = next((step * 1e9 for step in _STEPS_S if span_ns <= step * 1e9 * _MOST_TICKS), span_ns / _MOST_TICKS)
    return [step_ns * number for number in range(int(span_ns / step_ns) + 1)]


def log_scale(low: float, high: float, base: int = 2) -> alt.Scale:
    """Give a logarithmic scale from low to high, both above 0."""
    return alt.Scale(type="log", base=base, domain=[low, max(high, low * base)], nice=False)


def tooltips(*fields: str) -> list[alt.Tooltip]:
    """Give a tooltip of these fields, which hold words, under their own names."""
    return [alt.Tooltip(field=field, type="nominal", title=field) for field in fields]


def nearest(name: str, dot: alt.Chart, field: str, *shown: str) -> alt.Chart:
    """Let dots appear, with a tooltip of these fields, at the value of `field` that is nearest to the pointer.

    Vega-Lite 6.4 writes the tooltip of such a chart for the mark, and not for the cell around it that has the pointer
    and the mark as its datum; so it is written out here, for either.
    """
    near = alt.selection_point(
        name=name, nearest=True, on="pointerover", clear="pointerout", fields=[field], empty=False
    )
    words = ", ".join(f"'{one}': (datum.datum || datum)['{one}']" for one in shown)
    chart: alt.Chart = dot.encode(
        opacity=alt.condition(near, alt.value(1), alt.value(0)), tooltip=alt.value(alt.expr(f"{{{words}}}"))
    )
    return chart.add_params(near)


def _unit_label(units: Iterable[tuple[float, str]], least: str) -> str:
    """Give Vega's expression for a value in the largest unit that leaves it at 1 or above."""
    steps = (
        f"datum.value >= {limit:.0f} ? format(datum.value / {limit:.0f}, '.3~r') + ' {name}' : "
        for limit, name in units
    )
    return "datum.value == 0 ? '0' : " + "".join(steps) + f"format(datum.value, '.3~r') + ' {least}'"


def _round_sizes(most_bytes: float) -> list[float]:
    """Give up to five sizes from 0 on, a power of two apart."""
    step = 1
    while step * 4 < most_bytes:
        step *= 2
    return [step * number for number in range(int(most_bytes / step) + 1)]

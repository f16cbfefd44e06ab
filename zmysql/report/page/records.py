"""The records themselves: how often each is read, and of which size they had best be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from zmysql.report.page import words
from zmysql.report.page.figure import Figure, Missing, Panel, Report, Row, Table, data, percent_axis, tooltips
from zmysql.units import format_size

if TYPE_CHECKING:
    from zmysql.report.page.theme import Palette

_TIMES_KEY, _TIMES_TITLE = "reads-per-record", "How often a record is read"
_SIZES_KEY, _SIZES_TITLE = "recordsizes", "What another recordsize would do"
_KINDS = ("of the records", "of the reads")
_HEIGHT = 200
_HOT = 0.1  # of the records


def reads_per_record(report: Report, palette: Palette) -> Figure | Missing:
    """Draw how many records are read once, twice, up to 4, 8, … times, and how many of the reads that makes."""
    counted = sorted((one["times"], one["blocks"]) for one in report.get("reads_per_block") or () if one["blocks"])
    if not counted:
        return Missing(_TIMES_KEY, _TIMES_TITLE, "The report that this page is made from doesn't count it.")
    rows = _by_doubling(counted)
    chart = alt.Chart(data(rows)).encode(
        x=alt.X("times read:N", sort=None, axis=alt.Axis(title="times read", labelAngle=0)),
        xOffset=alt.XOffset("kind:N", sort=list(_KINDS)),
        y=alt.Y("share:Q", axis=percent_axis("share")),
        color=alt.Color("kind:N", scale=alt.Scale(domain=list(_KINDS), range=[palette.quiet, palette.memory])),
        tooltip=tooltips("times read", "kind", "percent"),
    )
    once = next((blocks for times, blocks in counted if times == 1), 0) / sum(blocks for _, blocks in counted)
    hottest = words.percent(_share_of_hottest(counted))
    return Figure(
        key=_TIMES_KEY,
        title=_TIMES_TITLE,
        sentence=(
            f"{words.percent(once)} of the records were read only once. The hottest tenth takes {hottest} of the reads."
        ),
        panels=(Panel(_TIMES_TITLE, chart.mark_bar().properties(height=_HEIGHT)),),
        table=Table(
            ("times read", "records", "of the records", "of the reads"),
            tuple(
                (a["times read"], a["records"], a["percent"], b["percent"])
                for a, b in zip(rows[::2], rows[1::2], strict=True)
            ),
        ),
    )


def recordsizes(report: Report, palette: Palette) -> Figure | Missing:
    """Draw what a cache of the same size would miss, read and keep with records of other sizes."""
    found = sorted(report.get("recordsizes") or (), key=lambda one: one["recordsize"])
    if not found:
        why = (
            "a sample of the blocks has no neighbours to judge by"
            if report.get("sampling") != "1/1"
            else "it has no such figures"
        )
        return Missing(_SIZES_KEY, _SIZES_TITLE, f"This report doesn't say: {why}.")
    rows = [
        {
            "recordsize": f"{format_size(one['recordsize'])}",
            "reads that miss": one["miss_ratio"],
            "bytes read per byte wanted": one["read_amplification"],
            "neighbours read again": one.get("useful_neighbour_ratio"),
            "misses": words.percent(one["miss_ratio"]),
            "amplification": f"{one['read_amplification']:.2f}",
            "useful": _percent_or_none(one.get("useful_neighbour_ratio")),
            "bytes": words.size(one["distinct_bytes"]),
        }
        for one in found
    ]
    panels = (
        _bars(rows, "reads that miss", "misses", palette.memory, percent_axis()),
        _bars(rows, "bytes read per byte wanted", "amplification", palette.disk, alt.Axis(title=None, tickCount=5)),
        _bars(rows, "neighbours read again", "useful", palette.flash, percent_axis()),
    )
    columns = (
        "recordsize",
        "reads that miss",
        "bytes read per byte wanted",
        "neighbours read again",
        "bytes of distinct records",
    )
    table = tuple((row["recordsize"], row["misses"], row["amplification"], row["useful"], row["bytes"]) for row in rows)
    return Figure(
        key=_SIZES_KEY,
        title=_SIZES_TITLE,
        sentence=_sizes_sentence(found),
        panels=panels,
        table=Table(columns, table),
        wide=True,
    )


def _bars(rows: list[Row], field: str, words_field: str, colour: str, axis: alt.Axis) -> Panel:
    chart = alt.Chart(data(row for row in rows if row[field] is not None)).mark_bar(color=colour)
    chart = chart.encode(
        x=alt.X(
            "recordsize:N",
            sort=None,
            axis=alt.Axis(title="recordsize", labelAngle=0, labelOverlap=False),
            scale=alt.Scale(domain=[row["recordsize"] for row in rows]),
        ),
        y=alt.Y(f"{field}:Q", axis=axis, scale=alt.Scale(zero=True)),
        tooltip=[
            alt.Tooltip("recordsize:N", title="recordsize"),
            alt.Tooltip(f"{words_field}:N", title=field),
        ],
    )
    return Panel(field, chart.properties(height=_HEIGHT - 30))


def _sizes_sentence(found: list[Row]) -> str:
    fewest = min(found, key=lambda one: one["miss_ratio"])
    least = min(found, key=lambda one: one["read_amplification"])
    said = (
        f"In a cache of the same size, records of {format_size(fewest['recordsize'])} miss least often"
        f" ({words.percent(fewest['miss_ratio'])} of the reads)"
    )
    if least is fewest:
        return f"{said}, and make the disks read the fewest bytes."
    return (
        f"{said}; those of {format_size(least['recordsize'])} make the disks read the fewest bytes"
        f" ({least['read_amplification']:.2f} for each byte wanted, against {fewest['read_amplification']:.2f})."
    )


def _by_doubling(counted: list[tuple[int, int]]) -> list[Row]:
    """Give two rows a group of 1, 2, 3 to 4, 5 to 8, … times: its share of the records, and of the reads."""
    groups: dict[int, tuple[int, int]] = {}
    for times, blocks in counted:
        records, reads = groups.get((times - 1).bit_length(), (0, 0))
        groups[(times - 1).bit_length()] = records + blocks, reads + times * blocks
    all_records, all_reads = (sum(column) for column in zip(*groups.values(), strict=True))
    rows: list[Row] = []
    for power, (records, reads) in sorted(groups.items()):
        high = 1 << power
        name = str(high) if power <= 1 else words.span(str(high // 2 + 1), str(high))
        for kind, share in zip(_KINDS, (records / all_records, reads / all_reads), strict=True):
            row = {"times read": name, "kind": kind, "share": share, "percent": words.percent(share)}
            rows.append(row | {"records": words.count(records)})
    return rows


def _share_of_hottest(counted: list[tuple[int, int]]) -> float:
    """Give the share of the reads that the hottest tenth of the records takes."""
    left = _HOT * sum(blocks for _, blocks in counted)
    taken = 0.0
    for times, blocks in reversed(counted):
        some = min(float(blocks), left)
        taken += times * some
        left -= some
    return taken / sum(times * blocks for times, blocks in counted)


def _percent_or_none(ratio: float | None) -> str:
    return words.NONE if ratio is None else words.percent(ratio)

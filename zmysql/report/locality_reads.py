"""Recordsizes, objects and working sets of a trace: on the terminal, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from zmysql.errors import printable
from zmysql.report.output import output_version
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rich.console import RenderableType

    from zmysql.locality.objects import Objects
    from zmysql.locality.spatial import Recordsize, Recordsizes
    from zmysql.locality.windows import WorkingSet
    from zmysql.trace.format import Header

_NEARLY = 1.1
_MOST_OBJECTS = 20
_BAR_WIDTH = 30


def recordsizes_json(file: Path, header: Header, found: Recordsizes) -> dict[str, object]:
    """Give the recordsizes as JSON's values: sizes in bytes, ratios as they are; unknown ones with the reason."""
    return {
        **_head("recordsize", file, header),
        "cache_bytes": found.cache_bytes,
        "own_recordsize": found.own_recordsize,
        "references": found.references,
        "recordsizes": [asdict(one) for one in found.known],
        "unknown": [asdict(one) for one in found.unknown],
    }


def objects_json(file: Path, header: Header, found: Objects) -> dict[str, object]:
    """Give the objects as JSON's values."""
    return {
        **_head("objects", file, header),
        "cache_bytes": found.cache_bytes,
        "references": found.references,
        "misses": found.misses,
        "objects": [
            asdict(one) | {"mrc": [{"cache_bytes": size, "miss_ratio": ratio} for size, ratio in one.mrc]}
            for one in found.objects
        ],
    }


def working_set_json(file: Path, header: Header, found: WorkingSet) -> dict[str, object]:
    """Give the working set as JSON's values: times in ns, bytes in real size."""
    return {
        **_head("working-set", file, header),
        "working_set": {"window_ns": found.window_ns, "windows": [asdict(one) for one in found.windows]},
        "curve": [{"window_ns": length, "mean_bytes": size} for length, size in found.curve],
        "inter_reference": [
            {"from_ns": start, "to_ns": end, "references": references}
            for start, end, references in found.inter_reference
        ],
    }


def recordsizes_table(found: Recordsizes) -> RenderableType:
    """Give the recordsizes for rich to print."""
    table = _table("records", "missed", "disk reads", "", "disk bytes", "", "neighbours used")
    for one in found.known:
        own = one.recordsize == found.own_recordsize
        table.add_row(
            format_size(one.recordsize),
            _percent(one.miss_ratio),
            f"{one.disk_reads:,}",
            "" if own else _times(one.disk_reads_ratio),
            format_size(one.disk_read_bytes),
            "" if own else _times(one.disk_read_bytes_ratio),
            "" if one.useful_neighbour_ratio is None else _percent(one.useful_neighbour_ratio),
            style="bold" if own else "",
        )
    title = Text(f"An LRU cache of {format_size(found.cache_bytes)}, with records of at least", style="bold")
    return Group(title, table, *(Text(sentence, style="dim") for sentence in _notes(found)))


def _notes(found: Recordsizes) -> Iterable[str]:
    own = found.own()
    if own is not None:
        yield f"The trace has records of {format_size(own.recordsize)}; x is in comparison with them."
        fewest = min(one.disk_reads for one in found.known)
        # The last tenth often costs twice the bytes.
        best = next(one for one in found.known if one.disk_reads <= _NEARLY * fewest)
        if best.disk_reads < own.disk_reads:
            yield _best(best, own)
    for why in dict.fromkeys(one.why for one in found.unknown):
        sizes = ", ".join(format_size(one.recordsize) for one in found.unknown if one.why == why)
        yield f"{sizes}: {why}."


def _best(best: Recordsize, own: Recordsize) -> str:
    """Say what larger records gain, and why."""
    share = best.first_read_hits / (own.disk_reads - best.disk_reads)
    why = "; neighbours were there before their first read" if share > 0.5 else ""  # noqa: PLR2004 - most of the gain
    return (
        f"With {format_size(best.recordsize)} disks read {own.disk_reads / best.disk_reads:.3g} times less often,"
        f" {best.disk_read_bytes / own.disk_read_bytes:.3g} times the bytes{why}."
    )


def objects_table(found: Objects) -> RenderableType:
    """Give the objects for rich to print."""
    table = _table("reads", "", "read of it", "missed", "of all misses", left="file")
    for one in found.objects[:_MOST_OBJECTS]:
        table.add_row(
            f"{one.references:,}",
            _percent(one.references / found.references),
            format_size(one.distinct_bytes),
            _percent(one.misses / one.references),
            _percent(one.misses / found.misses),
            Text(printable(one.name), overflow="fold"),
        )
    others = found.objects[_MOST_OBJECTS:]
    if others:
        reads, misses = sum(one.references for one in others), sum(one.misses for one in others)
        size = format_size(sum(one.distinct_bytes for one in others))
        shares = _percent(reads / found.references), size, _percent(misses / reads), _percent(misses / found.misses)
        table.add_row(f"{reads:,}", *shares, f"in {len(others)} others")
    title = Text(f"Files that share an LRU cache of {format_size(found.cache_bytes)}", style="bold")
    note = Text("A table's indexes share its file, and can't be told apart.", style="dim")
    return Group(title, table, note)


def working_set_table(found: WorkingSet) -> RenderableType:
    """Give the working set for rich to print."""
    lengths = _table("in", "distinct bytes, on average")
    for length, size in found.curve:
        lengths.add_row(_duration(length), format_size(size))
    again = _table("after", "reads", left="")
    most = max((references for *_, references in found.inter_reference), default=1)
    for start, _, references in found.inter_reference:
        bar = Text("█" * round(references / most * _BAR_WIDTH), style="blue")
        again.add_row(_duration(start), f"{references:,}", bar)
    sizes = [one.distinct_bytes for one in found.windows]
    over_time = (
        f"{len(sizes)} windows of {_duration(found.window_ns)}: {format_size(min(sizes))} to {format_size(max(sizes))}"
        " in each; -j lists them."
    )
    return Group(
        Text("Working set", style="bold"),
        lengths,
        Text(over_time, style="dim"),
        Text("\nRecords are read again", style="bold"),
        again,
    )


def _head(command: str, file: Path, header: Header) -> dict[str, object]:
    version = output_version(f"locality {command}")
    return {"output_version": version, "file": str(file), "sampling": header.sampling}


def _table(*numbers: str, left: str | None = None) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in numbers:
        table.add_column(heading, justify="right")
    if left is not None:
        table.add_column(left)
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"x {ratio:.2f}"


def _duration(time_ns: int) -> str:
    """Give a time in three digits."""
    for unit, length_ns in (
        ("d", 86_400_000_000_000),
        ("h", 3_600_000_000_000),
        ("s", 10**9),
        ("ms", 10**6),
        ("µs", 1000),
    ):
        if time_ns >= length_ns:
            return f"{float(f'{time_ns / length_ns:.3g}'):g} {unit}"
    return f"{time_ns} ns"

"""`zmysql trace info` for people, scripts and programs."""

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
    from collections.abc import Iterator

    from zmysql.trace.format import Header
    from zmysql.trace.info import Counts, Info

_TOP = 10  # files on a screen; JSON and the lines for scripts have all


def of_header(header: Header) -> dict[str, object]:
    """Give what a header says, but for the map of objects, which may have a million."""
    values = asdict(header)
    values["datasets"] = [
        {"objset": objset, "name": dataset.name, "recordsize": dataset.recordsize}
        for objset, dataset in sorted(header.datasets.items())
    ]
    values["objects_named"] = len(header.objects)
    del values["objects"]
    return values


def as_json(info: Info) -> dict[str, object]:
    """Give everything; what needs the engine is null without it."""
    counts = info.counts
    return {
        "output_version": output_version("trace info"),
        "file": str(info.path),
        "file_bytes": info.file_bytes,
        **of_header(info.header),
        "records": info.records,
        "read_bytes": counts and counts.read_bytes,
        "first_ns": counts and counts.first_ns,
        "last_ns": counts and counts.last_ns,
        "out_of_order": counts and counts.out_of_order,
        "classes": counts and dict(counts.classes),
        "objects": counts and [asdict(one) for one in counts.objects],
    }


def as_lines(info: Info) -> Iterator[str]:
    """Give lines of fields with tabs between them; the first says what the others are."""
    for key, value in of_header(info.header).items():
        if key not in ("datasets", "records"):
            yield f"{key}\t{_field(value)}"
    yield f"file_bytes\t{info.file_bytes}"
    yield f"records\t{info.records}"
    for objset, dataset in sorted(info.header.datasets.items()):
        yield f"dataset\t{objset}\t{_field(dataset.name)}\t{dataset.recordsize}"
    if info.counts:
        counts = info.counts
        for key in ("read_bytes", "first_ns", "last_ns", "out_of_order"):
            yield f"{key}\t{getattr(counts, key)}"
        for name, count in counts.classes.items():
            yield f"class\t{name}\t{count}"
        for one in counts.objects:
            yield f"object\t{one.objset}:{one.object}\t{_field(one.path)}\t{one.references}\t{one.read_bytes}"


def for_terminal(info: Info) -> Group:
    """Give a table of the header, one of the classes, and one of the files read most."""
    header = info.header
    facts = _table()
    for name, text in _facts(info):
        facts.add_row(name, Text(printable(text)))
    for objset, dataset in sorted(header.datasets.items()):
        facts.add_row(
            "dataset", Text(printable(f"{dataset.name} ({format_size(dataset.recordsize)} records, {objset})"))
        )
    if not info.counts:
        return Group(facts)
    return Group(facts, "", _classes(info.records, info.counts), "", _files(info.records, info.counts))


def _facts(info: Info) -> Iterator[tuple[str, str]]:
    header, counts = info.header, info.counts
    state = "complete" if header.complete else "cut off: what was kept is read up to its last whole line"
    yield "trace", f"{info.path} ({format_size(info.file_bytes)}, {state})"
    sampled = "" if header.sampling == "1/1" else f", a sample of {header.sampling} of the blocks"
    read = f", {format_size(counts.read_bytes)}" if counts else ""
    yield "records", f"{info.records:,}{read}{sampled}"
    if counts:
        yield "span", f"{(counts.last_ns - counts.first_ns) / 1e9:,.3f} s"
    if counts and counts.out_of_order:
        yield "out of order", f"{counts.out_of_order:,} records are earlier than the one before"
    if header.duration_ns is not None:
        since = f" from {header.started}" if header.started else ""
        yield "duration", f"{header.duration_ns / 1e9:,.3f} s{since}"
    yield "dropped", "unknown" if header.drops is None else f"{header.drops:,} records"
    for name, value in (("host", header.host), ("ended by", header.ended), ("imported from", header.imported)):
        if value is not None:
            yield name, value
    versions = (header.os, header.zfs and f"ZFS {header.zfs}", header.mysql and f"MySQL {header.mysql}")
    if any(versions):
        yield "system", ", ".join(version for version in versions if version)
    sizes = (("ARC", header.arc_bytes), ("L2ARC", header.l2arc_bytes))
    known = [f"{name} {format_size(size)}" for name, size in sizes if size is not None]
    if known:
        yield "caches", ", ".join(known)


def _classes(records: int, counts: Counts) -> Table:
    table = _table("class", "records", "share")
    for name, count in counts.classes.items():
        if count:
            table.add_row(name, f"{count:,}", f"{100 * count / records:.1f} %")
    return table


def _files(records: int, counts: Counts) -> Table:
    table = _table("file", "reads", "share", "bytes")
    for one in counts.objects[:_TOP]:
        name = printable(one.path) if one.path is not None else f"object {one.objset}:{one.object}"
        share = f"{100 * one.references / records:.1f} %"
        table.add_row(Text(name), f"{one.references:,}", share, format_size(one.read_bytes))
    if len(counts.objects) > _TOP:
        table.add_row(Text(f"and {len(counts.objects) - _TOP:,} more"), "", "", "")
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, show_header=bool(headings))
    for number, heading in enumerate(headings or ("", "")):
        table.add_column(heading, justify="right" if headings and number else "left", overflow="fold")
    return table


def _field(value: object) -> str:
    """Write a value so that neither tabs nor newlines in it break the line."""
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else printable(str(value))

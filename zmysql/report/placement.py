"""`zmysql trace files` for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from zmysql.report.output import output_version
from zmysql.units import format_size

if TYPE_CHECKING:
    from pathlib import Path

    from zmysql.locality.placement import Placed


def as_json(path: Path, source: str, placed: tuple[Placed, ...], notes: tuple[str, ...]) -> dict[str, object]:
    """Give everything: one object a class, most transferred bytes first."""
    return {
        "output_version": output_version("trace files"),
        "file": str(path),
        "source": source,
        "classes": [
            {
                "class": one.kind,
                "reads": one.reads,
                "writes": one.writes,
                "read_bytes": one.read_bytes,
                "written_bytes": one.written_bytes,
                "operations": one.reads + one.writes,
                "bytes": one.read_bytes + one.written_bytes,
                "share": one.share,
                "random_share": one.random_share,
                "device": one.device,
                "reason": one.reason,
                "matsunobu": one.classic and {"access": one.classic.access, "device": one.classic.device},
                "agrees": one.agrees,
            }
            for one in placed
        ],
        "notes": list(notes),
    }


def for_terminal(placed: tuple[Placed, ...]) -> Table:
    """Give a table, one row a class."""
    table = Table(box=None, pad_edge=False)
    for heading in ("class", "read", "written", "operations", "random", "device", "Matsunobu 2009", "why"):
        numbers = heading in ("read", "written", "operations", "random")
        table.add_column(heading, justify="right" if numbers else "left", overflow="fold")
    for one in placed:
        classic = f"{one.classic.access}: {one.classic.device}" if one.classic else "-"
        table.add_row(
            one.kind,
            format_size(one.read_bytes),
            format_size(one.written_bytes),
            f"{one.reads + one.writes:,}",
            "-" if one.random_share is None else f"{100 * one.random_share:.0f} %",
            one.device,
            f"{classic} (differs)" if one.agrees is False else classic,
            one.reason,
        )
    return table

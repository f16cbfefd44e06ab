"""What simulations came to: for a terminal, a script, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.table import Table

from zmysql.report.output import output_version
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from zmysql.locality.parameters import Parameters
    from zmysql.locality.simulation import Outcome
    from zmysql.trace.format import Header

_NOT_IN_JSON = "object_misses"
_HEADINGS = ("record", "ARC", "L2ARC", "ARC %", "L2ARC %", "missed %", "read", "written", "headers", "warm in")


def outcome_as_json(outcome: Outcome, recorded: int | None = None) -> dict[str, object]:
    """Give an outcome as JSON's values; `recorded` is the recordsize of blocks that were taken as they were read."""
    values = {name: value for name, value in asdict(outcome).items() if name != _NOT_IN_JSON}
    return {**values, "recordsize": outcome.recordsize or recorded}


def as_json(
    path: Path, header: Header, platform: str, parameters: Parameters, outcomes: Sequence[Outcome]
) -> dict[str, object]:
    """Give all outcomes as JSON's values, beside what they were simulated with."""
    recorded = recorded_size(header)
    return {
        "output_version": output_version("locality simulate"),
        "file": str(path),
        "sampling": header.sampling,
        "platform": platform,
        "parameters": asdict(parameters),
        "simulations": [outcome_as_json(outcome, recorded) for outcome in outcomes],
    }


def recorded_size(header: Header) -> int | None:
    """Give the recordsize of the datasets that were recorded, if they have the same."""
    sizes = {dataset.recordsize for dataset in header.datasets.values()}
    return sizes.pop() if len(sizes) == 1 else None


def as_script(header: Header, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Give a tab-separated line for each outcome; - stands for what isn't known."""
    for outcome in outcomes:
        values = outcome_as_json(outcome, recorded_size(header)).values()
        yield "\t".join("-" if value is None else str(value) for value in values)


def for_terminal(header: Header, outcomes: Sequence[Outcome]) -> Table:
    """Give a table with a row for each outcome: shares of all reads, bytes read from disk and written to the L2ARC."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for outcome in outcomes:
        recordsize = outcome.recordsize or recorded_size(header)
        table.add_row(
            format_size(recordsize) if recordsize else "as read",
            format_size(outcome.arc_bytes),
            format_size(outcome.l2arc_bytes) if outcome.l2arc_bytes else "-",
            _share(outcome.arc_hits, outcome.references),
            _share(outcome.l2arc_hits, outcome.references) if outcome.l2arc_bytes else "-",
            _share(outcome.misses, outcome.references),
            format_size(outcome.disk_read_bytes),
            format_size(outcome.l2arc_written_bytes) if outcome.l2arc_bytes else "-",
            format_size(outcome.l2arc_header_bytes) if outcome.l2arc_bytes else "-",
            _warm_after(outcome),
        )
    return table


def _share(count: int, references: int) -> str:
    return f"{100 * count / references:.2f}" if references else "-"


def _warm_after(outcome: Outcome) -> str:
    if not outcome.l2arc_bytes:
        return "-"
    return "not yet" if outcome.warmup_seconds is None else f"{outcome.warmup_seconds:.0f} s"

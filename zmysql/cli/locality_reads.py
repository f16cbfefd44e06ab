"""`zmysql locality recordsize`, `objects` and `working-set`: one analysis of a trace each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from zmysql.errors import UsageError
from zmysql.locality.objects import MOST_CURVES, objects
from zmysql.locality.reads import load
from zmysql.locality.spatial import recordsizes
from zmysql.locality.windows import working_set
from zmysql.report import locality_reads as report
from zmysql.trace.format import Header, read_header
from zmysql.units import parse_duration, parse_size

if TYPE_CHECKING:
    from rich.console import RenderableType

_file = click.argument("file", type=click.Path(path_type=Path))
_json = click.option("-j", "--json", "wants_json", is_flag=True, help="Print JSON only.")
_cache = click.option(
    "--cache", type=parse_size, metavar="SIZE", help="An LRU cache of this size.  [default: ARC and L2ARC as recorded]"
)


@click.command("recordsize")
@_file
@_cache
@_json
def recordsize(file: Path, cache: int | None, wants_json: bool) -> None:  # noqa: FBT001 - click's parameter
    """Say what records of 16K to 1M would change: reads from disk, their bytes, and what neighbours bring.

    Each size has the same cache. Larger records pay where disk reads fall by more than their bytes cost.
    """
    header = read_header(file)
    cache_bytes = _cache_bytes(header, cache)
    found = recordsizes(load(file, header), header, cache_bytes=cache_bytes)
    _say(wants_json, report.recordsizes_json(file, header, found), report.recordsizes_table(found))


@click.command("objects")
@_file
@_cache
@click.option(
    "--curves", type=click.IntRange(0), default=MOST_CURVES, show_default=True, help="Of how many to give the curve."
)
@_json
def objects_(file: Path, cache: int | None, curves: int, wants_json: bool) -> None:  # noqa: FBT001 - as above
    """List the tables and other files that are read, with their reads, sizes and misses.

    A table's indexes share its file, and can't be told apart; full-text indexes have files of their own.
    """
    header = read_header(file)
    cache_bytes = _cache_bytes(header, cache)
    found = objects(load(file, header), header, cache_bytes=cache_bytes, curves=curves)
    _say(wants_json, report.objects_json(file, header, found), report.objects_table(found))


@click.command("working-set")
@_file
@click.option("--window", type=parse_duration, metavar="TIME", help="Length of a window.  [default: 1/60, rounded]")
@_json
def working_set_(file: Path, window: float | None, wants_json: bool) -> None:  # noqa: FBT001 - as above
    """Say how many bytes are read in windows of time, and how soon records are read again."""
    header = read_header(file)
    window_ns = None if window is None else round(window * 1e9)
    found = working_set(load(file, header), header, window_ns)
    _say(wants_json, report.working_set_json(file, header, found), report.working_set_table(found))


commands = (recordsize, objects_, working_set_)


def _cache_bytes(header: Header, given: int | None) -> int:
    """Take the size that was given, or the caches of the machine that was recorded."""
    if given == 0:
        raise UsageError("a cache of 0 bytes holds nothing: say a size such as 4G")
    recorded = (header.arc_bytes or 0) + (header.l2arc_bytes or 0)
    if given is None and not recorded:
        raise UsageError("the trace doesn't say how large the caches were: say --cache SIZE, such as --cache 4G")
    return given or recorded


def _say(wants_json: bool, values: dict[str, object], table: RenderableType) -> None:  # noqa: FBT001 - as above
    if wants_json:
        click.echo(json.dumps(values, indent=2))
    else:
        Console(highlight=False).print(table)

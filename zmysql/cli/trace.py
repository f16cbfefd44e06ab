"""`zmysql trace`."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.status import Status

from zmysql.cli.record import record_
from zmysql.cli.trace_doctor import doctor
from zmysql.cli.trace_files import files
from zmysql.errors import UsageError
from zmysql.locality.names import data_directories, name_of
from zmysql.report.output import output_version
from zmysql.report.trace import as_json, as_lines, for_terminal, of_header
from zmysql.trace import export, importer
from zmysql.trace.cut import Part, cut_trace, objects_at, objsets_named
from zmysql.trace.format import Header, read_header
from zmysql.trace.info import read_info
from zmysql.trace.merge import merge_traces
from zmysql.units import format_size, parse_duration, parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FILE = click.Path(path_type=Path)
_json_option = click.option("-j", "--json", "wants_json", is_flag=True, help="Print JSON only.")
_overwrite_option = click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")


@click.group()
def trace() -> None:
    """Record which records mysqld reads, bring in traces from elsewhere, and work on them."""


trace.add_command(record_)
trace.add_command(doctor)
trace.add_command(files)


@trace.command("import")
@click.option(
    "--format", "kind", type=click.Choice(importer.FORMATS), default="csv", show_default=True, help="What IN is."
)
@click.option(
    "--columns",
    metavar="NAMES",
    help="The columns of a CSV in their order: time (ns), object (any text), offset and size (bytes); - ignores one."
    f"  [default: {','.join(importer.NEEDED)}]",
)
@click.option(
    "--recordsize", type=parse_size, metavar="SIZE", help="The record size of ZFS to judge for.  [default: 16K]"
)
@_overwrite_option
@_json_option
@click.argument("source", metavar="IN", type=_FILE)
@click.argument("target", metavar="OUT", type=_FILE)
def import_(
    kind: str,
    columns: str | None,
    recordsize: int | None,
    source: Path,
    target: Path,
    *,
    overwrite: bool,
    wants_json: bool,
) -> None:
    """Write the reads in IN as a trace OUT that `zmysql locality report` reads.

    IN may be compressed with gzip or zstd; - is standard input. A first row that equals the column names is skipped. An
    access that spans several records reads each of them; one of 0 bytes reads none. What each format can carry is in
    docs/trace-format.md.
    """
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    wanted = importer.foreign(source, kind, names, recordsize)
    with _counted() as progress:
        done = importer.import_trace(wanted, target, overwrite=overwrite, progress=progress)
    found = done.found
    if wants_json:
        counts = {"accesses": found.accesses, "empty_accesses": found.empty_accesses, "skipped": dict(found.skipped)}
        _print_made("trace import", target, done.header, counts)
        return
    if found.empty_accesses:
        _say(f"accesses of 0 bytes, which read no record: {found.empty_accesses}")
    for what, count in found.skipped.items():
        _say(f"left out, {what}: {count}")
    if found.drops:
        _say(f"warning: between the captures {found.drops} reads were lost")
    click.echo(f"{target}: {done.header.records} records read by {found.accesses} accesses", err=True)


@trace.command("export")
@click.option(
    "--format", "kind", type=click.Choice(list(export.FORMATS)), help="What OUT will be.  [default: as its name ends]"
)
@_overwrite_option
@_json_option
@click.argument("source", metavar="FILE", type=_FILE)
@click.argument("target", metavar="OUT", type=_FILE)
def export_(kind: str | None, source: Path, target: Path, *, overwrite: bool, wants_json: bool) -> None:
    """Write the trace FILE for other programs.

    Parquet has all columns (and needs pyarrow, the extra zmysql[export]), oracleGeneral is what libCacheSim reads, and
    CSV is what `zmysql trace import` reads.
    """
    kind = kind or export.format_by_name(target)
    with _counted() as progress:
        done = export.export_trace(source, target, kind, overwrite=overwrite, progress=progress)
    if wants_json:
        figures = {"records": done.records, "left_out": done.left_out, "file_bytes": done.file_bytes}
        click.echo(
            json.dumps({"output_version": output_version("trace export"), "file": str(target), **figures}, indent=2)
        )
        return
    if done.left_out:
        _say(f"left out, indirect blocks, prefetches and writes, which {kind} has no place for: {done.left_out}")
    size = f"{format_size(done.file_bytes)}, {done.file_bytes / max(done.records, 1):.1f} B each"
    click.echo(f"{target}: {done.records} records, {size}", err=True)


@trace.command()
@_json_option
@click.option("-H", "to_script", is_flag=True, help="Print tab-separated lines without headings.")
@click.argument("file", type=_FILE)
def info(file: Path, *, wants_json: bool, to_script: bool) -> None:
    """Say what the trace FILE is: where it is from, its records by class, its datasets, and the files read most.

    Without the engine it is what the header says.
    """
    if wants_json and to_script:
        raise UsageError("-j and -H print different things: ask for one of them")
    found = read_info(file)
    if wants_json:
        click.echo(json.dumps(as_json(found), indent=2))
    elif to_script:
        for line in as_lines(found):
            click.echo(line)
    else:
        Console(highlight=False).print(for_terminal(found))


@trace.command()
@click.option("--from", "start", type=parse_duration, metavar="TIME", help="Keep what comes this long after the start.")
@click.option("--to", "end", type=parse_duration, metavar="TIME", help="Keep what comes before this.")
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="Keep this dataset; may be repeated.")
@click.option("--table", "tables", multiple=True, metavar="SCHEMA.TABLE", help="Keep this table; may be repeated.")
@click.option("--object", "objects", multiple=True, metavar="PATH", help="Keep this file; may be repeated.")
@_overwrite_option
@_json_option
@click.argument("source", metavar="FILE", type=_FILE)
@click.argument("target", metavar="OUT", type=_FILE)
def cut(
    source: Path,
    target: Path,
    *,
    start: float | None,
    end: float | None,
    datasets: tuple[str, ...],
    tables: tuple[str, ...],
    objects: tuple[str, ...],
    overwrite: bool,
    wants_json: bool,
) -> None:
    """Write a part of the trace FILE as a trace OUT: some time of it, some datasets, some tables or files.

    Times count from the start of the trace, and in OUT from the start of the part. A table is kept with all of its
    partitions, --object takes a path or an address such as 54:128.
    """
    header = read_header(source)
    kept = objects_at(header, source, objects) | _of_tables(header, source, tables)
    part = Part(
        from_ns=round((start or 0) * 1e9),
        to_ns=None if end is None else round(end * 1e9),
        objsets=objsets_named(header, source, datasets) if datasets else None,
        objects=kept if objects or tables else None,
    )
    with _counted() as progress:
        done = cut_trace(source, target, part, overwrite=overwrite, progress=progress)
    _report("trace cut", target, done, wants_json=wants_json)


@trace.command()
@_overwrite_option
@_json_option
@click.argument("sources", metavar="FILE…", type=_FILE, nargs=-1, required=True)
@click.argument("target", metavar="OUT", type=_FILE)
def merge(sources: tuple[Path, ...], target: Path, *, overwrite: bool, wants_json: bool) -> None:
    """Write the traces FILE… of one host as one trace OUT, in the order of their times."""
    with _counted() as progress:
        done = merge_traces(sources, target, overwrite=overwrite, progress=progress)
    _report("trace merge", target, done, wants_json=wants_json)


def _of_tables(header: Header, source: Path, tables: tuple[str, ...]) -> frozenset[tuple[int, int]]:
    """Give the files of tables, their partitions included."""
    directories = data_directories(header.objects.values())
    names = {address: name_of(path, directories).text or "" for address, path in header.objects.items()}
    found: set[tuple[int, int]] = set()
    for table in tables:
        here = {at for at, name in names.items() if name == table or name.startswith(f"{table} PARTITION ")}
        if not here:
            raise UsageError(f"{source} names no file of a table {table!r}: `zmysql trace info {source}` lists files")
        found |= here
    return frozenset(found)


def _report(command: str, target: Path, header: Header, *, wants_json: bool) -> None:
    if wants_json:
        _print_made(command, target, header, {})
    else:
        seconds = (header.duration_ns or 0) / 1e9
        click.echo(f"{target}: {header.records} records of {seconds:.1f} s", err=True)


def _print_made(command: str, target: Path, header: Header, more: dict[str, object]) -> None:
    made = {"output_version": output_version(command), "file": str(target), **of_header(header), **more}
    click.echo(json.dumps(made, indent=2))


def _say(text: str) -> None:
    click.echo(f"zmysql: {text}", err=True)


@contextmanager
def _counted() -> Iterator[Callable[[int], None]]:
    """Show on a terminal how many records are written."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with Status("reading", console=console) as status:
        yield lambda records: status.update(f"{records} records")

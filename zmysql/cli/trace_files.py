"""`zmysql trace files`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from zmysql.errors import ZmysqlError
from zmysql.locality.names import Kind, data_directories, name_of
from zmysql.locality.placement import Use, place
from zmysql.report.placement import as_json, for_terminal
from zmysql.trace.format import read_header
from zmysql.trace.info import read_info
from zmysql.trace.script_output import ScriptFile, is_script_file, read_script_file

if TYPE_CHECKING:
    from collections.abc import Iterator

_READS_ONLY = "a trace has reads only, so what is written isn't judged"


@click.command()
@click.option("-j", "--json", "wants_json", is_flag=True, help="Print JSON only.")
@click.argument("file", type=click.Path(path_type=Path))
def files(file: Path, *, wants_json: bool) -> None:
    """Say which classes of MySQL's files belong on SSD and which on HDD, by what was read and written of them.

    FILE is a trace, so it is by reads alone.
    """
    if is_script_file(file):
        recorded = read_script_file(file)
        source, uses = recorded.script, uses_of_script(file, recorded)
    else:
        source, uses = "blkaccess", uses_of_trace(file)
    placed = place(uses)
    notes = (_READS_ONLY,) if source == "blkaccess" else ()
    if wants_json:
        click.echo(json.dumps(as_json(file, source, placed, notes), indent=2))
        return
    Console(highlight=False).print(for_terminal(placed))
    for note in notes:
        click.echo(f"zmysql: {note}", err=True)


def uses_of_script(path: Path, recorded: ScriptFile) -> Iterator[Use]:
    """Yield what filerw counted, by the classes that whole paths tell, and its own where there is none."""
    if recorded.script != "filerw":
        raise ZmysqlError(f"{path} is the output of {recorded.script}, which counts no files: name a trace")
    objects = recorded.facts.get("objects")
    paths = objects if isinstance(objects, dict) else {}
    directories = data_directories(paths.values())
    try:
        output = recorded.output
        for values in output.rows:
            row = dict(zip(output.columns, values, strict=True))
            path_there = paths.get(f"{row['objset']}:{row['object']}")
            kind = name_of(path_there, directories).kind if path_there else Kind.OTHER
            random = int(row["operations"]) - int(row["sequential"]) - int(row["overlapping"])
            yield Use(
                kind=Kind(str(row["class"])) if kind is Kind.OTHER else kind,
                written=row["direction"] == "write",
                operations=int(row["operations"]),
                random=random,
                transferred_bytes=int(row["bytes"]),
            )
    except (KeyError, ValueError) as error:
        raise ZmysqlError(f"{path} is damaged: {error}; record it again") from None


def uses_of_trace(path: Path) -> Iterator[Use]:
    """Yield the reads of a trace's objects."""
    found = read_info(path)
    if found.counts is None:
        why = "it has no records" if found.records == 0 else "the engine isn't built"
        raise ZmysqlError(f"{path} can't be counted: {why}")
    directories = data_directories(read_header(path).objects.values())
    for one in found.counts.objects:
        kind = name_of(one.path, directories).kind
        yield Use(kind, False, one.references, one.references - one.sequential, one.read_bytes)

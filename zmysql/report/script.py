"""What a script printed, for people and programs: objects by their names, and numbers aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from zmysql.errors import printable
from zmysql.locality.names import data_directories, name_of
from zmysql.report.output import output_version

if TYPE_CHECKING:
    from pathlib import Path

    from zmysql.trace.script_output import Output, ScriptFile

_TOP = 30  # rows on a screen; JSON and the file have all
_ADDRESS = ("objset", "object")


def as_json(file: ScriptFile, path: Path) -> dict[str, object]:
    """Give everything: rows as objects by the script's column names, with the path of what has an address."""
    output = file.output
    names = _names(file)
    rows = [dict(zip(output.columns, row, strict=True)) for row in output.rows]
    for row in rows:
        if _ADDRESS[0] in row:
            row["path"] = names.get(f"{row.get('objset')}:{row.get('object')}", "")
    facts = {key: value for key, value in file.facts.items() if key != "objects"}
    return {
        "output_version": output_version("trace record"),
        "file": str(path),
        "script": file.script,
        "sampling": f"1/{output.rate}",
        **facts,
        "rows": rows,
        "notes": list(output.notes),
        "histograms": list(output.drawn),
    }


def for_terminal(file: ScriptFile) -> Group:
    """Give the table, the histograms as the tracer drew them, and what the script says in words."""
    output = file.output
    table = Table(box=None, pad_edge=False)
    for at, column in enumerate(output.columns):
        numbers = all(isinstance(row[at], int) for row in output.rows)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in _shown(file, output):
        table.add_row(*(Text(printable(f"{value:,}" if isinstance(value, int) else value)) for value in row))
    beyond = [Text(f"and {len(output.rows) - _TOP} rows more, in the file")] if len(output.rows) > _TOP else []
    drawn = [Text("\n".join(output.drawn))] if output.drawn else []
    said = [Text(note) for note in output.notes if note not in output.drawn]
    return Group(table, *beyond, *drawn, *said)


def _shown(file: ScriptFile, output: Output) -> list[tuple[int | str, ...]]:
    """Give the rows with the largest counts first, and the tables' names where rows have addresses."""
    rows = output.rows
    if not set(_ADDRESS) <= set(output.columns):
        return list(rows[:_TOP])
    objset, number = (output.columns.index(name) for name in _ADDRESS)
    paths = _names(file)
    directories = data_directories(paths.values())
    named = []
    for row in rows[:_TOP]:
        path = paths.get(f"{row[objset]}:{row[number]}")
        name = name_of(path, directories).text if path else None
        named.append((*row[:-1], name or row[-1]))
    return named


def _names(file: ScriptFile) -> dict[str, str]:
    objects = file.facts.get("objects")
    return {str(key): str(path) for key, path in objects.items()} if isinstance(objects, dict) else {}

"""`zmysql trace doctor`."""

from __future__ import annotations

import json
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from zmysql.errors import ZmysqlError, printable
from zmysql.host import Local
from zmysql.report.output import output_version
from zmysql.trace.doctor import Diagnosis, State, diagnose

_STYLES = {State.OK: "green", State.WARNING: "yellow", State.UNPROVEN: "yellow", State.MISSING: "red"}


@click.command()
@click.option("--pid", type=click.IntRange(min=1), metavar="PID", help="The process to trace, if not the one mysqld.")
@click.option("-j", "--json", "wants_json", is_flag=True, help="Print JSON only.")
def doctor(pid: int | None, *, wants_json: bool) -> None:
    """Say what can be traced here, with what, and what to install or set.

    Looks only. The exit status is 0 where `zmysql trace record` can run, and 1 where it can't.
    """
    found = diagnose(Local(), pid)
    if wants_json:
        said = {"findings": [asdict(finding) for finding in found.findings], "tracers": found.tracers}
        click.echo(json.dumps({"output_version": output_version("trace doctor"), **said}, indent=2))
    else:
        Console(highlight=False).print(_table(found))
    if not found.tracers:
        first = next((one for one in found.findings if one.state is not State.OK), None)
        raise ZmysqlError(f"nothing can be recorded here{f': {first.says}; {first.todo}' if first else ''}")
    if not wants_json:
        click.echo(f"`zmysql trace record` would use {found.tracers[0]}")


def _table(found: Diagnosis) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for overflow in ("fold",) * 3:
        table.add_column(overflow=overflow)
    for one in found.findings:
        text = Text(printable(one.says))
        if one.todo:
            text.append(f"\n-> {printable(one.todo)}")
        table.add_row(Text(one.state, style=_STYLES[one.state]), one.name, text)
    return table

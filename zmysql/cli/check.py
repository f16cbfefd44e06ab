"""`zmysql check`: an audit of a pool, and of the server on it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.console import Console

from zmysql.check.audit import audit
from zmysql.check.read import DEFAULT_DWPD, Question, read_facts
from zmysql.cli.hosts import on_host
from zmysql.errors import UsageError
from zmysql.mysql.client import parse_dsn
from zmysql.report.check import as_json, as_lines, for_terminal

if TYPE_CHECKING:
    from zmysql.host import Host
    from zmysql.mysql.client import Dsn

_WIDEST = 110  # longer lines are hard to read


@click.command()
@click.argument("pool")
@click.option(
    "--mysql",
    "dsn",
    type=parse_dsn,
    metavar="DSN",
    help="The server on the pool, seen from its host: mysql://[user[:password]@][host[:port]]/[?socket=PATH].",
)
@click.option(
    "--dwpd",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT_DWPD,
    show_default=True,
    metavar="N",
    help="How often a day the SSDs may be written whole: see their data sheet.",
)
@click.option("-j", "--json", "to_json", is_flag=True, help="Print JSON.")
@click.option("-H", "to_script", is_flag=True, help="Print tab-separated lines without headings.")
@on_host
def check(pool: str, dsn: Dsn | None, dwpd: float, host: Host, *, to_json: bool, to_script: bool) -> int:
    """Audit POOL, the pools of its layout, and the server on them: against its template, and against what is known.

    Each finding says what was seen and where, why it matters, and the commands that mend it, for root on the pool's
    machine; nothing is changed. Works on pools that zmysql didn't create too. Without --mysql, what only the server can
    tell isn't checked.

    Ends with status 0 when nothing was found but notes, 1 when something was, 2 when it couldn't be asked so.
    """
    if to_json and to_script:
        raise UsageError("-j and -H print different things: ask for one of them")
    report = audit(read_facts(host, Question(pool, dsn, dwpd)))
    if to_json:
        click.echo(json.dumps(as_json(report), indent=2))
    elif to_script:
        for line in as_lines(report):
            click.echo(line)
    else:
        console = Console(highlight=False)
        width = min(console.width, _WIDEST) if console.is_terminal else _WIDEST
        console.print(for_terminal(report, width), soft_wrap=True)
    return 0 if report.is_clean else 1

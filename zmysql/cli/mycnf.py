"""`zmysql mycnf`, `udev-rules` and `redo-size`: what goes with a layout outside ZFS."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.console import Console

from zmysql.cli.hosts import on_host
from zmysql.errors import UsageError
from zmysql.layout.plan import check_pool_name
from zmysql.mysql.client import parse_dsn
from zmysql.mysql.mycnf import arc_text, render
from zmysql.mysql.redo import measure, size_redo
from zmysql.mysql.served import contradictions, disks_of, read_layout, read_pools
from zmysql.mysql.server import SERVERS, parse_server
from zmysql.mysql.sizing import plan_memory
from zmysql.platforms.system import system_of
from zmysql.platforms.udev import rules
from zmysql.report import mycnf as report
from zmysql.report import redo
from zmysql.units import parse_duration, parse_size

if TYPE_CHECKING:
    from rich.table import Table

    from zmysql.host import Host
    from zmysql.mysql.served import ServedLayout
    from zmysql.mysql.sizing import Budget

_WIDE = 160


@click.command()
@click.argument("pool")
@click.option("--server", required=True, metavar="SERVER", help=f"Flavour and version: {', '.join(SERVERS)}.")
@click.option("--memory", type=parse_size, metavar="SIZE", help="What mysqld may use, without the ARC.")
@click.option("--ram", type=parse_size, metavar="SIZE", help="What all share; else the machine's memory.")
@click.option("--explain", "to_explain", is_flag=True, help="Print a table: variable, value, default, why, source.")
@click.option("--arc", "to_arc", is_flag=True, help="Print the system's file that caps the ARC instead.")
@click.option("-j", "--json", "to_json", is_flag=True, help="Print JSON.")
@on_host
def mycnf(
    pool: str,
    server: str,
    memory: int | None,
    ram: int | None,
    host: Host,
    *,
    to_explain: bool,
    to_arc: bool,
    to_json: bool,
) -> None:
    """Print the my.cnf that goes with the layout POOL as it is now.

    With --memory, mysqld has that, and the ARC what the machine has left. Without it, the memory is divided between
    both, by what the layout's caches are good for.
    """
    if to_explain + to_arc + to_json > 1:
        raise UsageError("--explain, --arc and -j print different things: ask for one of them")
    of = parse_server(server)
    served = read_layout(host, check_pool_name(pool))
    budget = _budget(served, memory, ram)
    if to_json:
        click.echo(json.dumps(report.as_json(of, served, budget), indent=2))
    elif to_explain:
        _print(report.as_table(of, served, budget))
    elif to_arc:
        click.echo(arc_text(served.system, budget), nl=False)
    else:
        click.echo(render(server, served, budget), nl=False)
    for contradiction in contradictions(served):
        click.echo(f"zmysql: {contradiction}", err=True)


def _budget(served: ServedLayout, memory: int | None, ram: int | None) -> Budget:
    """Divide the memory; a --memory that doesn't fit into this machine may be meant for another one."""
    if memory is None or ram is not None:
        return plan_memory(served, memory, served.ram_bytes if ram is None else ram)
    try:
        return plan_memory(served, memory, served.ram_bytes)
    except UsageError as error:
        budget = plan_memory(served, memory, None)
        click.echo(f"zmysql: no cap for the ARC: {error}", err=True)
        return budget


def _print(table: Table) -> None:
    """Print a table as wide as the terminal, and into a file or pipe as wide as is read well."""
    console = Console()
    (console if console.is_terminal else Console(width=_WIDE)).print(table)


@click.command("udev-rules")
@click.argument("pool")
@on_host
def udev_rules(pool: str, host: Host) -> None:
    """Print udev rules that tune Linux's block queues for the disks of the layout POOL.

    Disks are found by serial number. The file's first line says where it goes; its comments say what is left alone.
    """
    pools = read_pools(host, check_pool_name(pool))
    system = system_of(host)
    if system.name != "linux":
        raise UsageError(f"{host.name} runs {system.name}: udev and its block queues are Linux's")
    disks = system.disks(host)
    of_layout = [disk for one in pools for of_role in disks_of(one, disks).values() for disk in of_role]
    click.echo(rules(pool, of_layout), nl=False)


@click.command("redo-size")
@click.option(
    "--mysql", "dsn", required=True, metavar="DSN", help="mysql://[user[:password]@][host[:port]]/[?socket=…]"
)
@click.option("--minutes", type=click.IntRange(1, 24 * 60), default=1, metavar="N", help="How long to measure; 1.")
@click.option("--recovery", type=parse_duration, metavar="TIME", help="How long a crash recovery may take, such as 5m.")
@click.option("-j", "--json", "to_json", is_flag=True, help="Print JSON.")
@on_host
def redo_size(dsn: str, minutes: int, recovery: float | None, host: Host, *, to_json: bool) -> None:
    """Size the redo log of a running server, from what it writes and what recovery may take.

    It looks at Innodb_os_log_written once a minute, and takes an hour of the busiest minute: run it at the busiest
    time of day. The server is asked by the mysql or mariadb client of the host.
    """
    measured = measure(host, parse_dsn(dsn), minutes, lambda step: click.echo(step, err=True))
    advice = size_redo(measured, recovery)
    if to_json:
        click.echo(json.dumps(redo.as_json(measured, advice), indent=2))
        return
    for line in redo.as_text(measured, advice):
        click.echo(line)

"""`zmysql devices`, `templates` and `mycnf`; `create-pool` is in a module of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from zmysql.cli.create_pool import create_pool
from zmysql.host import Local
from zmysql.layout.inventory import with_pools
from zmysql.layout.plan import check_pool_name
from zmysql.layout.template import load_template, template_names
from zmysql.mysql.mycnf import contradictions, read_served_pool, render
from zmysql.mysql.server import SERVERS, check_server
from zmysql.platforms import linux
from zmysql.report.output import output_version
from zmysql.units import format_size, parse_size
from zmysql.zfs.read import ZfsMissing, imported_pools

if TYPE_CHECKING:
    from zmysql.platforms.device import Device


_WIDE = 1000


@click.command()
@click.option("-j", "as_json", is_flag=True, help="Print JSON.")
def devices(*, as_json: bool) -> None:
    """List disks: class, size, sectors, serial, stable name, and what uses them."""
    host = Local()
    try:
        pools = imported_pools(host)
    except ZfsMissing as missing:
        # Disks can be looked at without ZFS; labels of pools are seen all the same.
        click.echo(f"zmysql: {missing}", err=True)
        pools = ()
    found = with_pools(linux.disks(host), pools)
    if as_json:
        content = {"output_version": output_version("devices"), "devices": [_as_json(one) for one in found]}
        click.echo(json.dumps(content, indent=2))
    else:
        _print(_as_table(found))


@click.command()
@click.argument("name", required=False)
def templates(name: str | None) -> None:
    """List the templates, or show one with the thoughts behind it."""
    if name is not None:
        click.echo(load_template(name).text, nl=False)
        return
    table = Table("template", "what it lays out", box=None, pad_edge=False, header_style="bold")
    for known in template_names():
        table.add_row(known, load_template(known).description)
    _print(table)
    click.echo("\n`zmysql templates NAME` shows one; `zmysql create-pool POOL -t NAME -n` shows what it would do here.")


@click.command()
@click.argument("pool")
@click.option("--server", required=True, metavar="SERVER", help=f"Flavour and version: {', '.join(SERVERS)}.")
@click.option("--memory", required=True, type=parse_size, metavar="SIZE", help="What mysqld may use, without the ARC.")
def mycnf(pool: str, server: str, memory: int) -> None:
    """Print the my.cnf that goes with POOL as it is now."""
    check_server(server)
    served = read_served_pool(Local(), check_pool_name(pool))
    click.echo(render(server, served, memory), nl=False)
    for contradiction in contradictions(served):
        click.echo(f"zmysql: {contradiction}", err=True)


def _as_json(device: Device) -> dict[str, object]:
    return {
        "name": device.name,
        "path": device.path,
        "class": device.media,
        "size_bytes": device.size_bytes,
        "sector_bytes": {"logical": device.logical_sector_bytes, "physical": device.physical_sector_bytes},
        "transport": device.transport,
        "vendor": device.vendor,
        "model": device.model,
        "serial": device.serial,
        "wwn": device.wwn,
        "removable": device.removable,
        "by_id": device.by_id,
        "used_by": [str(use) for use in device.used_by],
    }


def _as_table(found: tuple[Device, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("disk", "class", "size", "sectors", "serial"):
        table.add_column(heading, no_wrap=True)
    table.add_column("by-id", overflow="fold")
    table.add_column("used by")
    for one in found:
        table.add_row(
            one.name,
            one.media,
            format_size(one.size_bytes),
            f"{one.logical_sector_bytes}/{one.physical_sector_bytes}",
            one.serial or "-",
            one.by_id.rsplit("/", 1)[1] if one.by_id else "-",
            ", ".join(map(str, one.used_by)) or "free",
        )
    return table


def _print(table: Table) -> None:
    """Print a table as wide as the terminal, and into a file or pipe as wide as it is."""
    console = Console()
    (console if console.is_terminal else Console(width=_WIDE)).print(table)


commands: tuple[click.Command, ...] = (devices, templates, create_pool, mycnf)

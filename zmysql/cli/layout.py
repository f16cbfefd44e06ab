"""`zmysql devices` and `templates`; `create-pool` and `mycnf` are in modules of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from zmysql.cli.hosts import on_host
from zmysql.cli.measure import measure_devices
from zmysql.errors import UsageError
from zmysql.layout.inventory import with_pools
from zmysql.layout.template import load_template, template_names
from zmysql.platforms.system import system_of
from zmysql.report.output import output_version
from zmysql.units import format_size, parse_duration
from zmysql.zfs.read import ZfsMissing, imported_pools

if TYPE_CHECKING:
    from zmysql.host import Host
    from zmysql.platforms.device import Device


_WIDE = 1000


@click.command()
@click.option("-j", "--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-H", "as_script", is_flag=True, help="Print tab-separated lines without headings, sizes in bytes.")
@click.option("--measure", "wants_measure", is_flag=True, help="Measure the disks with fio, which only reads.")
@click.option(
    "--duration",
    type=parse_duration,
    default="10s",
    show_default=True,
    metavar="TIME",
    help="How long each of a measurement's two steps takes.",
)
@click.argument("names", nargs=-1, metavar="[DISK|PATH]...")
@on_host
def devices(
    host: Host,
    names: tuple[str, ...],
    duration: float,
    *,
    as_json: bool,
    as_script: bool,
    wants_measure: bool,
) -> None:
    """List disks: class, size, sectors, serial, stable name, and what uses them.

    With --measure: random reads of 16K from each DISK named, or a file's PATH, or all disks, first one at a time, then
    32 in flight. What is printed is a model of the device for `zmysql locality report --prices FILE`.
    """
    if wants_measure:
        if as_script:
            raise UsageError("--measure prints TOML, or JSON with -j: drop -H")
        measure_devices(host, names, duration, as_json=as_json)
        return
    if names:
        raise UsageError(f"{names[0]}: all disks are listed, and none is to be named; to measure one, add --measure")
    try:
        pools = imported_pools(host)
    except ZfsMissing as missing:
        # Disks can be looked at without ZFS; labels of pools are seen all the same.
        click.echo(f"zmysql: {missing}", err=True)
        pools = ()
    found = with_pools(system_of(host).disks(host), pools)
    if as_json:
        content = {"output_version": output_version("devices"), "devices": [_as_json(one) for one in found]}
        click.echo(json.dumps(content, indent=2))
    elif as_script:
        for one in found:
            click.echo("\t".join(_as_fields(one)))
    else:
        _print(_as_table(found))


@click.command()
@click.argument("name", required=False)
@click.option("-H", "as_script", is_flag=True, help="Print tab-separated lines without headings.")
def templates(name: str | None, *, as_script: bool) -> None:
    """List the templates, or show one with the thoughts behind it. NAME is a template's, or a file's path."""
    if name is not None:
        click.echo(load_template(name).text, nl=False)
        return
    if as_script:
        for known in template_names():
            click.echo(f"{known}\t{load_template(known).description}")
        return
    table = Table("template", "what it lays out", box=None, pad_edge=False, header_style="bold")
    for known in template_names():
        table.add_row(known, load_template(known).description)
    _print(table)
    click.echo("\n`zmysql templates NAME` shows one; `zmysql create-pool POOL -t NAME -n` shows what it would do here.")


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


def _as_fields(device: Device) -> tuple[str, ...]:
    return (
        device.name,
        device.media,
        str(device.size_bytes),
        str(device.logical_sector_bytes),
        str(device.physical_sector_bytes),
        device.serial or "-",
        device.stable_path,
        ", ".join(map(str, device.used_by)) or "free",
    )


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

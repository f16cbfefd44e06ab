"""`zmysql locality`."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from zmysql.cli import locality_reads
from zmysql.cli.simulate import simulate_
from zmysql.errors import UsageError
from zmysql.locality.assessment import ASSUMED_DISK_LATENCY_NS, ASSUMED_SSD_LATENCY_NS, assess, choose_caches
from zmysql.locality.latency import LatencyRatio
from zmysql.locality.profile import profile
from zmysql.locality.reads import load
from zmysql.report.locality import as_json, for_terminal
from zmysql.trace.format import read_header
from zmysql.units import parse_duration, parse_size

_MAX_RATIO = 1e6


@click.group()
def locality() -> None:
    """Judge a trace: what is read again, and which cache would pay."""


for command in locality_reads.commands:
    locality.add_command(command)
locality.add_command(simulate_)


@locality.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-j", "--json", "wants_json", is_flag=True, help="Print JSON only.")
@click.option("--arc", type=parse_size, metavar="SIZE", help="Judge for an ARC of this size.  [default: as recorded]")
@click.option("--l2arc", type=parse_size, metavar="SIZE", help="Judge for an L2ARC of this size.")
@click.option("--disk-latency", type=parse_duration, metavar="TIME", help="A record's read from disk.  [default: 7ms]")
@click.option("--ssd-latency", type=parse_duration, metavar="TIME", help="One from the SSD.  [default: 0.2ms]")
@click.option("--latency-ratio", type=float, metavar="R", help="Disk to SSD latency, in place of the two above.")
def report(  # noqa: PLR0917 - click's parameters
    file: Path,
    wants_json: bool,  # noqa: FBT001 - click's parameter
    arc: int | None,
    l2arc: int | None,
    disk_latency: float | None,
    ssd_latency: float | None,
    latency_ratio: float | None,
) -> None:
    """Say what the trace FILE means: records read again, the miss-ratio curve, and whether an L2ARC would pay."""
    ratio = _ratio(disk_latency, ssd_latency, latency_ratio)
    header = read_header(file)
    caches = choose_caches(header, arc, l2arc)
    found = assess(file, header, profile(load(file, header), header, caches.sizes()), caches, ratio)
    if not header.complete:
        click.echo(f"zmysql: {file}: {found.warnings[0]}", err=True)
    if wants_json:
        click.echo(json.dumps(as_json(found), indent=2))
    else:
        Console(highlight=False).print(for_terminal(found))


def _ratio(disk_s: float | None, ssd_s: float | None, ratio: float | None) -> LatencyRatio:
    """Take the ratio or the two latencies, and say in words which were assumed."""
    if ratio is not None:
        if disk_s is not None or ssd_s is not None:
            raise UsageError("--latency-ratio and the latencies say the same thing twice: drop one of them")
        found = LatencyRatio(ratio, "as given")
    else:
        disk_ns = ASSUMED_DISK_LATENCY_NS if disk_s is None else disk_s * 1e9
        ssd_ns = ASSUMED_SSD_LATENCY_NS if ssd_s is None else ssd_s * 1e9
        assumed = ", assumed" if disk_s is None and ssd_s is None else ""
        found = LatencyRatio(disk_ns / ssd_ns, f"{disk_ns / 1e6:g} ms to {ssd_ns / 1e6:g} ms{assumed}")
    if not 1 < found.value <= _MAX_RATIO:
        raise UsageError(f"a latency ratio of {found.value:g} can't be judged: the disk must be slower than the SSD")
    return found

"""`zmysql locality`."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from zmysql.cli import locality_reads
from zmysql.cli.simulate import simulate_
from zmysql.locality.analysis import analyse, cache_sizes
from zmysql.locality.assessment import assess
from zmysql.locality.candidates import Goal
from zmysql.locality.catalogue import load_catalogue
from zmysql.locality.options import Wishes
from zmysql.locality.question import DISKS, READERS, Devices, ask
from zmysql.locality.sampled import SampleSize, parse_sample
from zmysql.locality.share import choose
from zmysql.report.locality import as_json, for_terminal
from zmysql.report.page.files import refuse_early, write
from zmysql.trace.format import read_header
from zmysql.units import parse_duration, parse_size


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
@click.option("--l2arc", type=parse_size, metavar="SIZE", help="Judge for an L2ARC of this size only.")
@click.option(
    "--db-size", type=parse_size, metavar="SIZE", help="How large the database is: judges SSDs for all of it."
)
@click.option("--ram", type=parse_size, metavar="SIZE", help="The largest ARC that the machine's memory can have.")
@click.option(
    "--goal",
    type=click.Choice([goal.value for goal in Goal]),
    default="latency",
    show_default=True,
    help="What to buy for.",
)
@click.option(
    "--compressratio",
    type=click.FloatRange(1, 1000),
    default=1.0,
    metavar="RATIO",
    help="As zfs(8) gives it.  [default: 1]",
)
@click.option("--prices", type=click.Path(path_type=Path), metavar="FILE", help="Your devices and prices, as TOML.")
@click.option("--disk", metavar="NAME", help="The catalogue's device that the disks are like.")
@click.option("--ssd", metavar="NAME", help="The one that would be bought.")
@click.option(
    "--disks", type=click.IntRange(1, 10_000), default=DISKS, show_default=True, help="Disks that share reads."
)
@click.option("--readers", type=click.IntRange(1, 10_000), default=READERS, show_default=True, help="Reads at a time.")
@click.option("--disk-latency", type=parse_duration, metavar="TIME", help="A record's read from disk.  [default: 7ms]")
@click.option("--ssd-latency", type=parse_duration, metavar="TIME", help="One from the SSD.  [default: 0.2ms]")
@click.option("--latency-ratio", type=float, metavar="R", help="Disk to SSD latency, in place of the two above.")
@click.option(
    "--sample",
    type=parse_sample,
    metavar="RATE|N|auto",
    help="Analyse this share, such as 1%, or number of blocks.",
)
@click.option("--html", type=click.Path(path_type=Path), metavar="OUT", help="Write it as one page that works offline.")
@click.option("--png", type=click.Path(path_type=Path), metavar="DIR", help="Write its charts as pictures for slides.")
@click.option("--overwrite", is_flag=True, help="Replace what --html and --png write if it exists.")
def report(  # noqa: PLR0917 - click's parameters
    file: Path,
    wants_json: bool,  # noqa: FBT001 - click's parameter
    arc: int | None,
    l2arc: int | None,
    db_size: int | None,
    ram: int | None,
    goal: str,
    compressratio: float,
    prices: Path | None,
    disk: str | None,
    ssd: str | None,
    disks: int,
    readers: int,
    disk_latency: float | None,
    ssd_latency: float | None,
    latency_ratio: float | None,
    sample: SampleSize | None,
    html: Path | None,
    png: Path | None,
    *,
    overwrite: bool,
) -> None:
    """Say what the trace FILE means: what to buy, if anything, what that would bring, and how sure that is.

    Candidates are an L2ARC, more memory, SSDs for the hot tables or for all, and to leave it. Prices and devices are
    those of zmysql's catalogue unless --prices says otherwise; `zmysql devices --measure` measures your own.
    """
    refuse_early(html, png, overwrite=overwrite)
    header = read_header(file)
    question = ask(
        header,
        load_catalogue(prices),
        arc_bytes=arc,
        wishes=Wishes(l2arc, db_size, ram),
        goal=Goal(goal),
        compressratio=compressratio,
        devices=Devices(disk, ssd, disk_latency, ssd_latency, latency_ratio, disks, readers),
    )
    share = None if sample is None else choose(file, header, sample, cache_sizes(question))
    if share is not None:
        header = share.header_of(header)
    elif sample is not None:
        click.echo(f"zmysql: {file}: --sample would take all of its blocks, so that the figures are exact", err=True)
    assessed = assess(file, header, analyse(file, header, question, share), question)
    if not header.complete:
        click.echo(f"zmysql: {file}: {assessed.warnings[0]}", err=True)
    write(as_json(assessed), html, png, overwrite=overwrite)
    if wants_json:
        click.echo(json.dumps(as_json(assessed), indent=2))
    else:
        Console(highlight=False).print(for_terminal(assessed))

"""`zmysql trace`."""

from __future__ import annotations

from pathlib import Path

import click

from zmysql.cli.record import record_
from zmysql.trace.importer import NEEDED, import_csv
from zmysql.units import parse_size


@click.group()
def trace() -> None:
    """Record which records mysqld reads, or bring in traces from elsewhere."""


trace.add_command(record_)


@trace.command("import")
@click.option("--format", "kind", type=click.Choice(["csv"]), default="csv", help="What IN is.")
@click.option(
    "--columns",
    default=",".join(NEEDED),
    show_default=True,
    metavar="NAMES",
    help="The columns of IN in their order: time (ns), object (any text), offset and size (bytes); - ignores one.",
)
@click.option(
    "--recordsize",
    type=parse_size,
    default="16K",
    show_default=True,
    metavar="SIZE",
    help="The record size of ZFS to judge for.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
def import_(kind: str, columns: str, recordsize: int, source: Path, target: Path, *, overwrite: bool) -> None:
    """Write the accesses in IN as a trace OUT that `zmysql locality report` reads.

    IN may be compressed with gzip; - is standard input. A first row that equals the column names is skipped. An access
    that spans several records reads each of them; one of 0 bytes reads none.
    """
    del kind  # csv is the only one so far
    names = [name.strip() for name in columns.split(",")]
    done = import_csv(source, target, names, recordsize, overwrite=overwrite)
    if done.empty_accesses:
        click.echo(f"zmysql: accesses of 0 bytes, which read no record: {done.empty_accesses}", err=True)
    accesses = done.accesses - done.empty_accesses
    click.echo(f"{target}: {done.header.records} records read by {accesses} accesses", err=True)

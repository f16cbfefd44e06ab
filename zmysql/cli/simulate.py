"""`zmysql locality simulate`."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import click
from rich.console import Console

from zmysql.errors import UsageError
from zmysql.locality.parameters import CACHES, parameters_for, platform_of, with_settings
from zmysql.locality.reads import load
from zmysql.locality.simulation import Case, Replay, check, simulate
from zmysql.report.simulation import as_json, as_script, for_terminal
from zmysql.trace.format import Header, read_header
from zmysql.units import parse_duration, parse_size

_MOST_CASES = 10_000


def _sizes(_context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...]:
    """Take sizes with commas between them."""
    if text is None:
        return ()
    found = tuple(parse_size(size) for size in text.split(","))
    if len(set(found)) < len(found):
        raise UsageError(f"--{parameter.name} {text} names a size twice")
    return found


@click.command("simulate")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--arc", metavar="SIZE[,…]", callback=_sizes, help="Sizes of the ARC.  [default: as recorded]")
@click.option("--l2arc", metavar="SIZE[,…]", callback=_sizes, help="Sizes of the L2ARC, 0 for none.  [default: none]")
@click.option("--recordsize", metavar="SIZE[,…]", callback=_sizes, help="Record sizes.  [default: blocks as read]")
@click.option("--buffer-pool", metavar="SIZE", type=parse_size, default="0", help="Memory added to the buffer pool.")
@click.option("--zfs", metavar="VERSION", help="Take this version's defaults, such as 2.2.6.  [default: as recorded]")
@click.option("--os", "system", metavar="NAME", help="Take this system's defaults: Linux, FreeBSD or illumos.")
@click.option(
    "--compressratio", metavar="RATIO", type=click.FloatRange(1, 1e6), help="That of the records.  [default: 1]"
)
@click.option("--primarycache", type=click.Choice(CACHES), help="What the ARC holds.  [default: all]")
@click.option("--secondarycache", type=click.Choice(CACHES), help="What the L2ARC holds.  [default: all]")
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="A tunable of zfs(4); may be repeated.")
@click.option("--skip", metavar="TIME", type=parse_duration, help="Don't count what is read before: caches are cold.")
@click.option("--passes", metavar="N", type=click.IntRange(1, 1000), default=1, help="Replay N times; count the last.")
@click.option("--restarts", is_flag=True, help="Restart the machine between the passes: the ARC is lost.")
@click.option(
    "--sample", metavar="RATE", type=click.FloatRange(0, 1, min_open=True), default=1.0, help="Simulate this share."
)
@click.option("-j", "--json", "to_json", is_flag=True, help="Print JSON only.")
@click.option("-H", "to_script", is_flag=True, help="Print tab-separated lines without headings.")
def simulate_(  # noqa: PLR0917 - click's parameters
    file: Path,
    arc: tuple[int, ...],
    l2arc: tuple[int, ...],
    recordsize: tuple[int, ...],
    buffer_pool: int,
    zfs: str | None,
    system: str | None,
    compressratio: float | None,
    primarycache: str | None,
    secondarycache: str | None,
    settings: tuple[str, ...],
    skip: float | None,
    passes: int,
    restarts: bool,  # noqa: FBT001 - click's parameter
    sample: float,
    to_json: bool,  # noqa: FBT001 - as above
    to_script: bool,  # noqa: FBT001 - as above
) -> None:
    """Replay the trace FILE through OpenZFS's ARC and L2ARC of each size, for each record size.

    The shares that are printed are of all reads. The ARC's have the dbuf cache's in them. Caches start empty. Writes,
    other processes' reads and the time that I/O takes aren't simulated.
    """
    header = read_header(file)
    cases = _cases(header, arc, l2arc, recordsize, buffer_pool)
    parameters = parameters_for(system or header.os, zfs or header.zfs)
    given = {"compressratio": compressratio, "primarycache": primarycache, "secondarycache": secondarycache}
    chosen = (f"{name}={value}" for name, value in given.items() if value is not None)
    parameters = with_settings(parameters, (*chosen, *settings))
    replay = Replay(round((skip or 0) * 1e9), passes, restarts, sample)
    outcomes = simulate(load(file, header), header, cases, parameters, replay=replay)
    if to_json:
        platform = platform_of(system or header.os, zfs or header.zfs)
        click.echo(json.dumps(as_json(file, header, platform, parameters, outcomes), indent=2))
    elif to_script:
        for line in as_script(header, outcomes):
            click.echo(line)
    else:
        Console(highlight=False).print(for_terminal(header, outcomes))


def _cases(
    header: Header, arc: tuple[int, ...], l2arc: tuple[int, ...], recordsize: tuple[int, ...], buffer_pool: int
) -> list[Case]:
    """Give each combination, and refuse what can't be before the trace is read."""
    if not arc and header.arc_bytes is None:
        raise UsageError("the trace doesn't say how large the ARC was: say sizes to simulate, such as --arc 4G,8G")
    sizes = (recordsize or (None,), arc or (header.arc_bytes or 0,), l2arc or (0,))
    cases = [Case(*combination, buffer_pool_bytes=buffer_pool) for combination in product(*sizes)]
    if len(cases) > _MOST_CASES:
        raise UsageError(f"{len(cases)} combinations are too many: name fewer sizes, at most {_MOST_CASES} together")
    for case in cases:
        check(case)
    return cases

"""`zmysql trace record`."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from zmysql.cli.record_display import Display, say
from zmysql.errors import UsageError, ZmysqlError
from zmysql.host import Host, Local
from zmysql.platforms.tracer import Kind
from zmysql.report.output import output_version
from zmysql.report.script import as_json, for_terminal
from zmysql.report.trace import of_header
from zmysql.trace.load import LOOK_SECONDS, rate_for, reads_per_second
from zmysql.trace.place import new_file
from zmysql.trace.record import SCRIPT, Recorded, find_target, record
from zmysql.trace.recording import Ended, Progress, Watch
from zmysql.trace.sampling import parse_rate
from zmysql.trace.script import OF_POOLS, SAMPLED, Summed, run_script
from zmysql.units import parse_duration, parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AUTO = "auto"
# About 500 KB/s of text, and a few MB a minute when packed.
_LINES_PER_SECOND = 5000


@click.command("record")
@click.option(
    "--duration", type=parse_duration, default="60s", show_default=True, metavar="TIME", help="Such as 60s, 5m or 1h."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Where the trace goes."
)
@click.option(
    "--script",
    type=click.Choice([SCRIPT, *OF_POOLS]),
    default=SCRIPT,
    show_default=True,
    help="blkaccess records a trace of reads; the others sum up in the kernel, and print it at the end.",
)
@click.option("--pid", type=click.IntRange(min=1), metavar="PID", help="The process to trace, if not the one mysqld.")
@click.option(
    "--sample",
    default="1/1",
    metavar="1/N|auto",
    help="Trace one record of N, chosen by a hash, at each of its reads: for servers too busy to trace all. auto looks "
    "at the load for three seconds first.",
)
@click.option(
    "--sample-target",
    type=click.IntRange(min=1),
    default=_LINES_PER_SECOND,
    show_default=True,
    metavar="N",
    help="How many lines a second --sample auto aims at.",
)
@click.option("--tracer", "kind", type=click.Choice(list(Kind)), help="What traces.  [default: the best there is]")
@click.option("--writes", is_flag=True, help="Record written records as well, which no report takes for reads.")
@click.option("--no-follow", is_flag=True, help="End with mysqld, and don't wait for it to come back.")
@click.option(
    "--rotate", "part_bytes", type=parse_size, metavar="SIZE", help="Begin another file (FILE.2, …) at this size."
)
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="With --rotate: keep the last N files.")
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
@click.option("-j", "--json", "wants_json", is_flag=True, help="Print JSON at the end.")
def record_(
    *,
    duration: float,
    output: Path,
    script: str,
    pid: int | None,
    sample: str,
    sample_target: int,
    kind: str | None,
    part_bytes: int | None,
    keep: int | None,
    writes: bool,
    no_follow: bool,
    overwrite: bool,
    wants_json: bool,
) -> None:
    """Record which ZFS records mysqld reads, and which cache gave them; or run another of the scripts.

    Needs root, a mysqld or mariadbd on ZFS, and DTrace or bpftrace; `zmysql trace doctor` says what is missing. Goes on
    when mysqld restarts, unless it was named with --pid. Ctrl-C ends the recording and keeps what there is.
    """
    if keep is not None and part_bytes is None:
        raise UsageError("--keep is for the files that --rotate makes: say at which size")
    if writes and script != SCRIPT:
        raise UsageError(f"--writes is for {SCRIPT}: leave it out")
    if part_bytes is not None and script != SCRIPT:
        raise UsageError(f"--rotate is for {SCRIPT}: {script} prints once, at its end")
    if sample != _AUTO:
        parse_rate(sample)
    with _caught_signals() as caught:
        run = _Run(Local(), caught, duration, pid, Kind(kind) if kind else None, follow=pid is None and not no_follow)
        if script == SCRIPT:
            target = find_target(run.host, pid, run.kind)
            for warning in target.warnings:
                say(f"warning: {warning}")
            rate = run.rate(sample, sample_target)
            with run.watched() as watch:
                done = record(
                    run.host,
                    target,
                    output,
                    watch,
                    rate=rate,
                    writes=writes,
                    overwrite=overwrite,
                    part_bytes=part_bytes,
                    keep=keep,
                )
            _print_trace(done, output, wants_json=wants_json)
        else:
            rate = run.rate(sample, sample_target) if script in SAMPLED else parse_rate(sample)
            with new_file(output, overwrite=overwrite) as new, run.watched() as watch:
                summed = run_script(run.host, script, watch, pid=pid, kind=run.kind, rate=rate)
                new.write_text(summed.file.as_text())
            _print_script(summed, output, wants_json=wants_json)


@dataclass(frozen=True, slots=True)
class _Run:
    """What the command line says of a run, and the signals that came."""

    host: Host
    caught: set[int]
    duration_seconds: float
    pid: int | None
    kind: Kind | None
    follow: bool

    @contextmanager
    def watched(self) -> Iterator[Watch]:
        """Show the progress while the block runs."""
        with Display(self.duration_seconds) as display:

            def show(progress: Progress) -> None:
                if signal.SIGHUP not in self.caught:  # nobody is there any more
                    display.show(progress)

            yield Watch(self.duration_seconds, self.follow, lambda: bool(self.caught), show)

    def rate(self, sample: str, lines_per_second: int) -> int:
        """Give the N of the sampling rate, by a look at the load if it is to be found."""
        if sample != _AUTO:
            return parse_rate(sample)
        say(f"looking at the load for {LOOK_SECONDS:.0f} s")
        found = reads_per_second(self.host)
        rate = rate_for(found, lines_per_second)
        say(
            f"{found:.0f} records are read a second: recording 1/{rate} of them, for at most {lines_per_second} lines/s"
        )
        return rate


def _print_trace(done: Recorded, output: Path, *, wants_json: bool) -> None:
    header = done.header
    if wants_json:
        files = {"file": str(output), "files": [str(file) for file in done.files]}
        click.echo(
            json.dumps({"output_version": output_version("trace record"), **files, **of_header(header)}, indent=2)
        )
    sample = "" if header.sampling == "1/1" else f"a sample of {header.sampling}, "
    where = str(done.files[-1]) if len(done.files) == 1 else f"{done.files[0]} to {done.files[-1].name}"
    restarts = f"through {header.restarts} restarts of mysqld, " if header.restarts else ""
    last = "" if len(done.files) == 1 else " (the last file)"
    say(
        f"{where}: {done.records} records read, {(header.duration_ns or 0) / 1e9:.0f} s{last}, {sample}{restarts}"
        f"ended by: {header.ended}; next: `zmysql locality report {done.files[-1]}`"
    )
    if header.drops:
        say(
            f"warning: the tracer lost {header.drops} records; the kernel made them faster than it took them: "
            "record a sample (--sample auto), at a quieter time, or keep the CPUs less busy"
        )
    if header.ended == Ended.TRACER:
        raise ZmysqlError(
            f"the tracer died ({done.complaint or 'it said nothing'}); {done.files[-1]} has what it saw until then"
        )


def _print_script(done: Summed, output: Path, *, wants_json: bool) -> None:
    facts = done.file.facts
    if wants_json:
        click.echo(json.dumps(as_json(done.file, output), indent=2))
    else:
        Console(highlight=False).print(for_terminal(done.file))
    if facts["drops"]:
        say(f"warning: the tracer lost {facts['drops']} events, so all figures are too small: {done.complaint}")
    if facts["ended"] == Ended.TRACER:
        raise ZmysqlError(f"the tracer died ({done.complaint or 'it said nothing'}); {output} has what it printed")


@contextmanager
def _caught_signals() -> Iterator[set[int]]:
    """Note the signals that mean the end, in place of ending at once."""
    caught: set[int] = set()

    def note(number: int, _: FrameType | None) -> None:
        caught.add(number)

    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""`zmysql trace record`."""

from __future__ import annotations

import json
import signal
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click
from rich.console import Console
from rich.live import Live

from zmysql.errors import ZmysqlError
from zmysql.host import Local
from zmysql.report.output import output_version
from zmysql.report.trace import of_header
from zmysql.trace.record import Ended, Progress, Recorded, find_target, record
from zmysql.trace.sampling import parse_rate
from zmysql.units import parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# A log file gets a line this often, a terminal a picture as often as it likes.
_PLAIN_SECONDS = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command("record")
@click.option(
    "--duration", type=parse_duration, default="60s", show_default=True, metavar="TIME", help="Such as 60s, 5m or 1h."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Where the trace goes."
)
@click.option("--pid", type=click.IntRange(min=1), metavar="PID", help="The process to trace, if not the one mysqld.")
@click.option(
    "--sample",
    "rate",
    type=parse_rate,
    default="1/1",
    metavar="1/N",
    help="Trace one record of N, chosen by a hash, at each of its reads: for servers too busy to trace all.",
)
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
@click.option("-j", "--json", "wants_json", is_flag=True, help="Print JSON at the end.")
def record_(duration: float, output: Path, pid: int | None, rate: int, *, overwrite: bool, wants_json: bool) -> None:
    """Record which ZFS records mysqld reads, and which cache gave them.

    Needs root, DTrace, and a mysqld or mariadbd on ZFS. Ctrl-C ends the recording and keeps what there is.
    """
    with _caught_signals() as caught:
        host = Local()
        target = find_target(host, pid)
        for warning in target.warnings:
            _say(f"warning: {warning}")
        with _Display(duration) as display:

            def show(progress: Progress) -> None:
                if signal.SIGHUP not in caught:  # nobody is there any more
                    display.show(progress)

            done = record(
                host,
                target,
                output,
                duration,
                rate=rate,
                overwrite=overwrite,
                interrupted=lambda: bool(caught),
                progress=show,
            )
    if wants_json:
        said = {"output_version": output_version("trace record"), "file": str(output), **of_header(done.header)}
        click.echo(json.dumps(said, indent=2))
    _report(done, output)


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


def _report(done: Recorded, output: Path) -> None:
    header = done.header
    sample = "" if header.sampling == "1/1" else f"a sample of {header.sampling}, "
    _say(
        f"{output}: {header.records} records read in {(header.duration_ns or 0) / 1e9:.0f} s, {sample}"
        f"ended by: {header.ended}; next: `zmysql locality report {output}`"
    )
    if header.drops:
        _say(
            f"warning: the tracer lost {header.drops} records; the kernel made them faster than dtrace took them: "
            "record a sample (--sample), at a quieter time, or keep the CPUs less busy"
        )
    if header.ended == Ended.TRACER:
        raise ZmysqlError(f"dtrace died ({done.complaint or 'it said nothing'}); {output} has what it saw until then")


def _say(text: str) -> None:
    with suppress(OSError):  # the terminal may be gone
        click.echo(f"zmysql: {text}", err=True)


class _Display:
    """Progress on standard error: one live line on a terminal, a line each few seconds elsewhere."""

    def __init__(self, duration_seconds: float) -> None:
        self._duration_seconds = duration_seconds
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, transient=True, auto_refresh=False)
        self._terminal = self._console.is_terminal
        self._said = 0.0
        self._last = (0.0, 0)
        self._rate = 0.0

    def __enter__(self) -> Self:
        if self._terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """Show how the recording stands."""
        now = time.monotonic()
        if not self._terminal and now - self._said < _PLAIN_SECONDS:
            return
        self._said = now
        with suppress(OSError):
            if self._terminal:
                self._live.update(self._line(progress), refresh=True)
            else:
                print(f"zmysql: {self._line(progress)}", file=sys.stderr, flush=True)

    def _line(self, progress: Progress) -> str:
        if progress.elapsed_seconds is None:
            return "starting dtrace, which takes a few seconds"
        seconds, records = self._last
        if progress.elapsed_seconds - seconds >= 1:  # a rate over less jumps
            self._rate = (progress.records - records) / (progress.elapsed_seconds - seconds)
            self._last = (progress.elapsed_seconds, progress.records)
        left = max(self._duration_seconds - progress.elapsed_seconds, 0)
        return (
            f"recording: {progress.records} records, {self._rate:.0f}/s, drops {progress.drops}, {left:.0f} s left "
            "(Ctrl-C ends it and keeps all)"
        )

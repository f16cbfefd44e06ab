"""The progress of a recording on standard error, and what there is to say beside it."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import click
from rich.console import Console
from rich.live import Live

if TYPE_CHECKING:
    from zmysql.trace.recording import Progress

# A log file gets a line this often, a terminal a picture as often as it likes.
_PLAIN_SECONDS = 5.0


def say(text: str) -> None:
    """Print a line on standard error, if there still is one."""
    with suppress(OSError):  # the terminal may be gone
        click.echo(f"zmysql: {text}", err=True)


class Display:
    """Progress on standard error: one live line on a terminal, a line each few seconds elsewhere."""

    def __init__(self, duration_seconds: float) -> None:
        """Show what is left of a duration."""
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
            return "starting the tracer, which takes a few seconds"
        left = max(self._duration_seconds - progress.elapsed_seconds, 0)
        keeps = f"{left:.0f} s left (Ctrl-C ends it and keeps all)"
        if progress.waiting:
            return (
                f"mysqld ended: waiting for it and the tracer to come back, {progress.records} records so far, {keeps}"
            )
        if progress.records is None:
            return f"recording: the kernel sums up, drops {progress.drops}, {keeps}"
        seconds, records = self._last
        if progress.elapsed_seconds - seconds >= 1:  # a rate over less jumps
            self._rate = (progress.records - records) / (progress.elapsed_seconds - seconds)
            self._last = (progress.elapsed_seconds, progress.records)
        return f"recording: {progress.records} records, {self._rate:.0f}/s, drops {progress.drops}, {keeps}"

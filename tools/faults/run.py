"""One run of `create-pool`, which can be stopped at a step, go on, and be killed."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.host import Local

if TYPE_CHECKING:
    from collections.abc import Callable

    from faults.layouts import Layout

# The first words of a plan's steps: everything else that it prints is for the person.
_COMMANDS = ("zpool ", "zfs ", "chown ", "chmod ")
LONGEST_S = 600.0
ZMYSQL = str(Path(sys.executable).with_name("zmysql"))


class Run:
    """A process of its own, so that it can be killed; it says each step before it runs it."""

    def __init__(self, layout: Layout, host: str, *options: str) -> None:
        """Start `zmysql create-pool` for a layout on a host, as for --host."""
        self.layout = layout
        argv = [ZMYSQL, "create-pool", *layout.argv, "--host", host, "--yes", *options]
        self._process = Local().start(argv, merge_stderr=True)
        self._said = b""

    @property
    def said(self) -> str:
        """All that it has printed, as far as it was read."""
        return self._said.decode()

    @property
    def exit_status(self) -> int | None:
        """How it ended, or None while it runs."""
        return self._process.poll()

    def steps(self) -> list[str]:
        """Give the steps that it has begun, or was about to."""
        whole = self.said[: self.said.rfind("\n") + 1]
        return [line for line in whole.splitlines() if line.startswith(_COMMANDS)]

    def until(self, wanted: Callable[[str], bool]) -> str | None:
        """Wait for a step that is wanted, and give it; None when the run ended before.

        Raises TimeoutError when neither comes.
        """
        deadline = time.monotonic() + LONGEST_S
        while time.monotonic() < deadline:
            goes_on = self._read(1.0)
            if step := next(filter(wanted, self.steps()), None):
                return step
            if not goes_on:
                self._end()
                return None
        raise TimeoutError(f"create-pool is silent: {self.said}")

    def stop(self) -> None:
        """Let it stand still. A command that it has already begun on the other machine goes on to its end."""
        self._signal(signal.SIGSTOP)

    def go(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill it as `kill -9` does, and wait until it is gone."""
        self._signal(signal.SIGKILL)
        while self._read(1.0):
            pass
        self._end()

    def _signal(self, number: signal.Signals) -> None:
        if self.exit_status is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    def _read(self, patience_s: float) -> bool:
        """Read what there is; give False when there will be no more."""
        descriptor = self._process.stdout_fd
        if not select.select([descriptor], [], [], patience_s)[0]:
            return True
        text = os.read(descriptor, 1 << 16)
        self._said += text
        return bool(text)

    def _end(self) -> None:
        with self._process:
            self._process.wait()

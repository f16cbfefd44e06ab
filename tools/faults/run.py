"""One run of `create-pool`, which goes on from step to step as it is let, and can be killed."""

from __future__ import annotations

import os
import select
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.host import Local

if TYPE_CHECKING:
    from collections.abc import Callable

    from faults.layouts import Layout

# The first words of a plan's steps: everything else that it prints is for the person.
_STEPS = ("zpool create ", "zfs create ", "zfs set ", "chown ", "chmod ")
LONGEST_S = 600.0


class Run:
    """A process of its own, so that it can be killed. It says each step, and waits until it may run it."""

    def __init__(self, layout: Layout, testbed: str, *options: str) -> None:
        """Start `zmysql create-pool` for a layout on a testbed's guest."""
        self.layout = layout
        self._let = 0  # how many steps may run
        self._said = b""
        self._folder = tempfile.TemporaryDirectory()
        pipe = Path(self._folder.name) / "pipe"
        os.mkfifo(pipe)
        self._pipe = os.open(pipe, os.O_RDWR)  # so that this doesn't wait for the other end
        gated = [sys.executable, str(Path(__file__).with_name("gated.py")), str(pipe)]
        argv = ["create-pool", *layout.argv, "--host", f"testbed:{testbed}", "--yes", *options]
        self._process = Local().start([*gated, *argv], merge_stderr=True)

    @property
    def said(self) -> str:
        """All that it has printed, as far as it was read."""
        return self._said.decode()

    @property
    def exit_status(self) -> int | None:
        """How it ended, or None while it runs."""
        return self._process.poll()

    def steps(self) -> list[str]:
        """Give the steps that it has said. The last waits, unless it was let run."""
        whole = self.said[: self.said.rfind("\n") + 1]
        return [line for line in whole.splitlines() if line.startswith(_STEPS)]

    def until(self, wanted: Callable[[str], bool]) -> str | None:
        """Let it run up to a step that is wanted, which waits, and give that; None when it ended before.

        Raises TimeoutError when it does nothing for long.
        """
        deadline = time.monotonic() + LONGEST_S
        while time.monotonic() < deadline:
            goes_on = self._read()
            for step in self.steps()[self._let :]:
                if wanted(step):
                    return step
                self.let()
            if not goes_on:
                self._end()
                return None
        raise TimeoutError(f"create-pool does nothing: {self.said}")

    def let(self) -> None:
        """Let the step run that waits."""
        self._let += 1
        os.write(self._pipe, b".")

    def kill(self) -> None:
        """Kill it as `kill -9` does. A command that it began on the other machine goes on to its end."""
        self._process.kill()
        while self._read():
            pass
        self._end()

    def created(self) -> list[str]:
        """Give the pools whose `zpool create` has ended well, as the step after it shows."""
        words = [set(step.split(" ")) for step in self.steps()[:-1] if step.startswith("zpool create ")]
        return [pool for pool in self.layout.pools if any(pool in of_one for of_one in words)]

    def _read(self) -> bool:
        """Read what there is, waiting a moment for it; give False when there will be no more."""
        descriptor = self._process.stdout_fd
        if not select.select([descriptor], [], [], 1.0)[0]:
            return True
        text = os.read(descriptor, 1 << 16)
        self._said += text
        return bool(text)

    def _end(self) -> None:
        os.close(self._pipe)
        self._folder.cleanup()
        with self._process:
            self._process.wait()

"""Finding and ending the processes that a folder owns: each was started with the folder's path in its environment.

A mark in the environment needs no pid file, so no kill -9, however timed, can leave a process that the next call
doesn't find; and since the path is ours alone, nothing else can be hit.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "ZMYSQL_TESTBED"
PATIENCE_S = 10.0


def owned(folder: Path) -> Iterator[tuple[int, str]]:
    """Yield process id and command name of each live process that carries the folder's mark."""
    mark = f"{MARK}={folder}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name), (entry / "comm").read_text().strip()
        except OSError:
            continue  # it ended, or is another user's: not ours


def kill(folder: Path, names: tuple[str, ...]) -> None:
    """Kill at once those of the folder's processes whose command names begin with one of `names`; wait until they end.

    Raises ZmysqlError when one doesn't.
    """
    deadline = time.monotonic() + PATIENCE_S
    while found := [pid for pid, name in owned(folder) if name.startswith(names)]:
        if time.monotonic() > deadline:
            raise ZmysqlError(f"processes {found} don't end: they may wait for a disk; try again later")
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def end(folder: Path) -> None:
    """End every process that the folder owns: SIGTERM, and SIGKILL for what is left after ten seconds.

    Raises ZmysqlError when one survives that too.
    """
    deadline = time.monotonic() + PATIENCE_S
    how = signal.SIGTERM
    while found := list(owned(folder)):
        if time.monotonic() > deadline + PATIENCE_S:
            raise ZmysqlError(f"processes {found} don't end: they may wait for a disk; try again later")
        for pid, _ in found:
            with suppress(ProcessLookupError):
                os.kill(pid, how)
        if time.monotonic() > deadline:
            how = signal.SIGKILL
        time.sleep(0.1)

"""Whole processes, with what the kernel says they took."""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Took:
    """A process that ended: wall time, processor time of all its threads, and the most memory it held."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    output: str


def measured(argv: Sequence[str]) -> Took:
    """Run a program to its end.

    Raises ZmysqlError unless it ends with 0. Standard error is dropped, where libCacheSim tells of its progress.
    """
    with tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        # Not by Host.run: of a process that subprocess waits for, nobody learns what it took.
        actions = [
            (os.POSIX_SPAWN_DUP2, output.fileno(), 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        pid = os.posix_spawn(argv[0], tuple(argv), os.environ, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        wall_s = time.perf_counter() - begun
        output.seek(0)
        said = output.read().decode(errors="replace")
    if status:
        raise ZmysqlError(f"`{shlex.join(argv)}` failed with status {os.waitstatus_to_exitcode(status)}")
    return Took(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, said)

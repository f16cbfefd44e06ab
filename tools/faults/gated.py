"""Runs `zmysql` as it is, but that each step of a plan waits for a byte from the pipe that is the first argument.

So that it can be killed, or lose its machine, at exactly the step that is meant.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from zmysql.cli import hosts
from zmysql.cli.main import main
from zmysql.errors import ZmysqlError
from zmysql.testbed.vm import Guest, Testbed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.host import Host

pipe = os.open(sys.argv.pop(1), os.O_RDONLY)


class Gated(Guest):
    """The guest, behind the pipe."""

    def command(self, argv: Sequence[str]) -> list[str]:
        """Give the command as ever, once it may run."""
        if argv[0] in {"chown", "chmod"} or (argv[0] in {"zpool", "zfs"} and argv[1] in {"create", "set"}):
            os.read(pipe, 1)
        return super().command(argv)


def gated(text: str) -> Host:
    """Give the testbed that `testbed:NAME` means."""
    bed = Testbed(text.removeprefix("testbed:"))
    state = bed.state()
    if state is None:
        raise ZmysqlError(f"testbed {bed.name} isn't up")
    return Gated(bed, state)


hosts.parse_host = gated
main()

"""What all that acts on snapshots of a layout takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from zmysql.host import Host
    from zmysql.snapshot.model import Layout
    from zmysql.zfs.commands import Argv
    from zmysql.zfs.snapshot import SnapshotCalls


@dataclass(frozen=True, slots=True)
class Job:
    """The layout on its host and the name of the snapshot.

    `calls` is the way to change snapshots; `say` is told each step before it is done, as the command that does it.
    """

    host: Host
    calls: SnapshotCalls
    layout: Layout
    name: str
    say: Callable[[Argv], None]

    def run(self, argv: Argv) -> None:
        """Run a command. Raises CommandFailed."""
        self.say(argv)
        self.host.run(argv)

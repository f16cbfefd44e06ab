"""What changes while a server is traced: its files come, go and change their names, and it restarts."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

from zmysql.mysql.process import Server, running_servers
from zmysql.trace.objects import Files, Mounted, walk

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import TracebackType

    from zmysql.host import Host

# A table may live for less; then it has no name in the trace.
_LOOK_SECONDS = 5.0

Paths = dict[tuple[int, int], str]


class FollowedFiles:
    """The paths of a server's files by (objset, object), those that it had before included.

    A file that was renamed has its last name, one that was dropped the name that it had. The looks are made in a thread
    of their own, since there may be a hundred thousand files, and the tracer's output can't wait.
    """

    def __init__(self, host: Host, server: Server, files: Files, mounted: Mounted) -> None:
        """Begin with the files that were found before."""
        self.server = server
        self._host, self._files, self._mounted = host, files, mounted
        self._paths: Paths = dict(files.paths)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="files")
        self._look: Future[Paths] | None = None
        self._looked = time.monotonic()

    def see(self, addresses: Collection[tuple[int, int]]) -> None:
        """Begin to look for new names, if one of the addresses has none and the last look is some seconds ago."""
        if self._look and self._look.done():
            self._paths |= self._look.result()
            self._look = None
        due = time.monotonic() - self._looked >= _LOOK_SECONDS
        if due and self._look is None and not self._paths.keys() >= set(addresses):
            self._looked = time.monotonic()
            self._look = self._thread.submit(self._found)

    def now(self) -> Paths:
        """Look, and give all names."""
        if self._look:
            self._paths |= self._look.result()
            self._look = None
        self._paths |= self._found()
        return self._paths

    def restarted(self) -> Server | None:
        """Give the server that took the place of one that ended, on the same data directory; None while none has."""
        for server in running_servers(self._host):
            place = self._host.run(("readlink", f"/proc/{server.pid}/cwd"), check=False).stdout.rstrip("\n")
            if server.pid != self.server.pid and place == self._files.data_directory:
                self.server = server
                return server
        return None

    def _found(self) -> Paths:
        files = self._files
        # A server that ended has no root directory any more; its files are where they were, unless in a container.
        root = f"/proc/{self.server.pid}/root"
        root = root if self._host.run(("test", "-e", root), check=False).exit_status == 0 else ""
        return walk(self._host, root, files.data_directory, files.opened, self._mounted)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._thread.shutdown(cancel_futures=True)

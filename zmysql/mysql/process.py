"""The running server: which process it is, and its version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, ZmysqlError

if TYPE_CHECKING:
    from zmysql.host import Host

# The name of a process is that of its first thread; mysqld gives its other threads names of their own.
_SERVERS = "mysqld|mariadbd"
_LIST = ("sh", "-c", f'grep -sxE "{_SERVERS}" /proc/[0-9]*/comm')
_FOUND = re.compile(r"/proc/(\d+)/comm:(.+)")
_VERSION_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Server:
    """A running process and the name of its program."""

    pid: int
    name: str


def find_server(host: Host, pid: int | None = None) -> Server:
    """Give the one mysqld or mariadbd of a host, or the process `pid`, whatever it is called.

    Raises UsageError where there are several or no process `pid`, and ZmysqlError where there is none.
    """
    if pid is not None:
        name = host.run(("cat", f"/proc/{pid}/comm"), check=False)
        if name.exit_status:
            raise UsageError(f"there is no process {pid} on {host.name}: `pgrep -x '{_SERVERS}'` lists the servers")
        return Server(pid, name.stdout.strip())
    found = running_servers(host)
    if not found:
        raise ZmysqlError(f"no mysqld or mariadbd runs on {host.name}: start it, or name another process with --pid")
    if len(found) > 1:
        listed = ", ".join(f"{server.name} {server.pid}" for server in found)
        raise UsageError(f"several servers run on {host.name} ({listed}): name one with --pid")
    return found[0]


def running_servers(host: Host) -> tuple[Server, ...]:
    """Give the servers that run on a host, by pid."""
    return parse_servers(host.run(_LIST, check=False).stdout)


def parse_servers(text: str) -> tuple[Server, ...]:
    """Give the servers by pid, from grep's output over /proc/PID/comm."""
    found = (_FOUND.fullmatch(line) for line in text.splitlines())
    return tuple(sorted((Server(int(one[1]), one[2]) for one in found if one), key=lambda server: server.pid))


def server_version(host: Host, server: Server) -> str | None:
    """Give what the program says of its version, such as `mysqld 9.7.4-2 for Linux on x86_64`; None if it doesn't."""
    if server.name not in _SERVERS.split("|"):
        return None
    said = host.run((f"/proc/{server.pid}/exe", "--version"), check=False, timeout=_VERSION_SECONDS)
    version = re.search(r"Ver (.+)", said.stdout)
    return f"{server.name} {version[1].strip()}" if said.exit_status == 0 and version else None

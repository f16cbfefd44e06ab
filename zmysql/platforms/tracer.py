"""The tracer of a host: dtrace(8), and whether its scripts can see into ZFS there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.host import Host

# SystemTap brings a program of the same name in /usr/bin, which makes header files and traces nothing.
_PROGRAMS = ("/usr/sbin/dtrace", "dtrace")
_VERSION = re.compile(r"D (\d+(?:\.\d+)+)")
_BTF = "/sys/kernel/btf/zfs"
# Where zmysql can't record yet, dtrace itself may run a script.
_BY_HAND = {
    "FreeBSD": "blkaccess.freebsd.d by hand, which is unproven",
    "SunOS": "blkaccess.illumos.d by hand, which is unproven",
}


@dataclass(frozen=True, slots=True)
class Tracer:
    """A dtrace(8) that can trace ZFS, and its version."""

    program: str
    version: str

    def command(self, script: str, arguments: Sequence[str]) -> list[str]:
        """Give the argv that runs a D script with its macro arguments ($1, $2, …)."""
        return [self.program, "-s", script, *arguments]


def find_tracer(host: Host) -> Tracer:
    """Give the host's tracer.

    Raises ZmysqlError, with the way out, where the system, the user, dtrace, ZFS or its type information don't do.
    """
    system = host.run(("uname", "-s")).stdout.strip()
    if system != "Linux":
        script = _BY_HAND.get(system, "blkaccess.d on Linux")
        raise ZmysqlError(f"recording on {system} isn't possible yet: run dscripts/{script}")
    if host.run(("id", "-u")).stdout.strip() != "0":
        raise ZmysqlError(f"tracing the kernel of {host.name} needs root: run the command with sudo, or as root")
    tracer = _dtrace(host)
    if not _exists(host, "/sys/module/zfs"):
        raise ZmysqlError(f"the kernel of {host.name} has no ZFS loaded: run `modprobe zfs`, or trace where mysqld is")
    if not _exists(host, _BTF):
        raise ZmysqlError(
            f"dtrace can't see into ZFS on {host.name}, since there is no {_BTF}: install dwarves and the kernel's "
            "headers, build the module again (Debian: dpkg-reconfigure zfs-dkms), and load it again"
        )
    return tracer


def _dtrace(host: Host) -> Tracer:
    for program in _PROGRAMS:
        version = _VERSION.search(host.run((program, "-V"), check=False).stdout)
        if version:
            return Tracer(program, version[1])
    raise ZmysqlError(
        f"no dtrace on {host.name}: install DTrace for Linux 2.0 or later "
        "(Debian: dtrace; others: https://github.com/oracle/dtrace)"
    )


def _exists(host: Host, path: str) -> bool:
    return host.run(("test", "-e", path), check=False).exit_status == 0

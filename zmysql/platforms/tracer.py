"""What can trace ZFS on a host: dtrace(8), bpftrace(8) or the kernel's own history of reads, and what is in the way."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from zmysql.host import Host

# SystemTap brings a program of the same name in /usr/bin, which makes header files and traces nothing.
_DTRACES = ("/usr/sbin/dtrace", "dtrace")
_DTRACE_VERSION = re.compile(r"D (\d+(?:\.\d+)+)")
_BPFTRACES = ("bpftrace", "/usr/sbin/bpftrace")
_BPFTRACE_VERSION = re.compile(r"bpftrace v(\d+(?:\.\d+)+)")
_BTF = "/sys/kernel/btf/zfs"
_OF_DIRECT_IO = "dmu_read_abd"
_HISTORY = "/sys/module/zfs/parameters/zfs_read_history"
# PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h: the namespace of processes that isn't a container's.
_FIRST_PID_NAMESPACE = "pid:[4026531836]"
# Where FreeBSD's port sysutils/dtrace-toolkit and the toolkit's own installer (illumos, Solaris) put it.
_TOOLKITS = ("/usr/local/share/dtrace-toolkit", "/opt/DTT", "/usr/dtrace/DTT")
# Where zmysql can't record yet, dtrace itself may run a script.
_BY_HAND = {
    "FreeBSD": "blkaccess.freebsd.d by hand, which is unproven",
    "SunOS": "blkaccess.illumos.d by hand, which is unproven",
}


class Kind(StrEnum):
    """A way to trace; the first that a host has is taken."""

    DTRACE = "dtrace"
    BPFTRACE = "bpftrace"
    HISTORY = "history"


@dataclass(frozen=True, slots=True)
class Tracer:
    """A program that runs our scripts, and its version. HISTORY is a program of ours that reads a kstat.

    `lenient` is a dtrace that passes over probes which this ZFS hasn't: those of Direct I/O, before OpenZFS 2.3.
    """

    kind: Kind
    program: str
    version: str
    lenient: bool = False

    def file_name(self, script: str) -> str:
        """Give the name of the file in dscripts/ that this tracer runs for a script, such as blkaccess.bt."""
        return f"{script}.{'d' if self.kind is Kind.DTRACE else 'bt'}"

    def command(self, script: Path, arguments: Sequence[str]) -> list[str]:
        """Give the argv that runs a script with its arguments ($1, $2, …)."""
        if self.kind is Kind.HISTORY:
            return [self.program, "-m", "zmysql.trace.history", *arguments]
        if self.kind is Kind.BPFTRACE:
            return [self.program, "-q", str(script), *arguments]
        return [self.program, *(["-Z"] if self.lenient else []), "-s", str(script), *arguments]


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is for tracing on a host.

    `system` is as uname(1) says it. `toolkit` is the directory of the DTraceToolkit; None where it isn't installed.
    `confined` says what keeps a process from seeing the kernel (a container, jail or zone), None where nothing does.
    """

    host: str
    system: str
    root: bool
    confined: str | None
    zfs_loaded: bool
    btf: bool
    dtrace: Tracer | None
    bpftrace: Tracer | None
    history: bool
    toolkit: str | None

    def tracers(self) -> tuple[Tracer, ...]:
        """Give what can trace here, the best first."""
        if self.system != "Linux" or not self.root or self.confined or not self.zfs_loaded:
            return ()
        typed = [tracer for tracer in (self.dtrace, self.bpftrace) if tracer] if self.btf else []
        return (*typed, Tracer(Kind.HISTORY, sys.executable, "1")) if self.history else tuple(typed)


def survey(host: Host) -> Survey:
    """Look at what there is for tracing on a host; changes nothing."""
    system = host.run(("uname", "-s")).stdout.strip()
    dtrace = _program(host, Kind.DTRACE, _DTRACES, "-V", _DTRACE_VERSION)
    if dtrace and host.run(("grep", "-qw", _OF_DIRECT_IO, "/proc/kallsyms"), check=False).exit_status == 1:
        dtrace = replace(dtrace, lenient=True)
    return Survey(
        host=host.name,
        system=system,
        root=host.run(("id", "-u")).stdout.strip() == "0",
        confined=_confined(host, system),
        zfs_loaded=system != "Linux" or _exists(host, "/sys/module/zfs"),
        btf=system != "Linux" or _exists(host, _BTF),
        dtrace=dtrace,
        bpftrace=_program(host, Kind.BPFTRACE, _BPFTRACES, "--version", _BPFTRACE_VERSION),
        history=_exists(host, _HISTORY),
        toolkit=next((place for place in _TOOLKITS if _exists(host, place)), None),
    )


def find_tracer(host: Host, wanted: Kind | None = None) -> Tracer:
    """Give the best tracer of a host, or the one that is wanted.

    Raises ZmysqlError, with the way out, where the system, the user, the programs, ZFS or its type information don't
    do, and UsageError where only the one that is wanted can't be had.
    """
    found = survey(host)
    tracers = found.tracers()
    chosen = next((tracer for tracer in tracers if wanted in (None, tracer.kind)), None)
    if chosen is None:
        raise _obstacle(found, wanted, tracers)
    return chosen


def _obstacle(found: Survey, wanted: Kind | None, tracers: Sequence[Tracer]) -> ZmysqlError:
    """Say the first thing that is in the way, and the way out."""
    for why in _obstacles(found):
        return ZmysqlError(why)
    if not found.btf and wanted is not Kind.HISTORY:
        return ZmysqlError(
            f"{wanted or Kind.DTRACE} can't see into ZFS on {found.host}, since there is no {_BTF}: install dwarves "
            "and the kernel's headers, build the module again (Debian: dpkg-reconfigure zfs-dkms), and load it again"
        )
    if wanted is None:
        return ZmysqlError(
            f"no dtrace and no bpftrace on {found.host}: install DTrace for Linux 2.0 or later "
            "(Debian: dtrace; others: https://github.com/oracle/dtrace), or bpftrace 0.21 or later"
        )
    there = ", ".join(tracer.kind for tracer in tracers)
    instead = f"install it, or leave --tracer out, which takes {there}" if tracers else "install it"
    return UsageError(f"no {wanted} on {found.host}: {instead}")


def _obstacles(found: Survey) -> Iterator[str]:
    """Yield what keeps every tracer from working."""
    if found.system != "Linux":
        script = _BY_HAND.get(found.system, "blkaccess.d on Linux")
        yield f"recording on {found.system} isn't possible yet: run dscripts/{script}"
    if found.confined:
        yield f"{found.confined} on {found.host} can't trace the kernel: run zmysql on the host itself"
    if not found.root:
        yield f"tracing the kernel of {found.host} needs root: run the command with sudo, or as root"
    if not found.zfs_loaded:
        yield f"the kernel of {found.host} has no ZFS loaded: run `modprobe zfs`, or trace where mysqld is"


def _program(host: Host, kind: Kind, places: Sequence[str], flag: str, pattern: re.Pattern[str]) -> Tracer | None:
    for program in places:
        version = pattern.search(host.run((program, flag), check=False).stdout)
        if version:
            return Tracer(kind, program, version[1])
    return None


def _confined(host: Host, system: str) -> str | None:
    """Say what keeps processes here from the kernel's probes."""
    if system == "FreeBSD" and host.run(("sysctl", "-n", "security.jail.jailed"), check=False).stdout.strip() == "1":
        return "a jail"
    if system == "SunOS" and host.run(("zonename",), check=False).stdout.strip() not in ("", "global"):
        return "a zone"
    if system == "Linux":
        namespace = host.run(("readlink", "/proc/self/ns/pid"), check=False).stdout.strip()
        if namespace not in ("", _FIRST_PID_NAMESPACE):
            return "a container"
    return None


def _exists(host: Host, path: str) -> bool:
    return host.run(("test", "-e", path), check=False).exit_status == 0

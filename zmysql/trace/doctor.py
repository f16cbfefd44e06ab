"""What can be traced on a host, with what, and what to install or set where something can't."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.mysql.process import Server, running_servers
from zmysql.platforms.tracer import Kind, Survey, survey
from zmysql.trace.machine import zfs_version
from zmysql.trace.objects import direct_io, mounted_datasets, server_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Host

# What the scripts were run with, in the virtual machine; see docs/tracing.md.
PROVEN_ZFS = "2.3."
_PROVEN = "Debian 13, OpenZFS 2.3.9, DTrace 2.0.7 and bpftrace 0.23"
# From 5.12 on io_uring's workers are threads of the process, so that the scripts' test of the pid holds for them.
_IO_URING_THREADS = (5, 12)
# The way to prove a script where it never ran: the same events are counted there.
_PROOFS = {
    "FreeBSD": (
        "kldload dtraceall; dtrace -s dscripts/blkaccess.freebsd.d $(pgrep -o -x mysqld) 10, and compare its classes "
        "with what `sysctl kstat.zfs.misc.arcstats` grew by (NOTES of the script)"
    ),
    "SunOS": (
        "dtrace -s dscripts/blkaccess.illumos.d $(pgrep -o -x mysqld) 10, and compare its classes with what "
        "`kstat -n arcstats` grew by (NOTES of the script)"
    ),
}


class State(StrEnum):
    """How a finding is."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"
    UNPROVEN = "unproven"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: what it is, and what to do; `todo` is empty where there is nothing."""

    name: str
    state: State
    says: str
    todo: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All that was looked at, and the tracers that can be used now, the best first."""

    findings: tuple[Finding, ...]
    tracers: tuple[str, ...]


def diagnose(host: Host, pid: int | None = None) -> Diagnosis:
    """Look at a host, and at the servers on it or the process `pid`; changes nothing."""
    found = survey(host)
    findings = [*of_survey(found)]
    if found.system == "Linux":
        if found.zfs_loaded:
            findings.append(of_zfs(zfs_version(host)))
        findings += _of_servers(host, pid, found)
    return Diagnosis(tuple(findings), tuple(tracer.kind for tracer in found.tracers()))


def of_survey(found: Survey) -> Iterator[Finding]:
    """Yield what a survey of the host says."""
    if found.system != "Linux":
        proof = _PROOFS.get(found.system, "run zmysql on Linux, FreeBSD or illumos")
        yield Finding("system", State.UNPROVEN, f"{found.system}: the scripts for it never ran there", proof)
    else:
        yield Finding("system", State.OK, "Linux")
    if found.confined:
        yield Finding("place", State.MISSING, f"this is {found.confined}: no probes here", "run it on the host itself")
    if not found.root:
        yield Finding("root", State.MISSING, "only root may trace the kernel", "run it with sudo, or as root")
    if not found.zfs_loaded:
        yield Finding("zfs", State.MISSING, "ZFS isn't loaded", "modprobe zfs")
    elif found.system == "Linux":
        yield _of_types(found)
    yield _of_program(found, Kind.DTRACE)
    if found.system == "Linux":
        yield _of_program(found, Kind.BPFTRACE)
        yield _of_history(found)
    yield _of_toolkit(found)


def _of_types(found: Survey) -> Finding:
    if found.btf:
        return Finding("types", State.OK, "zfs.ko has BTF: the scripts can see its structs")
    return Finding(
        "types",
        State.MISSING,
        "zfs.ko has no BTF (/sys/kernel/btf/zfs): dtrace and bpftrace can't see its structs",
        "install dwarves and the kernel's headers, build the module again (Debian: dpkg-reconfigure zfs-dkms), and "
        "load it again",
    )


def _of_program(found: Survey, kind: Kind) -> Finding:
    tracer = found.dtrace if kind is Kind.DTRACE else found.bpftrace
    if tracer:
        return Finding(kind, State.OK, f"{tracer.program}, version {tracer.version}")
    ways = {
        Kind.DTRACE: "Debian: apt install dtrace; others: https://github.com/oracle/dtrace; FreeBSD: kldload dtraceall",
        Kind.BPFTRACE: "apt install bpftrace, 0.21 or later",
    }
    other = found.bpftrace if kind is Kind.DTRACE else found.dtrace
    return Finding(kind, State.WARNING if other else State.MISSING, "isn't installed", ways[kind])


def _of_history(found: Survey) -> Finding:
    if found.history:
        return Finding(
            Kind.HISTORY,
            State.OK,
            "the kernel can keep its reads (zfs_read_history), but for those from dbufs",
        )
    return Finding(Kind.HISTORY, State.WARNING, "this ZFS has no zfs_read_history", "OpenZFS 0.6.5 or later has it")


def _of_toolkit(found: Survey) -> Finding:
    if found.toolkit:
        return Finding("DTraceToolkit", State.OK, f"{found.toolkit}; docs/tracing.md says which of it holds for ZFS")
    todo = {"FreeBSD": "pkg install dtrace-toolkit", "SunOS": "its ./install puts it in /opt/DTT"}
    return Finding("DTraceToolkit", State.OK, "isn't installed, and isn't needed", todo.get(found.system, ""))


def of_zfs(version: str | None) -> Finding:
    """Say whether the scripts were run with a version of ZFS."""
    if version and version.startswith(PROVEN_ZFS):
        return Finding("zfs", State.OK, f"{version}: the scripts were run with {_PROVEN}")
    return Finding(
        "zfs",
        State.UNPROVEN,
        f"{version or 'an unknown version'}: the scripts were run with {_PROVEN}",
        "record for ten seconds, and compare `zmysql trace info` with what demand_data_* of arcstats grew by",
    )


def _of_servers(host: Host, pid: int | None, found: Survey) -> Iterator[Finding]:
    servers = running_servers(host) if pid is None else (Server(pid, "process"),)
    if not servers:
        yield Finding("server", State.MISSING, "no mysqld or mariadbd runs", "start it, or name a process with --pid")
    for server in servers if found.zfs_loaded else ():
        try:
            mounted = mounted_datasets(host)
            files = server_files(host, server, mounted)
        except ZmysqlError as error:
            yield Finding("server", State.MISSING, str(error))
            continue
        yield Finding("server", State.OK, f"{server.name} {server.pid}, {len(files.paths)} files on ZFS")
        bypass = direct_io(host, server, files, mounted)
        if bypass:
            says, _, todo = bypass.partition("; ")
            yield Finding("direct I/O", State.WARNING, says, todo)
        if uses_io_uring(host, server):
            yield of_io_uring(host.run(("uname", "-r")).stdout)


def uses_io_uring(host: Host, server: Server) -> bool:
    """Say whether a process has rings of io_uring open."""
    find = ("find", f"/proc/{server.pid}/fd", "-lname", "anon_inode:*io_uring*")
    return bool(host.run(find, check=False).stdout.strip())


def of_io_uring(release: str) -> Finding:
    """Say whether reads through io_uring are seen, by the kernel's release, such as 6.12.1-amd64."""
    version = re.match(r"(\d+)\.(\d+)", release)
    if version and (int(version[1]), int(version[2])) >= _IO_URING_THREADS:
        return Finding("io_uring", State.OK, "in use; its workers are threads of the server here, and are traced")
    return Finding(
        "io_uring",
        State.WARNING,
        f"in use, and in Linux {release.strip()} its workers don't belong to the server: their reads aren't traced",
        "set innodb_use_native_aio=OFF for the recording, or use Linux 5.12 or later",
    )

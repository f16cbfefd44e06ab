"""Records a trace: finds mysqld, runs blkaccess on it, writes what it prints, and says what ended it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

from zmysql.errors import UsageError
from zmysql.mysql.process import Server, find_server, server_version
from zmysql.platforms.tracer import Kind, Tracer, find_tracer
from zmysql.trace.follow import FollowedFiles
from zmysql.trace.format import Header
from zmysql.trace.machine import arc_bytes, describe_system, l2arc_bytes, zfs_version
from zmysql.trace.objects import Files, Mounted, direct_io, mounted_datasets, server_files
from zmysql.trace.parts import Parts
from zmysql.trace.recording import Recording, Watch

if TYPE_CHECKING:
    from pathlib import Path

    from zmysql.host import Host
    from zmysql.trace.tracer_output import Reader

SCRIPT = "blkaccess"
_HISTORY_WARNING = (
    "the kernel's history of reads knows nothing of what the dbuf cache served, nor of Direct I/O, and takes L2ARC and "
    "disks for one: hit ratios from this trace are of reads that missed the dbuf cache"
)


@dataclass(frozen=True, slots=True)
class Target:
    """What will be traced, and with what: all that is looked up before the tracer starts."""

    server: Server
    tracer: Tracer
    mounted: Mounted
    files: Files
    header: Header
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A finished recording: the last file's header, what the tracer complained of, the files, and all their records."""

    header: Header
    complaint: str
    files: tuple[Path, ...]
    records: int


def find_target(host: Host, pid: int | None = None, kind: Kind | None = None) -> Target:
    """Look up what can be traced on a host, with the best tracer or one of a kind.

    Raises ZmysqlError or UsageError, with the way out, where nothing can.
    """
    tracer = find_tracer(host, kind)
    server = find_server(host, pid)
    mounted = mounted_datasets(host)
    files = server_files(host, server, mounted)
    names = [mounted.datasets[objset].name for objset in sorted(files.objsets)]
    header = Header(
        complete=False,
        os=describe_system(host),
        zfs=zfs_version(host),
        mysql=server_version(host, server),
        datasets={objset: mounted.datasets[objset] for objset in sorted(files.objsets)},
        objects=files.paths,
        host=host.run(("uname", "-n")).stdout.strip(),
        arc_bytes=arc_bytes(host),
        l2arc_bytes=l2arc_bytes(host, names),
        pid=server.pid,
    )
    bypass = direct_io(host, server, files, mounted)
    if tracer.kind is Kind.HISTORY:
        warnings = (*((f"{bypass}; this trace lacks them",) if bypass else ()), _HISTORY_WARNING)
    else:
        warnings = (f"{bypass}; here they are of class direct",) if bypass else ()
    return Target(server, tracer, mounted, files, header, warnings)


def record(
    host: Host,
    target: Target,
    path: Path,
    watch: Watch,
    *,
    rate: int = 1,
    writes: bool = False,
    overwrite: bool = False,
    part_bytes: int | None = None,
    keep: int | None = None,
) -> Recorded:
    """Trace until `watch` says so, the server ends, or the tracer dies; keep all there is.

    Of `rate` records one is traced (zmysql.trace.sampling says which), with `writes` also when it is written. With
    `part_bytes` the trace goes to several files, see Parts.

    Raises UsageError where `path` exists already, and ZmysqlError where nothing could be traced or written; then
    nothing new is left behind.
    """
    if writes and target.tracer.kind is Kind.HISTORY:
        raise UsageError(
            "the kernel's history of reads has no writes: leave --writes out, or install dtrace or bpftrace"
        )
    target = replace(target, header=replace(target.header, sampling=f"1/{rate}"))
    with (
        resources.as_file(resources.files("zmysql.dscripts") / target.tracer.file_name(SCRIPT)) as script,
        FollowedFiles(host, target.server, target.files, target.mounted) as files,
        Parts(path, target.header, overwrite=overwrite, part_bytes=part_bytes, keep=keep) as parts,
    ):

        def command(server: Server, seconds: int) -> list[str]:
            return target.tracer.command(script, (str(server.pid), str(seconds), str(rate), str(int(writes))))

        def header(reader: Reader) -> Header:
            return _named(host, target, files, reader)

        recording = Recording(host, command, parts, files=files, header=header, watch=watch)
        final = recording.run()
        return Recorded(final, recording.complaint, tuple(parts.files), parts.records)


def _named(host: Host, target: Target, files: FollowedFiles, reader: Reader) -> Header:
    """Give the header with the files and datasets that were read, by the names that they have now, or had before."""
    paths = files.now()
    objsets = {objset for objset, _ in reader.addresses} | target.files.objsets
    return replace(
        target.header,
        arc_bytes=arc_bytes(host),
        datasets={
            objset: target.mounted.datasets[objset] for objset in sorted(objsets & target.mounted.datasets.keys())
        },
        objects={address: paths[address] for address in sorted(reader.addresses & paths.keys())},
    )

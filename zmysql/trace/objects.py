"""Which files and datasets the numbers in a trace mean: objset is a dataset, object is an inode number in it."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.trace.format import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zmysql.host import Host
    from zmysql.mysql.process import Server

# One file a record, NUL at its end, since a path may hold a newline: device, inode, name.
_FILE = r"%D %i %p\0"
_LINK = r"%f %l\0"
_DELETED = " (deleted)"
_PROPERTIES = "objsetid,recordsize"
# O_DIRECT in fdinfo's octal flags; asm-generic and x86 have 040000, these others.
_O_DIRECT_BY_MACHINE = {"aarch64": 0o200000, "armv7l": 0o200000, "ppc64le": 0o400000}
_O_DIRECT = 0o40000


@dataclass(frozen=True, slots=True)
class Mounted:
    """The mounted datasets of a host: objset ids by device number, and the datasets by objset id."""

    objsets: Mapping[int, int]
    datasets: Mapping[int, Dataset]


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that a process has open; `device` and `inode` as in stat(2)."""

    descriptor: int
    device: int
    inode: int
    path: str


@dataclass(frozen=True, slots=True)
class Files:
    """The ZFS files of a server: its data directory, the files it has open, and paths by (objset, object)."""

    data_directory: str
    opened: tuple[OpenFile, ...]
    paths: Mapping[tuple[int, int], str]

    @property
    def objsets(self) -> frozenset[int]:
        """The datasets that hold the files."""
        return frozenset(objset for objset, _ in self.paths)


def mounted_datasets(host: Host) -> Mounted:
    """Give the mounted file systems of all pools.

    Raises CommandFailed where zfs(8) fails.
    """
    listed = host.run(("zfs", "list", "-Hp", "-t", "filesystem", "-o", f"name,{_PROPERTIES}")).stdout
    return parse_mounted(listed, host.read_text("/proc/self/mountinfo"))


def parse_mounted(listed: str, mountinfo: str) -> Mounted:
    """Give the mounted datasets, from `zfs list -Hp -o name,objsetid,recordsize` and /proc/self/mountinfo."""
    by_name = {name: (int(objset), int(size)) for name, objset, size in _rows(listed)}
    objsets = {device: by_name[name][0] for device, name in _zfs_mounts(mountinfo) if name in by_name}
    mounted = frozenset(objsets.values())
    datasets = {objset: Dataset(name, size) for name, (objset, size) in by_name.items() if objset in mounted}
    return Mounted(objsets, datasets)


def server_files(host: Host, server: Server, mounted: Mounted) -> Files:
    """Give the files that a server has open, those in its data directory, and those beside its open files.

    Raises ZmysqlError where none of them is on ZFS.
    """
    proc = f"/proc/{server.pid}"
    directory = host.run(("readlink", f"{proc}/cwd"), check=False).stdout.rstrip("\n") or "/"
    # The names of the descriptors, then the files that they lead to, which may have no name any more.
    links = host.run(("find", f"{proc}/fd", "-type", "l", "-printf", _LINK), check=False).stdout
    found = host.run(("find", "-L", f"{proc}/fd", "-type", "f", "-printf", _FILE), check=False).stdout
    opened = tuple(one for one in parse_opened(links, found) if one.device in mounted.objsets)
    paths = {(mounted.objsets[one.device], one.inode): one.path for one in opened}
    # Through the process's root, which in a container isn't ours.
    paths = walk(host, f"{proc}/root", directory, opened, mounted) | paths
    if not paths:
        raise ZmysqlError(
            f"{server.name} {server.pid} on {host.name} has no file on ZFS (its data directory is {directory}): "
            "there is nothing to trace; move the data directory into a dataset, or name another process with --pid"
        )
    return Files(directory, opened, paths)


def walk(
    host: Host, root: str, directory: str, opened: tuple[OpenFile, ...], mounted: Mounted
) -> dict[tuple[int, int], str]:
    """Give the ZFS files below the data directory, and those in the directories of the open files, by their address."""
    inside = directory.rstrip("/") + "/"
    beside = {posixpath.dirname(one.path) for one in opened if not one.path.startswith(inside)}
    # A process that never left / is no server with a data directory.
    trees = [directory] if directory != "/" else []
    text = "".join(
        host.run(
            ("find", *[root + place for place in sorted(places)], *depth, "-type", "f", "-printf", _FILE), check=False
        ).stdout
        for places, depth in ((trees, ()), (beside, ("-maxdepth", "1")))
        if places
    )
    return {
        (mounted.objsets[device], inode): path.removeprefix(root)
        for device, inode, path in _files(text)
        if device in mounted.objsets
    }


def parse_opened(links: str, found: str) -> Iterator[OpenFile]:
    """Give the open regular files, from find's output over /proc/PID/fd and what it leads to."""
    targets = dict(link.split(" ", 1) for link in links.split("\0") if " " in link)
    for device, inode, path in _files(found):
        descriptor = posixpath.basename(path)
        if descriptor in targets:  # opened meanwhile otherwise
            yield OpenFile(int(descriptor), device, inode, targets[descriptor].removesuffix(_DELETED))


def direct_io(host: Host, server: Server, files: Files, mounted: Mounted) -> str | None:
    """Say which reads bypass the ARC (Direct I/O, OpenZFS ≥ 2.3), so that no cache device helps; None if none do."""
    enabled = host.run(("cat", "/sys/module/zfs/parameters/zfs_dio_enabled"), check=False).stdout.strip()
    if enabled != "1":
        return None
    objsets = {one: mounted.objsets[one.device] for one in files.opened}
    names = sorted({mounted.datasets[objset].name for objset in files.objsets})
    got = host.run(("zfs", "get", "-Hp", "-o", "name,value", "direct", *names), check=False).stdout
    direct = dict(_rows(got))
    always = [name for name in names if direct.get(name) == "always"]
    if always:
        return _direct_warning(f"{always[0]} has direct=always", always[0])
    text = host.run(
        ("sh", "-c", f'cd /proc/{server.pid}/fdinfo && grep -s "^flags:" -- * /dev/null'), check=False
    ).stdout
    machine = host.run(("uname", "-m")).stdout.strip()
    descriptors = descriptors_with(text, _O_DIRECT_BY_MACHINE.get(machine, _O_DIRECT))
    for one in files.opened:
        dataset = mounted.datasets[objsets[one]].name
        if one.descriptor in descriptors and direct.get(dataset) == "standard":
            return _direct_warning(f"{server.name} has {one.path} open with O_DIRECT", dataset)
    return None


def descriptors_with(flags: str, wanted: int) -> frozenset[int]:
    """Give the descriptors with all the wanted flags, from grep's output over fdinfo, such as `7:flags: 0140002`."""
    rows = (line.split(":") for line in flags.splitlines() if line.count(":") == 2)  # noqa: PLR2004 - as shown
    return frozenset(int(number) for number, _, octal in rows if int(octal.strip(), 8) & wanted == wanted)


def _direct_warning(what: str, dataset: str) -> str:
    return (
        f"{what}: reads by Direct I/O bypass the ARC, and no L2ARC sees them; set innodb_flush_method=fsync "
        f"(MariaDB 11: innodb_data_file_buffering=ON), or `zfs set direct=disabled {dataset}`"
    )


def _rows(text: str) -> Iterator[list[str]]:
    return (line.split("\t") for line in text.splitlines())


def _zfs_mounts(mountinfo: str) -> Iterator[tuple[int, str]]:
    """Yield device number and dataset of each mounted ZFS file system; see proc_pid_mountinfo(5)."""
    for line in mountinfo.splitlines():
        mount, _, source = line.partition(" - ")
        kind, name = source.split(" ")[:2]
        if kind == "zfs":
            major, minor = mount.split(" ")[2].split(":")
            # Octal escapes stand for blanks, which a dataset's name may hold.
            yield os.makedev(int(major), int(minor)), name.replace(r"\040", " ")


def _files(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield device, inode and path from find's output in _FILE."""
    for entry in text.split("\0"):
        if entry:
            device, inode, path = entry.split(" ", 2)
            yield int(device), int(inode), path

"""What differs between the systems that ZFS runs on: disks, processes, files. One `System` for each."""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.platforms import freebsd, illumos, linux, open_files
from zmysql.platforms.open_files import read_openers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.host import Host
    from zmysql.platforms.device import Device
    from zmysql.platforms.open_files import Opener

    Argv = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A process, and the words that it was started with, as far as blanks tell them apart."""

    pid: int
    argv: tuple[str, ...]


class System(ABC):
    """An operating system.

    `name` is linux, freebsd or illumos; `stable_folder` is where the names of disks lie that survive a reboot.
    """

    name: str
    stable_folder: str

    @abstractmethod
    def disks(self, host: Host) -> tuple[Device, ...]:
        """Give the whole disks of a host with what uses them, but for imported pools.

        Raises ZmysqlError where the command that lists them is missing.
        """

    def settle(self, host: Host) -> None:  # noqa: B027 - to do nothing is right where a command waits for its effects
        """Wait until the system has seen what was last done to its disks."""

    @abstractmethod
    def blank_disk(self, device: Device) -> tuple[Argv, ...]:
        """Give the commands that take ZFS's labels and partitions off a disk, so that it is as free as before.

        All are run, also after one that failed: a part without a label has none to clear. What counts is the last.
        """

    @abstractmethod
    def memory_bytes(self, host: Host) -> int | None:
        """Give the size of the host's memory, None where it can't be read."""

    @abstractmethod
    def processes(self, host: Host, program: str) -> tuple[RunningProcess, ...]:
        """Give the processes that run a program of this name, with their arguments."""

    @abstractmethod
    def record_sizes(self, host: Host, directory: str, patterns: Sequence[str]) -> tuple[int, ...] | None:
        """Give the record size in bytes of each file under a directory of ZFS whose name matches one of the patterns.

        It is st_blksize of stat(2), which stays what it was when the file grew past its first record. None where the
        system has no command that tells it.
        """

    def directory_holds_files(self, host: Host, path: str) -> bool:
        """Tell whether there is something at a path that a file system mounted there would hide."""
        # A file by that name is listed as itself, and stands in the way as much.
        return bool(host.run(("ls", "-A", "--", path), check=False).stdout)

    def open_by(self, host: Host, mountpoints: Sequence[str]) -> tuple[Opener, ...]:
        """Give the processes that have files open on the file systems mounted there. Root sees those of all users."""
        return read_openers(host, open_files.POSIX, mountpoints)

    def owner(self, host: Host, path: str) -> str | None:
        """Give the user to whom a file or directory belongs, None where there is none."""
        listed = host.run(("ls", "-ld", "--", path), check=False).stdout.split(maxsplit=3)
        return listed[2] if len(listed) > 2 else None  # noqa: PLR2004 - mode, links, owner: ls(1) in POSIX


class Linux(System):
    """Linux, with util-linux and udev."""

    name = "linux"
    stable_folder = "/dev/disk/by-id"

    def disks(self, host: Host) -> tuple[Device, ...]:
        """Read lsblk(8) and udev's links."""
        return linux.disks(host)

    def settle(self, host: Host) -> None:
        """Wait for udev: else lsblk still shows yesterday. Without udev there is nothing to wait for."""
        host.run(("udevadm", "settle"), check=False)

    def blank_disk(self, device: Device) -> tuple[Argv, ...]:
        """Clear labels and table; with the last command the kernel forgets the partitions."""
        labels = [("zpool", "labelclear", "-f", part) for part in device.parts]
        wipe = ("wipefs", "--all", "--quiet", device.path)
        return (*labels, wipe, ("blockdev", "--rereadpt", device.path))

    def memory_bytes(self, host: Host) -> int | None:
        """Read MemTotal."""
        return linux.parse_memory(host.run(("cat", "/proc/meminfo"), check=False).stdout)

    def processes(self, host: Host, program: str) -> tuple[RunningProcess, ...]:
        """Ask pgrep(1)."""
        return parse_processes(host.run(("pgrep", "-a", "-x", program), check=False).stdout)

    def open_by(self, host: Host, mountpoints: Sequence[str]) -> tuple[Opener, ...]:
        """Read /proc: fuser(1) is often not installed."""
        return read_openers(host, open_files.LINUX, mountpoints)

    def record_sizes(self, host: Host, directory: str, patterns: Sequence[str]) -> tuple[int, ...] | None:
        """Ask GNU stat."""
        found = host.run((*find_files(directory, patterns), "-exec", "stat", "-c", "%o", "{}", "+"), check=False)
        return tuple(int(line) for line in found.stdout.split())


class FreeBSD(System):
    """FreeBSD 11 or later, with GEOM."""

    name = "freebsd"
    stable_folder = "/dev/diskid"

    def disks(self, host: Host) -> tuple[Device, ...]:
        """Read GEOM's tree."""
        return freebsd.disks(host)

    def blank_disk(self, device: Device) -> tuple[Argv, ...]:
        """Clear the labels: zpool(8) takes a whole disk as it is here, and writes no table."""
        return (("zpool", "labelclear", "-f", device.path),)

    def memory_bytes(self, host: Host) -> int | None:
        """Read hw.physmem."""
        said = host.run(("sysctl", "-n", "hw.physmem"), check=False).stdout.strip()
        return int(said) if said.isdigit() else None

    def processes(self, host: Host, program: str) -> tuple[RunningProcess, ...]:
        """Ask pgrep(1) for the pids, and ps(1) for all their words."""
        script = 'pids=$(pgrep -d , -x -- "$1") && ps -ww -o pid= -o args= -p "$pids"'
        return parse_processes(host.run(("sh", "-c", script, "sh", program), check=False).stdout)

    def record_sizes(self, host: Host, directory: str, patterns: Sequence[str]) -> tuple[int, ...] | None:
        """Ask stat(1); sizes below the page's, 4 KiB, read as that."""
        found = host.run((*find_files(directory, patterns), "-exec", "stat", "-f", "%k", "{}", "+"), check=False)
        return tuple(int(line) for line in found.stdout.split())


class Illumos(System):
    """illumos: OmniOS, SmartOS, OpenIndiana, Helios. Not Oracle Solaris, whose ZFS is another."""

    name = "illumos"
    stable_folder = "/dev/dsk"

    def disks(self, host: Host) -> tuple[Device, ...]:
        """Read diskinfo(8) and the tables."""
        return illumos.disks(host)

    def blank_disk(self, device: Device) -> tuple[Argv, ...]:
        """Clear the labels; the EFI label that zpool(8) writes counts as free here."""
        return (("zpool", "labelclear", "-f", f"{device.path}s0"),)

    def memory_bytes(self, host: Host) -> int | None:
        """Read the head of prtconf(8)."""
        return illumos.parse_memory(host.run(("prtconf",), check=False).stdout)

    def processes(self, host: Host, program: str) -> tuple[RunningProcess, ...]:
        """Ask pargs(1) for the words of each, of which ps(1) here shows the first 80 characters."""
        script = 'for pid in $(pgrep -x -- "$1"); do echo "$pid $(pargs -l "$pid")"; done'
        return parse_processes(host.run(("sh", "-c", script, "sh", program), check=False).stdout)

    def record_sizes(self, host: Host, directory: str, patterns: Sequence[str]) -> tuple[int, ...] | None:
        """Ask perl, as there is no stat(1) in every distribution; field 11 is st_blksize."""
        program = 'print +(lstat)[11], "\\n" for @ARGV'
        find = (*find_files(directory, patterns), "-exec", "perl", "-e", program, "{}", "+")
        found = host.run(find, check=False) if host.has("perl") else None
        return tuple(int(line) for line in found.stdout.split()) if found else None


_SYSTEMS: dict[str, System] = {"Linux": Linux(), "FreeBSD": FreeBSD(), "SunOS": Illumos()}
# uname -v of Oracle's Solaris: 11.4.0.15.0, or Generic_147148-26. illumos's have names: omnios-r151054-…, joyent_….
_SOLARIS = re.compile(r"(?:1[01]\.\d|Generic)")


@functools.lru_cache(maxsize=8)
def system_of(host: Host) -> System:
    """Give the system that a host runs; asked once, since it stays and each question to a distant host costs time.

    Raises ZmysqlError for one that zmysql doesn't know.
    """
    return parse_system(host.run(("uname", "-sv")).stdout, host.name)


def parse_system(uname: str, host_name: str) -> System:
    """Give the system from `uname -sv`, where -s comes first on all of them.

    Raises ZmysqlError for one that zmysql doesn't know, naming the host.
    """
    name, _, version = uname.strip().partition(" ")
    if name not in _SYSTEMS or (name == "SunOS" and _SOLARIS.match(version)):
        what = "Oracle Solaris" if name == "SunOS" else name or "something that has no name"
        raise ZmysqlError(f"{host_name} runs {what}: zmysql knows Linux, FreeBSD and illumos")
    return _SYSTEMS[name]


def find_files(directory: str, patterns: Sequence[str]) -> Argv:
    """Give the beginning of a find(1) that finds files by the patterns of their names."""
    names = [word for pattern in patterns for word in ("-o", "-name", pattern)]
    return ("find", directory, "-type", "f", "(", *names[1:], ")")


def parse_processes(text: str) -> tuple[RunningProcess, ...]:
    """Give the processes from lines of a pid and the words of the command."""
    lines = (line.split() for line in text.splitlines() if line.strip())
    return tuple(RunningProcess(int(pid), tuple(argv)) for pid, *argv in lines)

"""What the guest's image is made of, and the key under which it is cached."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Pin:
    """A package taken from a suite that moves, and what stands in when it isn't there any more."""

    package: str
    suite: str
    version_prefix: str
    fallback: tuple[str, ...] = ()

    def line(self) -> str:
        """Give the line that customize.sh reads."""
        return " ".join((self.package, self.suite, self.version_prefix, *self.fallback))


@dataclass(frozen=True, slots=True)
class Server:
    """A database server that is unpacked into /opt/NAME, since as a package it excludes the installed one.

    `packages` come from `suite`: first the server's own, whose version must begin with `version_prefix`, then others
    and the libraries that the guest's suite lacks.
    """

    name: str
    suite: str
    version_prefix: str
    packages: tuple[str, ...]

    def line(self) -> str:
        """Give the line that customize.sh reads."""
        return " ".join((self.name, self.suite, self.version_prefix, *self.packages))


@dataclass(frozen=True, slots=True)
class Recipe:
    """A Debian guest. Its key changes with every word of it, and with customize.sh."""

    suite: str
    packages: tuple[str, ...]
    pins: tuple[Pin, ...]
    servers: tuple[Server, ...] = ()

    @property
    def other_suites(self) -> tuple[str, ...]:
        """The suites beside the guest's own, from which only what is named here is taken."""
        named = {pin.suite for pin in self.pins} | {server.suite for server in self.servers}
        return tuple(sorted(named - {self.suite}))

    def key(self) -> str:
        """Give the name of the image in the cache: 16 hex digits over the recipe and the script."""
        return hashlib.sha256(f"{astuple(self)!r}\n{script_text()}".encode()).hexdigest()[:16]


def script_text() -> str:
    """Give customize.sh, which finishes the root file system."""
    return resources.files("zmysql.testbed").joinpath("customize.sh").read_text(encoding="utf-8")


DEBIAN_13 = Recipe(
    suite="trixie",
    packages=(
        "linux-image-cloud-amd64",
        "linux-headers-cloud-amd64",
        "dkms",
        "dwarves",  # pahole: without it zfs.ko has no BTF, and DTrace can't see its types
        "zfs-dkms",
        "zfsutils-linux",
        "python3-pyzfs",
        "systemd-sysv",
        "udev",
        "dbus",
        "initramfs-tools",
        "iproute2",
        "openssh-server",
        "bpftrace",
        "sysbench",
        "liburing2",  # these two are libraries of the unpacked servers
        "libncurses6",
        "fio",
        "e2fsprogs",  # these four make disks busy in the tests
        "fdisk",
        "dmsetup",
        "procps",
        "python3-venv",
        "python3-pip",
        "python3-click",
        "python3-rich",
    ),
    pins=(
        Pin("nbdkit", "forky", "1."),  # the spinning filter came with 1.46
        Pin("mysql-server-core", "sid", "9.", ("mariadb-server",)),
        Pin("mysql-client-core", "sid", "9."),
        Pin("dtrace", "sid", "2.", ("bpftrace",)),
    ),
    servers=(
        Server("mariadb-11.8", "trixie", "1:11.8.", ("mariadb-server-core", "mariadb-client-core")),
        Server("mariadb-10.11", "bookworm", "1:10.11.", ("mariadb-server-core", "mariadb-client-core", "libaio1")),
    ),
)

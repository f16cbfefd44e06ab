"""A disk of a machine and what uses it; the platform modules give these, and the planner takes them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MediaClass(StrEnum):
    """What a disk is made of, as far as its latency goes."""

    HDD = "hdd"
    SSD = "ssd"
    NVME = "nvme"


class UseKind(StrEnum):
    """How a disk can be in use."""

    MOUNTED = "mounted"
    SWAP = "swap"
    POOL = "pool"
    LABEL = "label"
    HELD = "held"
    FILE_SYSTEM = "file system"
    PARTITION = "partition"
    ZFS_PARTITION = "partition of ZFS without a label"
    PARTITION_TABLE = "partition table"
    READ_ONLY = "read-only"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Use:
    """One reason why a disk isn't free: its kind, and one phrase that names what it is, such as `mounted at /srv`.

    `pool` is the name of the pool that it is in or has a label of, where the label says it. `way_out` says, with the
    system's own commands, how a person frees the disk of it, or what to do instead.
    """

    kind: UseKind
    what: str
    pool: str | None = None
    way_out: str = "name another disk"

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class Device:
    """A whole disk.

    `name` is the kernel's (sda), `path` its node (/dev/sda), `by_id` the stable path that pools are made of,
    `aliases` every path that names the whole disk, and `parts` the nodes of all that lies on it (partitions,
    logical volumes, arrays). An empty `used_by` means free.
    """

    name: str
    path: str
    media: MediaClass
    size_bytes: int
    logical_sector_bytes: int
    physical_sector_bytes: int
    transport: str | None = None
    vendor: str | None = None
    model: str | None = None
    serial: str | None = None
    wwn: str | None = None
    removable: bool = False
    by_id: str | None = None
    aliases: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    used_by: tuple[Use, ...] = ()

    @property
    def stable_path(self) -> str:
        """The path to make pools of: by-id, or the kernel's where the disk has no other name."""
        return self.by_id or self.path

    def is_called(self, name: str) -> bool:
        """Tell whether a person can mean this disk by `name`: a path, or a bare name such as sda or wwn-0x5000…."""
        if name in {self.name, self.path, *self.aliases}:
            return True
        return "/" not in name and any(alias.rsplit("/", 1)[1] == name for alias in self.aliases)

    def carries(self, path: str) -> bool:
        """Tell whether the node at `path` is this disk or lies on it."""
        return path == self.path or path in self.aliases or path in self.parts

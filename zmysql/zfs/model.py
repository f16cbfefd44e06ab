"""Pools, vdevs and datasets, as wanted and as read back: the same types, so that the two can be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST_VDEV_BYTES = 64 << 20  # SPA_MINDEVSIZE: ZFS takes no smaller vdev


class VdevRole(StrEnum):
    """What a top-level vdev is for, in the words of zpoolconcepts(7); `data` are those without a word of their own."""

    DATA = "data"
    SPECIAL = "special"
    DEDUP = "dedup"
    LOG = "log"
    CACHE = "cache"
    SPARE = "spare"


@dataclass(frozen=True, slots=True)
class Vdev:
    """A top-level vdev: `kind` is disk, mirror, raidz1, …; `disks` are the paths of its leaves."""

    role: VdevRole
    kind: str
    disks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file system and its properties: sizes as an admin writes them when wanted, in bytes when read back."""

    name: str
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool; the first of its datasets is its root. A wanted pool has no GUID yet."""

    name: str
    vdevs: tuple[Vdev, ...]
    properties: Mapping[str, str] = field(default_factory=dict)
    datasets: tuple[Dataset, ...] = ()
    state: str = "ONLINE"
    guid: str | None = None

    def with_role(self, role: VdevRole) -> tuple[Vdev, ...]:
        """Give the vdevs of one role, in order."""
        return tuple(vdev for vdev in self.vdevs if vdev.role is role)

    def dataset(self, name: str) -> Dataset | None:
        """Give the dataset of that name, if the pool has it."""
        return next((dataset for dataset in self.datasets if dataset.name == name), None)

    def property_of_root(self, name: str) -> str | None:
        """Give a property of the pool's root dataset, if it is set."""
        root = self.dataset(self.name)
        return root.properties.get(name) if root else None

"""What an audit knows: the pools as they are, the machine, the server, and the template. Values only."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.zfs.properties import type_of_dataset_property

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from zmysql.check.mysqld import Server
    from zmysql.layout.model import Inventory, PoolSpec, Template
    from zmysql.platforms.device import MediaClass
    from zmysql.zfs.capability import Zfs
    from zmysql.zfs.model import Dataset, Pool, VdevRole

# What holds pages of tables, and what the server writes that has to survive.
TABLESPACES = ("data", "system", "undo")
DURABLE = (*TABLESPACES, "doublewrite", "redo", "binlog", "relay")


class Need(StrEnum):
    """A kind of fact that can be missing, and without which some rules can't be run."""

    SERVER = "server"
    PLACES = "places"
    FILES = "files"
    TEMPLATE = "template"
    ASHIFT = "ashift"
    PARAMETERS = "parameters"
    ARC = "arc"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A disk of a pool, or a part of one.

    `name` is what commands take and `node` the kernel's path; `errors` are reads, writes and checksums; `note` is what
    zpool status says at the end of its line: when it was trimmed, or what it was. None where nothing says it.
    """

    name: str
    node: str
    state: str
    errors: tuple[int, int, int]
    note: str
    size_bytes: int | None
    written_bytes_per_s: int | None


@dataclass(frozen=True, slots=True)
class Top:
    """A top-level vdev; `ashift` is its own, which may differ from the pool's property."""

    role: VdevRole
    kind: str
    leaves: tuple[Leaf, ...]
    ashift: int | None

    @property
    def bears(self) -> int:
        """How many of its disks it can lose."""
        parity = re.match(r"d?raidz?([123])", self.kind)
        if parity:
            return int(parity[1])
        return len(self.leaves) - 1

    @property
    def is_redundant(self) -> bool:
        """Whether it can lose a disk."""
        return self.bears > 0

    def __str__(self) -> str:
        names = " ".join(leaf.name for leaf in self.leaves)
        return f"{self.kind} of {names}" if self.is_redundant else f"disk {names}"


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """A pool as it is.

    `sources` has for each dataset and property where the value comes from, in the words of zfs-get(8); `status` the
    fields of zpool status before its table; `imported_s` says how long ago it was imported, where the system tells.
    `spec` and `wanted` are what its template wants, None where zmysql didn't make it or the template can't be read.
    """

    pool: Pool
    tops: tuple[Top, ...]
    sources: Mapping[str, Mapping[str, str]]
    status: Mapping[str, str]
    imported_s: int | None
    removed_vdevs: int = 0
    spec: PoolSpec | None = None
    wanted: Pool | None = None

    @property
    def name(self) -> str:
        """The pool's name."""
        return self.pool.name

    def with_role(self, role: VdevRole) -> tuple[Top, ...]:
        """Give the vdevs of one role."""
        return tuple(top for top in self.tops if top.role is role)

    def file_systems(self) -> Iterator[Dataset]:
        """Give the datasets that are file systems."""
        return (one for one in self.pool.datasets if one.properties.get("type") == "filesystem")

    def is_meant(self, dataset: str, name: str, value: str) -> bool:
        """Tell whether the template itself gives a dataset this value."""
        found = self.wanted and self.wanted.dataset(dataset)
        if not self.wanted or not found:
            return False
        meant = {**self.wanted.datasets[0].properties, **found.properties}.get(name)
        kind = type_of_dataset_property.get(name)
        return meant is not None and kind is not None and kind.reads_as(meant, value)

    def setting(self, dataset: str, name: str) -> tuple[str | None, str]:
        """Give the value of a dataset's property, and the dataset at which to set it so that it holds there.

        That is where its value comes from; for a default in a pool of zmysql's it is the root, as in the template.
        """
        source = self.sources.get(dataset, {}).get(name, "-")
        if source == "temporary" and dataset != self.name:
            # It holds until the next mount, which was made with what its parent had then: zfsprops(7).
            return self.setting(dataset.rpartition("/")[0], name)
        found = self.pool.dataset(dataset)
        value = found.properties.get(name) if found else None
        if source.startswith("inherited from "):
            return value, source.removeprefix("inherited from ")
        return value, self.name if source == "default" and self.wanted is not None else dataset


@dataclass(frozen=True, slots=True)
class File:
    """A file of tables: its size, and that of its records, which it keeps for life once it has more than one."""

    path: str
    size_bytes: int
    record_bytes: int

    @property
    def is_settled(self) -> bool:
        """Whether the record size can't change any more."""
        return self.size_bytes > self.record_bytes


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the rules look at.

    `now` is the machine's clock, `epoch_s` the same in seconds since 1970, and `up_s` how long it runs; `swap` are
    volumes of ZFS that it swaps to. `dwpd` is how often a day the SSDs may be written whole. `unknown` says of each
    kind of fact that is missing why it is.
    """

    hostname: str
    now: datetime
    epoch_s: int
    up_s: int
    pools: tuple[PoolFacts, ...]
    inventory: Inventory
    parameters: Mapping[str, int]
    arcstats: Mapping[str, int]
    swap: tuple[str, ...]
    memory_bytes: int | None
    dwpd: float
    zfs: Zfs
    template: Template | None = None
    server: Server | None = None
    files: tuple[File, ...] = ()
    unknown: Mapping[Need, str] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """The operating system: linux, freebsd or illumos."""
        return self.zfs.system

    @property
    def layout(self) -> str:
        """The name that the pools have in common: that of the first."""
        return self.pools[0].name

    def dataset(self, name: str) -> tuple[PoolFacts, Dataset] | None:
        """Give a dataset of the pools by name."""
        found = ((pool, pool.pool.dataset(name)) for pool in self.pools)
        return next(((pool, dataset) for pool, dataset in found if dataset), None)

    def planned(self, key: str) -> tuple[PoolFacts, Dataset] | None:
        """Give the dataset that the layout has for a kind of file, such as data or redo."""
        found = (self.dataset(f"{pool.name}/mysql/{key}") for pool in self.pools)
        return next((one for one in found if one), None)

    def used_for(self, key: str) -> tuple[PoolFacts, Dataset] | None:
        """Give the dataset where the server keeps a kind of file, or, where it wasn't asked, the layout's for it."""
        place = self.server.places.get(key) if self.server else None
        return self.dataset(place.file_system) if place else self.planned(key)

    def databases(self, keys: tuple[str, ...] = DURABLE) -> tuple[tuple[PoolFacts, Dataset], ...]:
        """Give the datasets that hold the files of some kinds, each once; all of them where nothing says which."""
        found = [one for key in keys for one in (self.used_for(key), self.planned(key)) if one]
        if not found:
            found = [(pool, dataset) for pool in self.pools for dataset in pool.file_systems()]
        return tuple({dataset.name: (pool, dataset) for pool, dataset in found}.values())

    def media(self, leaf: Leaf) -> MediaClass | None:
        """Give what a leaf is made of, None where its disk isn't known."""
        device = self.inventory.carrying(leaf.node)
        return device.media if device else None

    def page_bytes(self) -> int:
        """Give the size of InnoDB's pages: the server's, or the default."""
        return self.server.size("innodb_page_size") if self.server else 16 << 10

"""What a layout is made of: a template, the plan made from it, and what can stand against it.

Disks are `zmysql.platforms.device.Device`; pools, vdevs and datasets are in `zmysql.zfs.model`, as wanted and as read
back. They live there because layout builds on platforms and zfs, and not they on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zmysql.platforms.device import Device, MediaClass
    from zmysql.zfs.commands import Argv
    from zmysql.zfs.model import Pool, VdevRole


class Allow(StrEnum):
    """The named overrides: what a person may allow, one by one, as --allow-WORD. There is none that allows all."""

    IN_USE = "in-use"
    UNEQUAL = "unequal"
    ASHIFT_MISMATCH = "ashift-mismatch"
    CLASS_MISMATCH = "class-mismatch"
    REPLICATION_MISMATCH = "replication-mismatch"
    NO_REDUNDANCY = "no-redundancy"
    WIDE = "wide"
    SMALL_LOG = "small-log"
    L2ARC_HEADERS = "l2arc-headers"


NOTHING_ALLOWED: frozenset[Allow] = frozenset()


# What a template may have datasets for. my.cnf puts each in its place, so these are all; `system` has the system
# tablespace.
DATASETS = ("data", "redo", "binlog", "relay", "undo", "doublewrite", "system", "tmp", "logs")


class Prefer(StrEnum):
    """Which disks a role takes first when none are named."""

    LARGEST = "largest"
    SMALLEST = "smallest"


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """The vdevs of one role that a template wants: their kind and width, from which classes of disks.

    `kind` is disk, mirror, raidz1, raidz2 or raidz3. At least `min_vdevs`; when no disks are named, at most
    `fill_vdevs` (None: as many as there are disks for).
    """

    role: VdevRole
    classes: tuple[MediaClass, ...]
    kind: str
    width: int
    min_vdevs: int
    fill_vdevs: int | None
    prefer: Prefer


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """One pool of a template: its properties, the roles in the order in which they take disks, and its datasets.

    `key` is None for the template's first pool, which has the name that a person gives; another pool is called that
    name, a hyphen and its key. `root_properties` are set on the root and inherited; `datasets` are under POOL/mysql,
    by name, with what differs. `overridden` are the keys that a person set, such as pool.ashift or vdevs.data.kind.
    """

    key: str | None
    properties: Mapping[str, str]
    roles: tuple[RoleSpec, ...]
    root_properties: Mapping[str, str]
    datasets: Mapping[str, Mapping[str, str]]
    overridden: frozenset[str] = frozenset()

    @property
    def prefix(self) -> str:
        """What stands before a key of this pool in a setting, as in pools.log.pool.ashift=12."""
        return "" if self.key is None else f"pools.{self.key}."

    def name_of_pool(self, layout: str) -> str:
        """Give the name of this pool in a layout of that name."""
        return layout if self.key is None else f"{layout}-{self.key}"


@dataclass(frozen=True, slots=True)
class Template:
    """A layout that someone has thought about, and where the thoughts come from.

    `name` is that of a template of zmysql's, or the absolute path of a person's own; `text` is the file itself.
    `settings` are the parameters that a person overrode, such as data.recordsize=32K; they are in `pools` already.
    The first of `pools` has the key None, and a dataset is in one of them only.
    """

    name: str
    description: str
    when: str
    sources: tuple[str, ...]
    pools: tuple[PoolSpec, ...]
    text: str
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asks for: a layout by name, from a template, of which disks, and how far to go.

    `named` has the names of disks by the key of the template's pool and by role; `reconcile` is to change a pool that
    is there already and differs.
    """

    layout: str
    template: Template
    named: Mapping[str | None, Mapping[VdevRole, Sequence[str]]]
    allow: frozenset[Allow] = NOTHING_ALLOWED
    reconcile: bool = False

    def named_for(self, spec: PoolSpec) -> Mapping[VdevRole, Sequence[str]]:
        """Give the names of the disks for one pool of the template."""
        return self.named.get(spec.key, {})


@dataclass(frozen=True, slots=True)
class Inventory:
    """The disks of a host, with what uses them, and its imported pools."""

    devices: tuple[Device, ...]
    pools: tuple[Pool, ...]

    def named(self, name: str) -> Device | None:
        """Give the disk that a person means by a name."""
        return next((device for device in self.devices if device.is_called(name)), None)

    def carrying(self, path: str) -> Device | None:
        """Give the disk on which the node at a path lies."""
        return next((device for device in self.devices if device.carries(path)), None)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a plan can't be made, and the way out. `about` is the device or role that stands against it.

    `allow` is the override with which it would be made all the same, where there is one.
    """

    about: str
    why: str
    way_out: str
    allow: Allow | None = None

    def __str__(self) -> str:
        override = f" (or --allow-{self.allow}, if you know better)" if self.allow else ""
        return printable(f"{self.about}: {self.why}; {self.way_out}{override}")


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which disks each role has, and why: one line for each choice."""

    disks: Mapping[VdevRole, tuple[Device, ...]]
    reasons: tuple[str, ...]

    @property
    def devices(self) -> tuple[Device, ...]:
        """All disks that have a role."""
        return tuple(device for of_role in self.disks.values() for device in of_role)


@dataclass(frozen=True, slots=True)
class Plan:
    """What will run, exactly: `steps` are argv lists in order; `wanted` is the pool that must be there afterwards."""

    template: str
    wanted: Pool
    disks: Mapping[VdevRole, tuple[Device, ...]]
    steps: tuple[Argv, ...]
    reasons: tuple[str, ...]

    @property
    def devices(self) -> tuple[Device, ...]:
        """All disks of the pool."""
        return tuple(device for of_role in self.disks.values() for device in of_role)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that isn't as wanted: of what (a pool, a dataset), which property or part; None means absent."""

    of: str
    what: str
    wanted: str | None
    actual: str | None

    def __str__(self) -> str:
        return f"{self.of}: {self.what} is {self.actual or 'absent'}, wanted {self.wanted or 'none'}"

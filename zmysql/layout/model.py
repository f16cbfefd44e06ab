"""What a layout is made of: a template, the plan made from it, and what can stand against it.

Disks are `zmysql.platforms.device.Device`; pools, vdevs and datasets are in `zmysql.zfs.model`, as wanted and as read
back. They live there because layout builds on platforms and zfs, and not they on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zmysql.platforms.device import Device, MediaClass
    from zmysql.zfs.commands import Argv
    from zmysql.zfs.model import Pool, VdevRole


class Prefer(StrEnum):
    """Which disks a role takes first when none are named."""

    LARGEST = "largest"
    SMALLEST = "smallest"


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """The vdevs of one role that a template wants: their kind and width, from which classes of disks.

    At least `min_vdevs`; when no disks are named, at most `fill_vdevs` (None: as many as there are disks for).
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

    `root_properties` are set on the root and inherited; `datasets` are under POOL/mysql, by name, with what differs.
    """

    properties: Mapping[str, str]
    roles: tuple[RoleSpec, ...]
    root_properties: Mapping[str, str]
    datasets: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Template:
    """A layout that someone has thought about, and where the thoughts come from. `text` is the file itself."""

    name: str
    description: str
    when: str
    sources: tuple[str, ...]
    pool: PoolSpec
    text: str


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
    """Why a plan can't be made, and the way out. `about` is the device or role that stands against it."""

    about: str
    why: str
    way_out: str

    def __str__(self) -> str:
        return f"{self.about}: {self.why}; {self.way_out}"


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

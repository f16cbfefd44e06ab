"""What the rules judge: the vdevs that a template makes of some disks, on a host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zmysql.layout.inventory import Site
    from zmysql.layout.model import PoolSpec, RoleSpec
    from zmysql.platforms.device import Device
    from zmysql.zfs.model import VdevRole

DEFAULT_RECORD_BYTES = 128 << 10  # recordsize in zfsprops(7)


def disk_losses(role: RoleSpec) -> int:
    """Give how many disks a vdev of a role can lose and still have all its data."""
    return parity(role) if role.kind.startswith("raidz") else role.width - 1


def parity(role: RoleSpec) -> int:
    """Give how many disks of a RAIDZ vdev hold parity; a mirror or single disk has none."""
    return int(role.kind.removeprefix("raidz")) if role.kind.startswith("raidz") else 0


@dataclass(frozen=True, slots=True)
class Case:
    """One pool of a template, the disks of its roles, and the host."""

    spec: PoolSpec
    disks: Mapping[VdevRole, tuple[Device, ...]]
    site: Site

    @property
    def devices(self) -> tuple[Device, ...]:
        """All disks that have a role."""
        return tuple(device for of_role in self.disks.values() for device in of_role)

    def of_role(self, role: RoleSpec) -> tuple[Device, ...]:
        """Give the disks of a role."""
        return self.disks.get(role.role, ())

    def role(self, role: VdevRole) -> RoleSpec | None:
        """Give what the template says of a role, if it has it and there are disks for it."""
        return next((one for one in self.spec.roles if one.role is role and self.of_role(one)), None)

    def vdevs(self, role: RoleSpec) -> Iterator[tuple[Device, ...]]:
        """Give the disks of each vdev of a role, in order; none where the last would be incomplete."""
        disks = self.of_role(role)
        if len(disks) % role.width == 0:
            yield from (disks[at : at + role.width] for at in range(0, len(disks), role.width))

    def usable_bytes(self, role: RoleSpec) -> int:
        """Give what the vdevs of a role hold, before metadata and compression."""
        carriers = 1 if role.kind == "mirror" else role.width - parity(role)
        return sum(carriers * min(disk.size_bytes for disk in vdev) for vdev in self.vdevs(role))

    def least_record_bytes(self, **having: str) -> int | None:
        """Give the smallest recordsize of the datasets that have these properties; None where there is no such one.

        A property that neither a dataset nor the root sets is `all` or 128K, as in zfsprops(7).
        """
        found = [{**self.spec.root_properties, **properties} for properties in self.spec.datasets.values()]
        return min(
            (
                parse_size(one["recordsize"]) if "recordsize" in one else DEFAULT_RECORD_BYTES
                for one in found
                if all(one.get(name, "all") == value for name, value in having.items())
            ),
            default=None,
        )

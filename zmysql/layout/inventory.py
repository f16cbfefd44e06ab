"""What a host has before a plan is made: disks with all that uses them, pools, and where a pool would mount."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.layout.model import Inventory
from zmysql.platforms import linux
from zmysql.platforms.device import Use, UseKind
from zmysql.zfs.read import imported_pools

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zmysql.host import Host
    from zmysql.platforms.device import Device
    from zmysql.zfs.model import Pool

# What lsblk says of a disk in an imported pool, where the pool itself says it better.
_SAID_BY_POOL = {UseKind.LABEL, UseKind.PARTITION, UseKind.ZFS_PARTITION}


@dataclass(frozen=True, slots=True)
class Site:
    """Where a pool would go.

    Whether its mount point holds files, whether there is a user and group mysql to own the datasets, and the process
    that makes a pool of this name right now, if one does.
    """

    mountpoint_is_taken: bool
    has_mysql_user: bool
    making_pid: int | None = None


def read_inventory(host: Host) -> Inventory:
    """Give the disks and imported pools of a host.

    Raises ZfsMissing where there is no ZFS.
    """
    pools = imported_pools(host)
    return Inventory(with_pools(linux.disks(host), pools), pools)


def read_site(host: Host, pool: str) -> Site:
    """Tell what matters of a host besides its disks for a pool of that name."""
    inside = host.run(("find", f"/{pool}", "-mindepth", "1", "-maxdepth", "1"), check=False)
    groups = host.run(("id", "-Gn", "mysql"), check=False)
    return Site(bool(inside.stdout), "mysql" in groups.stdout.split(), read_making_pid(host, pool))


def read_making_pid(host: Host, pool: str) -> int | None:
    """Give the process that runs `zpool create` for a pool now, if there is one.

    It outlives a create-pool that was killed, and while it runs nothing that is seen of its disks and pool is final.
    """
    for line in host.run(("pgrep", "-a", "-x", "zpool"), check=False).stdout.splitlines():
        pid, *argv = line.split()
        if "create" in argv and pool in argv:
            return int(pid)
    return None


def with_pools(devices: Iterable[Device], pools: Iterable[Pool]) -> tuple[Device, ...]:
    """Give the devices with the imported pools that they are in among their uses."""
    return tuple(_with_pools(device, tuple(pools)) for device in devices)


def _with_pools(device: Device, pools: tuple[Pool, ...]) -> Device:
    of = [pool.name for pool in pools for vdev in pool.vdevs if any(device.carries(path) for path in vdev.disks)]
    if not of:
        return device
    others = tuple(use for use in device.used_by if use.kind not in _SAID_BY_POOL)
    return replace(
        device, used_by=(*(Use(UseKind.POOL, f"in pool {name}", name) for name in dict.fromkeys(of)), *others)
    )

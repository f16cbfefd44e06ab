"""What a host has before a plan is made: disks with all that uses them, pools, and where a pool would mount."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.layout.model import Inventory
from zmysql.platforms.device import Use, UseKind
from zmysql.platforms.system import system_of
from zmysql.zfs.capability import Zfs, read_zfs
from zmysql.zfs.read import imported_pools, read_pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zmysql.host import Host
    from zmysql.platforms.device import Device
    from zmysql.zfs.model import Pool

# What lsblk says of a disk in an imported pool, where the pool itself says it better.
_SAID_BY_POOL = {UseKind.LABEL, UseKind.PARTITION, UseKind.ZFS_PARTITION}


UNKNOWN = Zfs("linux", None)


@dataclass(frozen=True, slots=True)
class Site:
    """Where a pool would go.

    Whether its mount point holds files, whether there is a user and group mysql to own the datasets, the process that
    makes a pool of this name right now, if one does, and the host's memory and ZFS as far as they are known.
    """

    mountpoint_is_taken: bool
    has_mysql_user: bool
    making_pid: int | None = None
    memory_bytes: int | None = None
    zfs: Zfs = UNKNOWN


@dataclass(frozen=True, slots=True)
class Seen:
    """What a host has for a layout: its disks and pools.

    By the names of the layout's pools: where each would go, and those that are there already.
    """

    inventory: Inventory
    sites: Mapping[str, Site]
    actual: Mapping[str, Pool]


def read_seen(host: Host, names: Iterable[str]) -> Seen:
    """Read all that a decision about pools of these names depends on.

    Raises ZfsMissing where there is no ZFS.
    """
    # The sites first: a `zpool create` that ends meanwhile is then either seen at work, or its pool is seen.
    sites = {name: read_site(host, name) for name in names}
    inventory = read_inventory(host)
    there = {pool.name for pool in inventory.pools}
    actual = {name: pool for name in sites if name in there and (pool := read_pool(host, name))}
    return Seen(inventory, sites, actual)


def read_inventory(host: Host) -> Inventory:
    """Give the disks and imported pools of a host.

    Raises ZfsMissing where there is no ZFS.
    """
    pools = imported_pools(host)
    return Inventory(with_pools(system_of(host).disks(host), pools), pools)


def read_site(host: Host, pool: str) -> Site:
    """Tell what matters of a host besides its disks for a pool of that name."""
    system = system_of(host)
    groups = host.run(("id", "-Gn", "mysql"), check=False)
    return Site(
        system.directory_holds_files(host, f"/{pool}"),
        "mysql" in groups.stdout.split(),
        read_making_pid(host, pool),
        system.memory_bytes(host),
        read_zfs(host, system.name),
    )


def read_making_pid(host: Host, pool: str) -> int | None:
    """Give the process that runs `zpool create` for a pool now, if there is one.

    It outlives a create-pool that was killed, and while it runs nothing that is seen of its disks and pool is final.
    """
    running = system_of(host).processes(host, "zpool")
    return next((one.pid for one in running if "create" in one.argv and pool in one.argv), None)


def without(inventory: Inventory, devices: Iterable[Device]) -> Inventory:
    """Give the inventory in which these disks are in use, since another pool of the same layout takes them."""
    taken = frozenset(device.name for device in devices)
    planned = Use(UseKind.PLANNED, "taken by another pool of this layout")
    return replace(
        inventory,
        devices=tuple(
            replace(one, used_by=(planned, *one.used_by)) if one.name in taken else one for one in inventory.devices
        ),
    )


def with_pools(devices: Iterable[Device], pools: Iterable[Pool]) -> tuple[Device, ...]:
    """Give the devices with the imported pools that they are in among their uses."""
    return tuple(_with_pools(device, tuple(pools)) for device in devices)


def _with_pools(device: Device, pools: tuple[Pool, ...]) -> Device:
    of = [pool.name for pool in pools for vdev in pool.vdevs if any(device.carries(path) for path in vdev.disks)]
    if not of:
        return device
    others = tuple(use for use in device.used_by if use.kind not in _SAID_BY_POOL and not _is_nameless_pool(use))
    return replace(
        device, used_by=(*(Use(UseKind.POOL, f"in pool {name}", name) for name in dict.fromkeys(of)), *others)
    )


def _is_nameless_pool(use: Use) -> bool:
    """Tell whether that is a pool whose name the kernel doesn't say, where ZFS does: GEOM of FreeBSD."""
    return use.kind is UseKind.POOL and use.pool is None

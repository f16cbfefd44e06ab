"""What pools a host has now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.host import EXIT_NOT_FOUND, checked
from zmysql.zfs.parse import parse_get, parse_pool, parse_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.host import Completed, Host
    from zmysql.zfs.model import Pool

# Marks on the root dataset of the pools that zmysql made: the template, the parameters of it that were set, the layout
# that the pool belongs to (the name of its first pool), and how far the making got.
TEMPLATE_MARK = "zmysql:template"
SETTINGS_MARK = "zmysql:set"
LAYOUT_MARK = "zmysql:layout"
STATE_MARK = "zmysql:state"
MARKS = (TEMPLATE_MARK, SETTINGS_MARK, LAYOUT_MARK, STATE_MARK)

_COLUMNS = ("-o", "name,property,value,source")


class ZfsMissing(ZmysqlError):
    """The host has no zpool command, or its kernel no ZFS."""


def imported_pools(host: Host) -> tuple[Pool, ...]:
    """Give the imported pools with their vdevs, disks by the kernel's names, without properties and datasets.

    Raises ZfsMissing without ZFS.
    """
    return parse_status(_zfs(host, ("zpool", "status", "-LP")).stdout)


def read_pool(host: Host, name: str) -> Pool | None:
    """Give one imported pool with its vdevs, GUID, and all properties; None where there is none.

    Raises ZfsMissing without ZFS.
    """
    pool = next((pool for pool in imported_pools(host) if pool.name == name), None)
    return None if pool is None else read_properties(host, pool)


def read_properties(host: Host, pool: Pool) -> Pool:
    """Complete an imported pool, whose vdevs are known, with its GUID and all properties."""
    name = pool.name
    # `all`, since a version of ZFS that doesn't know one of the names would give none of them.
    zpool_get = _zfs(host, ("zpool", "get", "-Hp", *_COLUMNS, "all", name)).stdout
    zfs_get = _zfs(host, ("zfs", "get", "-Hpr", "-t", "filesystem,volume", *_COLUMNS, "all", name)).stdout
    return parse_pool(pool, zpool_get, zfs_get)


def pools_of_layout(host: Host, layout: str) -> tuple[str, ...]:
    """Give the names of the imported pools that are marked as a layout's, its first pool first.

    Raises ZfsMissing without ZFS.
    """
    said = _zfs(host, ("zfs", "get", "-Hp", "-d", "0", "-t", "filesystem", *_COLUMNS, LAYOUT_MARK)).stdout
    found = [name for name, values in parse_get(said).items() if values.get(LAYOUT_MARK) == layout]
    return tuple(sorted(found, key=lambda name: (name != layout, name)))


def read_guid(host: Host, name: str) -> str | None:
    """Give the GUID of an imported pool; None where there is none of that name."""
    done = host.run(("zpool", "get", "-Hp", "-o", "value", "guid", name), check=False)
    return done.stdout.strip() if done.exit_status == 0 else None


def _zfs(host: Host, argv: Sequence[str]) -> Completed:
    done = host.run(argv, check=False)
    if done.exit_status == EXIT_NOT_FOUND:
        raise ZfsMissing(f"no {argv[0]} on {host.name}: install OpenZFS (Debian: zfsutils-linux and zfs-dkms)")
    if "ZFS modules" in done.stderr or "/dev/zfs" in done.stderr:
        raise ZfsMissing(
            f"the kernel of {host.name} has no ZFS loaded: run `modprobe zfs` as root; if there is none, install it "
            "(Debian: zfs-dkms and the kernel's headers)"
        )
    return checked(done)

"""What pools a host has now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.host import EXIT_NOT_FOUND, checked
from zmysql.zfs.parse import parse_pool, parse_status
from zmysql.zfs.properties import type_of_dataset_property, type_of_pool_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.host import Completed, Host
    from zmysql.zfs.model import Pool

# Marks on the root dataset of the pools that zmysql made: the template's name, and how far the making got.
TEMPLATE_MARK = "zmysql:template"
STATE_MARK = "zmysql:state"

_COLUMNS = ("-o", "name,property,value,source")


class ZfsMissing(ZmysqlError):
    """The host has no zpool command, or its kernel no ZFS."""


def imported_pools(host: Host) -> tuple[Pool, ...]:
    """Give the imported pools with their vdevs, disks by the kernel's names, without properties and datasets.

    Raises ZfsMissing without ZFS.
    """
    return parse_status(_zfs(host, ("zpool", "status", "-LP")).stdout)


def read_pool(host: Host, name: str) -> Pool | None:
    """Give one imported pool with its vdevs, GUID, and the properties that layouts set; None where there is none.

    Raises ZfsMissing without ZFS.
    """
    if all(pool.name != name for pool in imported_pools(host)):
        return None
    status = _zfs(host, ("zpool", "status", "-LP", name)).stdout
    pool_names = ",".join(("guid", *type_of_pool_property))
    zpool_get = _zfs(host, ("zpool", "get", "-Hp", *_COLUMNS, pool_names, name)).stdout
    names = ",".join((*type_of_dataset_property, "mountpoint", "mounted", TEMPLATE_MARK, STATE_MARK))
    zfs_get = _zfs(host, ("zfs", "get", "-Hpr", "-t", "filesystem,volume", *_COLUMNS, names, name)).stdout
    return parse_pool(status, zpool_get, zfs_get)


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

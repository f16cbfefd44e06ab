"""What real machines said, as captured by tests/machines/capture.sh, read by zmysql's parsers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.layout.inventory import with_pools
from zmysql.layout.model import Inventory
from zmysql.platforms.linux import parse_disks
from zmysql.zfs.parse import parse_pool, parse_status

if TYPE_CHECKING:
    from zmysql.zfs.model import Pool

MACHINES = Path(__file__).parent / "machines"


def capture(machine: str, file: str) -> str:
    """Give one captured file; a machine without ZFS has none of ZFS's."""
    path = MACHINES / machine / file
    return path.read_text() if path.exists() else ""


def inventory(machine: str) -> Inventory:
    """Give a machine's disks and pools, as read_inventory gives them."""
    pools = parse_status(capture(machine, "zpool-status"))
    disks = parse_disks(capture(machine, "lsblk.json"), capture(machine, "dev-disk"))
    return Inventory(with_pools(disks, pools), pools)


def pool(machine: str) -> Pool:
    """Give a machine's one pool, as read_pool gives it."""
    (found,) = parse_status(capture(machine, "zpool-status"))
    return parse_pool(found, capture(machine, "zpool-get"), capture(machine, "zfs-get"))

"""Which free disk could stand in, where a finding is mended with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.layout.rules.disks import EQUAL_WITHIN_BYTES
from zmysql.platforms.device import MediaClass, UseKind

if TYPE_CHECKING:
    from zmysql.check.facts import Facts, Leaf, PoolFacts
    from zmysql.platforms.device import Device
    from zmysql.zfs.commands import Argv

FAST = frozenset((MediaClass.SSD, MediaClass.NVME))


def spare_for(facts: Facts, leaf: Leaf) -> Device | None:
    """Give the smallest free disk that is as big and as fast as a leaf; None where there is none."""
    like = facts.inventory.carrying(leaf.node)
    if like is None:
        return None
    media = FAST if like.media in FAST else frozenset((like.media,))
    pools = {pool.name for pool in facts.pools}
    fitting = [
        one
        for one in facts.inventory.devices
        if _is_free(one, pools) and one.media in media and one.size_bytes >= like.size_bytes - EQUAL_WITHIN_BYTES
    ]
    return min(fitting, key=lambda one: (one.size_bytes, one.name), default=None)


def attach_partner(facts: Facts, pool: PoolFacts, leaf: Leaf) -> tuple[tuple[Argv, ...], str | None]:
    """Give the command that makes a single disk a mirror, or what to do where there is no disk for it."""
    partner = spare_for(facts, leaf)
    if partner is None:
        return (), f"add a disk as big and as fast, then: zpool attach {pool.name} {leaf.name} DISK"
    return (("zpool", "attach", pool.name, leaf.name, partner.stable_path),), None


def _is_free(device: Device, pools: set[str]) -> bool:
    # `zpool detach` and `zpool remove` leave partitions, with or without a label of the pool, in which the disk isn't.
    left = (
        use.kind is UseKind.ZFS_PARTITION or (use.kind is UseKind.LABEL and use.pool in pools) for use in device.used_by
    )
    return not device.removable and all(left)

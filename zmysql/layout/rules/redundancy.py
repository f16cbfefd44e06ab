"""Rules on what may fail: how many disks each vdev can lose, and how wide it is."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from zmysql.layout.model import Allow, Refusal
from zmysql.layout.rules.case import disk_losses, parity
from zmysql.layout.rules.disks import EQUAL_WITHIN_BYTES
from zmysql.platforms.device import MediaClass
from zmysql.units import format_size
from zmysql.zfs.capability import ILLUMOS
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.layout.model import RoleSpec
    from zmysql.layout.rules.case import Case

# Twelve is where the OpenZFS documentation and vendors stop: a resilver reads all the disks of the vdev, and each read
# of a record keeps all of them busy. More than four copies of the same is no use that anybody has described.
MOST_RAIDZ_WIDTH = 12
MOST_MIRROR_WIDTH = 4

# While a disk of this size is rebuilt from its neighbours, which takes most of a day, RAIDZ1 bears no second failure.
BIG_HDD_BYTES = 2 << 40

# Vdevs that the pool doesn't live without, and that zpool create compares with each other.
_NEEDED = (VdevRole.DATA, VdevRole.SPECIAL, VdevRole.DEDUP)


def survives_a_disk(case: Case) -> Iterator[Refusal | str]:
    """Check that what the pool can't live without is redundant, or that the template itself wants it otherwise."""
    for role in (one for one in _needed(case) if not disk_losses(one)):
        if role.role is not VdevRole.DATA:
            settings = (f"--set {_setting(case, role, one)}" for one in ("kind=mirror", "width=2"))
            why = f"isn't redundant, and the pool is lost with a {role.role} vdev"
            yield Refusal(role.role, why, f"make it a mirror: {' '.join(settings)}", Allow.NO_REDUNDANCY)
        elif "vdevs.data.kind" in case.spec.overridden:
            why = "isn't redundant: the pool is lost with the first disk that fails, and the template doesn't want that"
            way_out = "leave vdevs.data.kind as the template has it, or take a template that is meant so"
            yield Refusal(role.role, why, way_out, Allow.NO_REDUNDANCY)
        else:
            yield "data: isn't redundant, as the template wants it: the pool is lost with the first disk that fails"
    log = case.role(VdevRole.LOG)
    if log is not None and not disk_losses(log):
        yield "log: isn't mirrored: if it fails in the moment of a crash, the last seconds of transactions are lost"


def alike(case: Case) -> Iterator[Refusal | str]:
    """Check that special and dedup vdevs bear as many failures as the data vdevs."""
    for one, other in itertools.pairwise(_needed(case)):
        # What has no redundancy at all is refused as such.
        if not disk_losses(other) or _match(case, one, other):
            continue
        why = f"is {other.kind} of {other.width}, and {one.role} is {one.kind} of {one.width}: "
        if disk_losses(other) < disk_losses(one):
            why += (
                f"it bears {disk_losses(other)} failed disks and not {disk_losses(one)}, and the pool is lost with it"
            )
            way_out = f"make it a mirror of more disks: --set {_setting(case, other, f'width={disk_losses(one) + 1}')}"
        else:
            why += "zpool create wants them alike"
            way_out = "make them alike in a template of your own"
        yield Refusal(other.role, why, way_out, Allow.REPLICATION_MISMATCH)


def narrow(case: Case) -> Iterator[Refusal | str]:
    """Check that no vdev is so wide that it is slow to read and long to rebuild."""
    for role in case.spec.roles:
        most = MOST_RAIDZ_WIDTH if parity(role) else MOST_MIRROR_WIDTH
        if role.width > most and case.of_role(role):
            why = f"would be a {role.kind} of {role.width}: " + (
                f"over {most} disks, one random read occupies them all and a rebuild takes days"
                if parity(role)
                else f"over {most} copies, each write costs more and nothing is safer"
            )
            way_out = f"take more vdevs of fewer disks: --set {_setting(case, role, f'width={most // 2}')}"
            yield Refusal(role.role, why, way_out, Allow.WIDE)
        big = [one for one in case.of_role(role) if one.media is MediaClass.HDD and one.size_bytes >= BIG_HDD_BYTES]
        if role.kind == "raidz1" and big:
            size = format_size(max(one.size_bytes for one in big))
            yield f"{role.role}: raidz1 of HDD of {size}: while one is rebuilt, a second failure loses the pool"


def zpool_objects(case: Case) -> Iterator[str]:
    """Give what `zpool create` itself refuses of these vdevs unless it gets -f: get_replication() in zpool_vdev.c.

    It leaves out log vdevs, and compares each disk and each vdev with the one before. It doesn't see caches and spares.
    """
    for role in _needed(case):
        for vdev in case.vdevs(role):
            if any(
                abs(one.size_bytes - other.size_bytes) > EQUAL_WITHIN_BYTES for one, other in itertools.pairwise(vdev)
            ):
                yield f"{role.role} of unequal disks"
    for one, other in itertools.pairwise(_needed(case)):
        if not _match(case, one, other):
            yield f"{one.role} and {other.role} of different redundancy"


def _needed(case: Case) -> list[RoleSpec]:
    """Give the roles that the pool doesn't live without, in the order of zpool create's arguments."""
    return [role for name in _NEEDED if (role := case.role(name))]


def _match(case: Case, one: RoleSpec, other: RoleSpec) -> bool:
    """Tell whether zpool create counts two roles as equally redundant."""
    if (parity(one) > 0) != (parity(other) > 0) and "disk" not in {one.kind, other.kind}:
        # illumos's zpool takes no mirrors beside RAIDZ at all.
        return disk_losses(one) == disk_losses(other) and case.site.zfs.system != ILLUMOS
    return (one.kind, one.width) == (other.kind, other.width)


def _setting(case: Case, role: RoleSpec, what: str) -> str:
    """Give a setting of a role as one writes it for --set."""
    return f"{case.spec.prefix}vdevs.{role.role}.{what}"

"""Rules on sectors: ashift, the power of two that is the least that a vdev writes, for its whole life."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.layout.model import Allow, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zmysql.layout.model import PoolSpec
    from zmysql.layout.rules.case import Case
    from zmysql.platforms.device import Device
    from zmysql.zfs.model import VdevRole

# Linux clamps what it finds by itself to 2^14 (zfs_vdev_max_auto_ashift); with more, no page would compress.
MOST_ASHIFT = 14

_KEY = "pool.ashift"


def ashift_of(spec: PoolSpec, disks: Mapping[VdevRole, tuple[Device, ...]]) -> int:
    """Give the ashift of a pool: the template's, or that of the biggest physical sector if it is more.

    What a person set with --set holds as it is.
    """
    wanted = int(spec.properties.get("ashift", 0))
    of_disks = (_shift(device.physical_sector_bytes) for of_role in disks.values() for device in of_role)
    return wanted if _KEY in spec.overridden else max(wanted, min(max(of_disks, default=0), MOST_ASHIFT))


def fit_ashift(case: Case) -> Iterator[Refusal | str]:
    """Check that no disk has bigger sectors than the pool writes."""
    ashift = ashift_of(case.spec, case.disks)
    logical = {one.name: one.logical_sector_bytes for one in case.devices}
    physical = {one.name: one.physical_sector_bytes for one in case.devices}
    rewriting = _above(physical, ashift)
    if impossible := _above(logical, ashift):
        yield Refusal(
            "ashift",
            f"{ashift} is writes of {1 << ashift} bytes, and the disks take no less than a sector: {impossible}",
            "leave out pool.ashift, or name other disks",
        )
    elif rewriting and _KEY in case.spec.overridden:
        yield Refusal(
            "ashift",
            f"{ashift} is writes of {1 << ashift} bytes, for which a disk reads and writes a whole sector: {rewriting}",
            "leave out pool.ashift: it is then raised for such disks",
            Allow.ASHIFT_MISMATCH,
        )
    elif rewriting:
        yield f"ashift {ashift}: more makes no sense with records of 16K, though some have bigger sectors: {rewriting}"
    wanted = int(case.spec.properties.get("ashift", 0))
    if wanted and ashift > wanted:
        yield (
            f"ashift {ashift}, not the template's {wanted}, for {_above(physical, wanted)}: all that the pool writes "
            f"takes multiples of {1 << ashift} bytes, and compression saves less"
        )


def _above(sectors_bytes: Mapping[str, int], ashift: int) -> str:
    """Give the disks whose sectors are bigger than that, for people."""
    return ", ".join(f"{name} {of_one}" for name, of_one in sectors_bytes.items() if of_one > 1 << ashift)


def _shift(sector_bytes: int) -> int:
    return (sector_bytes - 1).bit_length()

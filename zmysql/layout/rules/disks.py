"""Rules on the disks themselves: free, of the right class, big enough, each once, in whole vdevs of equal disks."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from zmysql.errors import shown
from zmysql.layout.model import Allow, Refusal
from zmysql.platforms.device import UseKind
from zmysql.units import format_size
from zmysql.zfs.model import LEAST_VDEV_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zmysql.layout.model import RoleSpec
    from zmysql.layout.rules.case import Case
    from zmysql.platforms.device import Device

# Sizes that differ by no more count as equal, as in zpool create (ZPOOL_FUZZ in zpool_vdev.c).
EQUAL_WITHIN_BYTES = 16 << 20

# What `zpool create -f` takes: nobody reads or writes there now. All else is somebody's at this moment.
_MAY_BE_LOST = frozenset(
    {UseKind.LABEL, UseKind.FILE_SYSTEM, UseKind.PARTITION, UseKind.ZFS_PARTITION, UseKind.PARTITION_TABLE}
)

# Names of disks as kernels, udev and GEOM make them: no blank, quote, control character, or hyphen in front.
_PLAIN = re.compile(r"[A-Za-z0-9/][A-Za-z0-9/_.:+@=,#%~-]*")


def is_plain(name: str) -> bool:
    """Tell whether a name can go to zpool(8) and into a shell script as it is."""
    return _PLAIN.fullmatch(name) is not None


def is_equal(one: Device, other: Device) -> bool:
    """Tell whether two disks count as of equal size."""
    return abs(one.size_bytes - other.size_bytes) <= EQUAL_WITHIN_BYTES


def is_one_disk(one: Device, other: Device) -> bool:
    """Tell whether two devices are two paths to one disk, which happens where nothing puts them together (multipath).

    The world-wide name alone doesn't tell: some cheap disks all have the same.
    """
    return one.wwn is not None and (one.wwn, one.serial, one.size_bytes) == (other.wwn, other.serial, other.size_bytes)


def classes(role: RoleSpec) -> str:
    """Give the classes of a role's disks for people."""
    return " or ".join(media.value for media in role.classes)


def busy(device: Device) -> Refusal:
    """Say why a disk that is used can't be taken, and what to do first: about what runs before what lies there."""
    foremost = min(device.used_by, key=lambda use: use.kind in _MAY_BE_LOST)
    may_be_lost = foremost.kind in _MAY_BE_LOST
    why = f"is in use ({', '.join(map(str, device.used_by))})"
    return Refusal(device.name, why, foremost.way_out, Allow.IN_USE if may_be_lost else None)


def usable(case: Case) -> Iterator[Refusal | str]:
    """Check that each disk is free, has a name that can be written down, and is big enough for ZFS."""
    for device in case.devices:
        if not is_plain(device.stable_path):
            yield Refusal(
                shown(device.stable_path), "is no path that a command takes", "rename it, or name another disk"
            )
        if device.used_by:
            yield busy(device)
        if device.size_bytes < LEAST_VDEV_BYTES:
            yield Refusal(
                device.name,
                f"has {format_size(device.size_bytes)}, ZFS needs 64M",
                "name another disk",
            )
        if device.removable:
            yield f"{device.name}: is removable: a pool that loses it to a careless hand stops"


def each_once(case: Case) -> Iterator[Refusal | str]:
    """Check that no disk is there twice under two names of the kernel."""
    for one, other in itertools.combinations(case.devices, 2):
        if is_one_disk(one, other):
            yield Refusal(
                other.name,
                f"is the same disk as {one.name}, reached by another path (WWN {one.wwn})",
                "name each disk once, or put the paths together with multipath",
            )


def right_class(case: Case) -> Iterator[Refusal | str]:
    """Check that each disk is of a class that the template wants there, and those of one vdev are all of one class."""
    for role in case.spec.roles:
        wrong = [device for device in case.of_role(role) if device.media not in role.classes]
        for device in wrong:
            yield Refusal(
                device.name,
                f"is an {device.media}, and the {role.role} vdevs of this template are made of {classes(role)}",
                "name another; in a virtual machine the kernel may be wrong about that",
                Allow.CLASS_MISMATCH,
            )
        for vdev in case.vdevs(role):
            if len({device.media for device in vdev}) > 1 and not set(wrong) & set(vdev):
                mixed = ", ".join(f"{device.name} {device.media}" for device in vdev)
                why = f"would be a {role.kind} of unlike disks ({mixed}), as slow as the slowest"
                yield Refusal(role.role, why, "name disks of one class for each vdev", Allow.CLASS_MISMATCH)


def whole_vdevs(case: Case) -> Iterator[Refusal | str]:
    """Check that each role has the vdevs that the template wants, none of them incomplete."""
    for role in case.spec.roles:
        there = len(case.of_role(role))
        if there < role.width * role.min_vdevs or there % role.width:
            how_many = f"{role.width * role.min_vdevs}" if role.width == 1 else f"a multiple of {role.width}"
            yield Refusal(
                role.role,
                f"needs {how_many} {classes(role)} and {there} {'is' if there == 1 else 'are'} named",
                f"name them with --{role.role}, or name no disks at all and let zmysql choose",
            )


def equal_sizes(case: Case) -> Iterator[Refusal | str]:
    """Check that the disks of one vdev are of equal size: of a bigger one the rest is lost."""
    for role in case.spec.roles:
        for vdev in case.vdevs(role):
            if not are_equal(vdev):
                sizes = ", ".join(f"{one.name} {format_size(one.size_bytes)}" for one in vdev)
                way_out = "name disks of equal size in pairs" if role.width == 2 else "name disks of equal size"  # noqa: PLR2004 - a pair
                yield Refusal(role.role, f"would be a {role.kind} of unequal disks ({sizes})", way_out, Allow.UNEQUAL)


def are_equal(vdev: Iterable[Device]) -> bool:
    """Tell whether all disks of a vdev count as of equal size."""
    sizes = [device.size_bytes for device in vdev]
    return max(sizes) - min(sizes) <= EQUAL_WITHIN_BYTES

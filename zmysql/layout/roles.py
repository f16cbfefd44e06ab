"""Which disks do what: as named on the command line, or by class and size.

All or nothing: once a single disk is named, no role takes a disk that wasn't named, so that a command which looks
explicit never takes a disk that nobody looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.layout.model import Assignment, Prefer, Refusal
from zmysql.platforms.device import UseKind
from zmysql.units import format_size
from zmysql.zfs.model import LEAST_VDEV_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from zmysql.layout.model import Inventory, PoolSpec, RoleSpec
    from zmysql.platforms.device import Device
    from zmysql.zfs.model import VdevRole

    Named = Mapping[VdevRole, Sequence[str]]

# Sizes that differ by no more count as equal, as in zpool create (ZPOOL_FUZZ in zpool_vdev.c).
EQUAL_WITHIN_BYTES = 16 << 20

_WAYS_OUT = {
    UseKind.MOUNTED: "unmount it first, or name another disk",
    UseKind.SWAP: "`swapoff` it first, or name another disk",
    UseKind.POOL: "name another disk",
    UseKind.LABEL: (
        "`zpool import` it, or if nobody needs it, `zpool labelclear -f` the partition and `wipefs --all {}`"
    ),
    UseKind.ZFS_PARTITION: (
        "an interrupted `zpool create` leaves that: run `wipefs --all {0}` and `blockdev --rereadpt {0}`, then again"
    ),
    UseKind.HELD: "take it out of there first, or name another disk",
    UseKind.READ_ONLY: "name another disk",
}
_WIPE = "if nobody needs what is on it, run `wipefs --all {}`, or name another disk"


@dataclass(frozen=True, slots=True)
class _Given:
    """A disk as it was named, for which role."""

    role: VdevRole
    name: str
    device: Device


def assign(template: str, spec: PoolSpec, inventory: Inventory, named: Named) -> Assignment | tuple[Refusal, ...]:
    """Give each role of a template its disks, or every reason why that can't be."""
    if any(named.values()):
        return _assign_named(template, spec, inventory, named)
    return _assign_free(spec, inventory)


def resolve(template: str, spec: PoolSpec, inventory: Inventory, named: Named) -> Assignment | tuple[Refusal, ...]:
    """Give the disks that names mean, each once, whatever uses them; or why a name can't be meant."""
    roles = {role.role for role in spec.roles}
    refusals = [
        Refusal(f"--{role}", f"template {template} has no {role} vdevs", "leave it out, or take another template")
        for role in named
        if named[role] and role not in roles
    ]
    given = list[_Given]()
    for role, names in named.items():
        for name in names:
            device = inventory.named(name)
            if device is None:
                refusals.append(_unknown(name, inventory))
                continue
            if earlier := next((one for one in given if one.device == device), None):
                refusals.append(_twice(name, role, earlier))
            given.append(_Given(role, name, device))
    if refusals:
        return tuple(refusals)
    disks = {role.role: tuple(one.device for one in given if one.role is role.role) for role in spec.roles}
    return Assignment(disks, tuple(f"{role}: {_names(found)}, as named" for role, found in disks.items() if found))


def busy(device: Device, name: str | None = None) -> Refusal:
    """Say why a disk that is used can't be taken, and what to do about its foremost use."""
    way_out = _WAYS_OUT.get(device.used_by[0].kind, _WIPE).format(device.path)
    return Refusal(name or device.name, f"is in use ({', '.join(map(str, device.used_by))})", way_out)


def groups_of_equal_size(devices: Iterable[Device], width: int, prefer: Prefer) -> Iterator[tuple[Device, ...]]:
    """Give disjoint groups of `width` disks of one class and equal size, the preferred size first.

    The same disks give the same groups, whatever their order: ties go to the kernel's name.
    """
    sign = -1 if prefer is Prefer.LARGEST else 1
    ordered = sorted(devices, key=lambda one: (sign * one.size_bytes, one.media, len(one.name), one.name))
    while len(ordered) >= width:
        first = ordered[0]
        equal = [one for one in ordered if one.media is first.media and _equal(one, first)][:width]
        if len(equal) == width:
            yield tuple(equal)
        ordered = [one for one in ordered if one not in (equal if len(equal) == width else [first])]


def _assign_named(
    template: str, spec: PoolSpec, inventory: Inventory, named: Named
) -> Assignment | tuple[Refusal, ...]:
    found = resolve(template, spec, inventory, named)
    if not isinstance(found, Assignment):
        return found
    refusals = [busy(device) for device in found.devices if device.used_by]
    for role in spec.roles:
        refusals += _misfits(role, found.disks[role.role])
    return tuple(refusals) or found


def _misfits(role: RoleSpec, devices: tuple[Device, ...]) -> Iterator[Refusal]:
    """Give what is wrong with the disks named for a role, except that they are in use."""
    for device in devices:
        if device.media not in role.classes:
            yield Refusal(
                device.name,
                f"is an {device.media}, and the {role.role} vdevs of this template are made of {_classes(role)}",
                "name another; where the kernel is wrong, as in some VMs, correct /sys/block/*/queue/rotational",
            )
        if device.size_bytes < LEAST_VDEV_BYTES:
            yield Refusal(device.name, f"has {format_size(device.size_bytes)}, ZFS needs 64M", "name another disk")
    if len(devices) < role.width * role.min_vdevs or len(devices) % role.width:
        how_many = f"{role.width * role.min_vdevs}" if role.width == 1 else f"a multiple of {role.width}"
        yield Refusal(
            role.role,
            f"needs {how_many} {_classes(role)} and {len(devices)} {'is' if len(devices) == 1 else 'are'} named",
            f"name them with --{role.role}, or name no disks at all and let zmysql choose",
        )
        return
    for mirror in _chunks(devices, role.width):
        if not all(_equal(mirror[0], other) for other in mirror[1:]):
            sizes = ", ".join(f"{one.name} {format_size(one.size_bytes)}" for one in mirror)
            yield Refusal(
                role.role, f"would be a mirror of unequal disks ({sizes})", "name disks of equal size in pairs"
            )


def _assign_free(spec: PoolSpec, inventory: Inventory) -> Assignment | tuple[Refusal, ...]:
    # Half-made disks would be free but for that: to leave them out would quietly lay out less than was meant.
    classes = {media for role in spec.roles for media in role.classes}
    half_made = [one for one in inventory.devices if one.media in classes and _is_half_made(one)]
    if half_made:
        return tuple(busy(one) for one in half_made)
    # A stick that happens to be plugged in is no place for a database; whoever wants it can name it.
    free = [
        one for one in inventory.devices if not (one.used_by or one.removable) and one.size_bytes >= LEAST_VDEV_BYTES
    ]
    disks: dict[VdevRole, tuple[Device, ...]] = {}
    reasons, refusals = list[str](), list[Refusal]()
    for role in spec.roles:
        candidates = [one for one in free if one.media in role.classes]
        groups = list(groups_of_equal_size(candidates, role.width, role.prefer))[: role.fill_vdevs]
        if len(groups) < role.min_vdevs:
            refusals.append(_too_few(role, candidates, inventory))
            continue
        disks[role.role] = tuple(device for group in groups for device in group)
        free = [one for one in free if one not in disks[role.role]]
        reasons.append(f"{role.role}: {', '.join(map(_names, groups))}: {_why(role)}")
    if refusals:
        return tuple(refusals)
    if free:
        left = ", ".join(f"{one.name} ({one.media}, {format_size(one.size_bytes)})" for one in free)
        reasons.append(f"left alone: {left}: free, and no role wants them")
    return Assignment(disks, tuple(reasons))


def _is_half_made(device: Device) -> bool:
    """Tell whether an interrupted `zpool create` left its partitions on a disk, and nothing else is on it."""
    return {use.kind for use in device.used_by} == {UseKind.ZFS_PARTITION}


def _why(role: RoleSpec) -> str:
    grouped = f" in {role.kind}s of {role.width} of equal size" if role.width > 1 else ""
    if role.fill_vdevs is None:
        return f"all free {_classes(role)}{grouped}"
    return f"the {role.prefer} free {_classes(role)}{grouped} that no role before took"


def _too_few(role: RoleSpec, candidates: Sequence[Device], inventory: Inventory) -> Refusal:
    needs = role.width * role.min_vdevs
    equal = " of equal size" if role.width > 1 else ""
    sized = ", ".join(f"{one.name} {format_size(one.size_bytes)}" for one in candidates)
    there = f"{len(candidates)} ({sized})" if candidates else "none"
    in_use = [one for one in inventory.devices if one.media in role.classes and (one.used_by or one.removable)]
    used = [f"{one.name}: {one.used_by[0] if one.used_by else 'removable'}" for one in in_use]
    return Refusal(
        role.role,
        f"needs {needs} free {_classes(role)}{equal} and there {'is' if len(candidates) == 1 else 'are'} {there}"
        + (f" left ({'; '.join(used)})" if used else " left"),
        "add or free disks, or take another template (`zmysql templates`)",
    )


def _unknown(name: str, inventory: Inventory) -> Refusal:
    whole = inventory.carrying(name if name.startswith("/") else f"/dev/{name}")
    if whole is not None:
        return Refusal(name, f"is a part of {whole.name}", "name a whole disk that is free")
    return Refusal(name, "there is no such disk", "see `zmysql devices`")


def _twice(name: str, role: VdevRole, earlier: _Given) -> Refusal:
    also = "twice" if name == earlier.name else f"as {earlier.name} too"
    roles = f"for {role}" if role is earlier.role else f"for {earlier.role} and {role}"
    return Refusal(name, f"the disk {earlier.device.name} is named {also}, {roles}", "name each disk once")


def _equal(one: Device, other: Device) -> bool:
    return abs(one.size_bytes - other.size_bytes) <= EQUAL_WITHIN_BYTES


def _chunks(devices: Sequence[Device], width: int) -> Iterator[Sequence[Device]]:
    return (devices[at : at + width] for at in range(0, len(devices), width))


def _classes(role: RoleSpec) -> str:
    return " or ".join(media.value for media in role.classes)


def _names(devices: Iterable[Device]) -> str:
    return " ".join(device.name for device in devices)

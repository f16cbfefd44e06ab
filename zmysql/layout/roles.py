"""Which disks do what: as named on the command line, or by class and size.

All or nothing: once a single disk is named, no role takes a disk that wasn't named, so that a command which looks
explicit never takes a disk that nobody looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.errors import shown
from zmysql.layout.model import Assignment, Prefer, Refusal
from zmysql.layout.rules.disks import busy, classes, is_equal, is_one_disk, is_plain
from zmysql.layout.rules.sizes import LEAST_LOG_BYTES
from zmysql.platforms.device import UseKind
from zmysql.units import format_size
from zmysql.zfs.model import LEAST_VDEV_BYTES, VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from zmysql.layout.model import Inventory, PoolSpec, RoleSpec
    from zmysql.platforms.device import Device

    Named = Mapping[VdevRole, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Given:
    """A disk as it was named, for which role."""

    role: VdevRole
    name: str
    device: Device


def assign(template: str, spec: PoolSpec, inventory: Inventory, named: Named) -> Assignment | tuple[Refusal, ...]:
    """Give each role of a template its disks, or every reason why that can't be.

    Whether the disks are any good for it, the rules say. The order of the inventory is of no matter.
    """
    inventory = replace(inventory, devices=tuple(sorted(inventory.devices, key=_place)))
    if not any(named.values()):
        return _assign_free(spec, inventory)
    found = resolve(template, spec, inventory, named)
    return tuple(_by_another_path(found, inventory)) or found if isinstance(found, Assignment) else found


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
            device = inventory.named(name) if is_plain(name) else None
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


def groups_of_equal_size(devices: Iterable[Device], width: int, prefer: Prefer) -> Iterator[tuple[Device, ...]]:
    """Give disjoint groups of `width` disks of one class and equal size, the preferred size first.

    The same disks give the same groups, whatever their order: ties go to the kernel's name.
    """
    sign = -1 if prefer is Prefer.LARGEST else 1
    ordered = sorted(devices, key=lambda one: (sign * one.size_bytes, one.media, *_place(one)))
    while len(ordered) >= width:
        first = ordered[0]
        equal = [one for one in ordered if one.media is first.media and is_equal(one, first)][:width]
        if len(equal) == width:
            yield tuple(equal)
        ordered = [one for one in ordered if one not in (equal if len(equal) == width else [first])]


def _assign_free(spec: PoolSpec, inventory: Inventory) -> Assignment | tuple[Refusal, ...]:
    # Half-made disks would be free but for that: to leave them out would quietly lay out less than was meant.
    media = {one for role in spec.roles for one in role.classes}
    half_made = [one for one in inventory.devices if one.media in media and _is_half_made(one)]
    if half_made:
        # Only a disk that is named can be taken from what is on it.
        return tuple(replace(busy(one), allow=None) for one in half_made)
    free = _free(inventory)
    disks: dict[VdevRole, tuple[Device, ...]] = {}
    reasons, refusals = list[str](), list[Refusal]()
    for role in spec.roles:
        candidates = [one for one in free if one.media in role.classes and one.size_bytes >= _least_bytes(role)]
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
        reasons.append(f"left alone: {left}: free, and no role of this pool wants them")
    return Assignment(disks, tuple(reasons))


def _free(inventory: Inventory) -> list[Device]:
    """Give the disks that may be taken unasked.

    A stick that happens to be plugged in is no place for a database; whoever wants it can name it. Of two paths to one
    disk the first is taken, and none where the other is in use.
    """
    free: list[Device] = []
    for one in inventory.devices:
        others = [other for other in inventory.devices if other is not one and is_one_disk(one, other)]
        if one.used_by or one.removable or one.size_bytes < LEAST_VDEV_BYTES or not is_plain(one.stable_path):
            continue
        if not any(other.used_by or other.removable or other in free for other in others):
            free.append(one)
    return free


def _by_another_path(assignment: Assignment, inventory: Inventory) -> Iterator[Refusal]:
    """Give the named disks that are in use by another path to them."""
    for one in assignment.devices:
        for other in inventory.devices:
            if other.used_by and other not in assignment.devices and is_one_disk(one, other):
                used = busy(other)
                yield Refusal(one.name, f"is the same disk as {other.name}, which {used.why}", used.way_out)


def _least_bytes(role: RoleSpec) -> int:
    return LEAST_LOG_BYTES if role.role is VdevRole.LOG else LEAST_VDEV_BYTES


def _place(device: Device) -> tuple[int, str]:
    """Give the place of a disk among others: sdz before sdaa."""
    return len(device.name), device.name


def _is_half_made(device: Device) -> bool:
    """Tell whether an interrupted `zpool create` left its partitions on a disk, and nothing else is on it."""
    return {use.kind for use in device.used_by} == {UseKind.ZFS_PARTITION}


def _why(role: RoleSpec) -> str:
    grouped = f" in {role.kind}s of {role.width} of equal size" if role.width > 1 else ""
    if role.fill_vdevs is None:
        return f"all free {classes(role)}{grouped}"
    return f"the {role.prefer} free {classes(role)}{grouped} that no role before took"


def _too_few(role: RoleSpec, candidates: Sequence[Device], inventory: Inventory) -> Refusal:
    needs = role.width * role.min_vdevs
    equal = " of equal size" if role.width > 1 else ""
    sized = ", ".join(f"{one.name} {format_size(one.size_bytes)}" for one in candidates)
    there = f"{len(candidates)} ({sized})" if candidates else "none"
    in_use = [one for one in inventory.devices if one.media in role.classes and (one.used_by or one.removable)]
    used = [f"{one.name}: {one.used_by[0] if one.used_by else 'removable'}" for one in in_use]
    return Refusal(
        role.role,
        f"needs {needs} free {classes(role)}{equal} and there {'is' if len(candidates) == 1 else 'are'} {there}"
        + (f" left ({'; '.join(used)})" if used else " left"),
        "add or free disks, or take another template (`zmysql templates`)"
        + (f", or name unlike ones with --{role.role} and say --allow-unequal" if len(candidates) >= needs else ""),
    )


def _unknown(name: str, inventory: Inventory) -> Refusal:
    if not is_plain(name):
        return Refusal(shown(name), "is no name of a disk", "see `zmysql devices`")
    whole = inventory.carrying(name if name.startswith("/") else f"/dev/{name}")
    if whole is not None:
        return Refusal(name, f"is a part of {whole.name}", "name a whole disk that is free")
    return Refusal(name, "there is no such disk", "see `zmysql devices`")


def _twice(name: str, role: VdevRole, earlier: _Given) -> Refusal:
    also = "twice" if name == earlier.name else f"as {earlier.name} too"
    roles = f"for {role}" if role is earlier.role else f"for {earlier.role} and {role}"
    return Refusal(name, f"the disk {earlier.device.name} is named {also}, {roles}", "name each disk once")


def _names(devices: Iterable[Device]) -> str:
    return " ".join(device.name for device in devices)

"""The disks of a Linux machine and what uses them, from lsblk(8) and udev's links under /dev/disk."""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING, Any

from zmysql.errors import ZmysqlError
from zmysql.host import EXIT_NOT_FOUND, CommandFailed
from zmysql.platforms.device import Device, MediaClass, Use, UseKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zmysql.host import Host

LSBLK = (
    "lsblk",
    "--json",
    "--bytes",
    "--output",
    "NAME,PATH,TYPE,SIZE,ROTA,RM,RO,TRAN,VENDOR,MODEL,SERIAL,WWN,LOG-SEC,PHY-SEC,FSTYPE,LABEL,PTTYPE,PARTTYPE,MOUNTPOINTS",
)
LINKS = ("find", "/dev/disk", "-type", "l", "-printf", r"%p\t%l\n")

# Disks by lsblk's TYPE that nobody lays a pool on: memory, network block devices, and ZFS's own volumes.
_NO_DISK = re.compile(r"(ram|zram|zd|nbd|fd)\d+")
# The partition types that zpool create writes: its data, and 8 MiB reserved at the end (libefi).
_ZFS_PARTITION = "6a898cc3-1dd2-11b2-99a6-080020736631"
_ZFS_RESERVED = "6a945a3b-1dd2-11b2-99a6-080020736631"

# What pools are made of, best first: names with model and serial, which are printed on the disk itself and are what
# one reads standing at the rack; then the bus's and the world-wide names; then whatever udev has. Within one rank the
# shortest name wins, then the first in the alphabet, so the choice is the same on each call.
_BY_ID_RANKS = ("ata-", "nvme-(?!eui|uuid|nvme\\.)", "scsi-S", "scsi-0", "scsi-", "wwn-", "nvme-", "virtio-", "")
_BY_ID = "/dev/disk/by-id/"

_UNMOUNT = "unmount it first, or name another disk"
_SWAPOFF = "`swapoff` it first, or name another disk"
_TAKE_OUT = "take it out of there first, or name another disk"
_IMPORT = "`zpool import` it, or if nobody needs it, `zpool labelclear -f {part}` and `wipefs --all {disk}`"
_HALF_MADE = (
    "an interrupted `zpool create` leaves that: run `wipefs --all {disk}` and `blockdev --rereadpt {disk}`, then again"
)
_WIPE = "if nobody needs what is on it, run `wipefs --all {disk}`, or name another disk"


def disks(host: Host) -> tuple[Device, ...]:
    """Give the whole disks of a host in the order of their kernel names.

    Raises ZmysqlError where there is no lsblk.
    """
    listed = host.run(LSBLK, check=False)
    if listed.exit_status == EXIT_NOT_FOUND:
        raise ZmysqlError(f"no lsblk on {host.name}: install util-linux, zmysql reads the disks from it")
    if listed.exit_status:
        raise CommandFailed(listed)
    # A container or a rescue system without udev has no /dev/disk: its disks have no stable names.
    return parse_disks(listed.stdout, host.run(LINKS, check=False).stdout)


def parse_disks(lsblk: str, links: str) -> tuple[Device, ...]:
    """Give the disks from the output of LSBLK and LINKS, without what only ZFS knows (imported pools)."""
    names = _links_by_node(links)
    nodes = json.loads(lsblk)["blockdevices"]
    found = [_device(node, names) for node in nodes if _is_disk(node)]
    return tuple(sorted(found, key=lambda disk: _natural(disk.name)))


def parse_memory(meminfo: str) -> int | None:
    """Give MemTotal of /proc/meminfo in bytes."""
    total = re.search(r"^MemTotal: +(\d+) kB$", meminfo, re.MULTILINE)
    return int(total[1]) << 10 if total else None


def preferred_by_id(links: tuple[str, ...]) -> str | None:
    """Give the one of a disk's /dev/disk/by-id links that its pool is made of; the order is explained at the ranks."""

    def rank(link: str) -> tuple[int, int, str]:
        name = link.removeprefix(_BY_ID)
        first = next(place for place, pattern in enumerate(_BY_ID_RANKS) if re.match(pattern, name))
        return first, len(name), name

    return min((link for link in links if link.startswith(_BY_ID)), key=rank, default=None)


def _is_disk(node: Mapping[str, Any]) -> bool:
    # An empty card reader has size 0. Loop devices and optical drives have types of their own (loop, rom).
    return node["type"] == "disk" and int(node["size"]) > 0 and not _NO_DISK.fullmatch(node["name"])


def _device(node: Mapping[str, Any], names: Mapping[str, tuple[str, ...]]) -> Device:
    links = names.get(node["path"], ())
    return Device(
        name=node["name"],
        path=node["path"],
        media=_media(node),
        size_bytes=int(node["size"]),
        logical_sector_bytes=int(node["log-sec"]),
        physical_sector_bytes=int(node["phy-sec"]),
        transport=_text(node["tran"]),
        vendor=_text(node["vendor"]),
        model=_text(node["model"]),
        serial=_text(node["serial"]),
        wwn=_text(node["wwn"]),
        removable=bool(node["rm"]) or node["tran"] == "usb",
        by_id=preferred_by_id(links),
        aliases=links,
        parts=tuple(child["path"] for child in _beneath(node)),
        used_by=_uses(node),
    )


def _media(node: Mapping[str, Any]) -> MediaClass:
    if node["tran"] == "nvme" or node["name"].startswith("nvme"):
        return MediaClass.NVME
    return MediaClass.HDD if node["rota"] else MediaClass.SSD


def _beneath(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for child in node.get("children", ()):
        yield child
        yield from _beneath(child)


def _uses(disk: Mapping[str, Any]) -> tuple[Use, ...]:
    """Give every reason why a disk isn't free, each once, from the disk downwards."""
    uses = [Use(UseKind.READ_ONLY, "read-only")] if disk["ro"] else []
    for node in (disk, *_beneath(disk)):
        uses += _uses_of_node(node, disk)
    if disk["pttype"] and "children" not in disk:
        wipe = _WIPE.format(disk=disk["path"])
        uses.append(Use(UseKind.PARTITION_TABLE, f"an empty {disk['pttype']} partition table", way_out=wipe))
    return tuple(dict.fromkeys(uses))


def _uses_of_node(node: Mapping[str, Any], disk: Mapping[str, Any]) -> list[Use]:
    on = "" if node is disk else f" ({node['name']})"
    mounts = [place for place in node["mountpoints"] if place]
    uses = [
        Use(UseKind.SWAP, f"swapped to{on}", way_out=_SWAPOFF)
        if place == "[SWAP]"
        else Use(UseKind.MOUNTED, f"mounted at {place}{on}", way_out=_UNMOUNT)
        for place in mounts
    ]
    if node["type"] not in {"disk", "part"}:
        uses.append(Use(UseKind.HELD, f"held by {node['type']} {node['name']}", way_out=_TAKE_OUT))
    if contents := _contents(node, disk, on, seen=bool(uses)):
        uses.append(contents)
    return uses


def _contents(node: Mapping[str, Any], disk: Mapping[str, Any], on: str, *, seen: bool) -> Use | None:
    """Give what lies on a node that isn't in use at this moment; `seen` tells that it is."""
    wipe = _WIPE.format(disk=disk["path"])
    if node["fstype"] == "zfs_member":
        pool = f"pool {node['label']}" if node["label"] else "a pool"
        way_out = _IMPORT.format(part=node["path"], disk=disk["path"])
        return Use(UseKind.LABEL, f"label of {pool}, not imported{on}", node["label"], way_out)
    if node["fstype"] and not any(node["mountpoints"]):
        label = f" {node['label']}" if node["label"] else ""
        return Use(UseKind.FILE_SYSTEM, f"{node['fstype']}{label}{on}", way_out=wipe)
    if node["type"] != "part" or seen or node["parttype"] == _ZFS_RESERVED:
        return None
    # An interrupted or failed zpool create leaves its partitions without a label in them.
    if node["parttype"] == _ZFS_PARTITION:
        what = f"partition {node['name']} of ZFS without a label"
        return Use(UseKind.ZFS_PARTITION, what, way_out=_HALF_MADE.format(disk=disk["path"]))
    return Use(UseKind.PARTITION, f"partition {node['name']}", way_out=wipe)


def _links_by_node(links: str) -> dict[str, tuple[str, ...]]:
    """Give the links under /dev/disk by the node that they lead to."""
    found: dict[str, list[str]] = {}
    for line in sorted(links.splitlines()):
        link, _, target = line.partition("\t")
        found.setdefault(posixpath.normpath(posixpath.join(posixpath.dirname(link), target)), []).append(link)
    return {node: tuple(names) for node, names in found.items()}


def _text(value: str | None) -> str | None:
    """SCSI pads vendor and model with blanks; a blank is nothing."""
    return (value or "").strip() or None


def _natural(name: str) -> tuple[int, str]:
    """Sort sdz before sdaa, and nvme2n1 before nvme10n1."""
    return len(name), name

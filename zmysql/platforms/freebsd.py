"""The disks of a FreeBSD machine and what uses them, from GEOM's own tree: geom(4).

The tree knows all that has a disk open: mounted file systems, swap, pools, encryption, RAID, and programs by the device
node. What lies on a disk that nothing has open is asked from fstyp(8) and zdb(8).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.host import CommandFailed
from zmysql.platforms.device import Device, MediaClass, Use, UseKind
from zmysql.platforms.geom import parse_tree
from zmysql.platforms.probe import NOTHING, PROBE_NODE, parse_contents, run_script, sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zmysql.host import Host
    from zmysql.platforms.geom import Geom, Provider, Tree
    from zmysql.platforms.probe import Contents

LIST = """echo '@@ geom'; sysctl -n kern.geom.confxml
echo '@@ camcontrol'; camcontrol devlist -v 2>/dev/null
echo '@@ mount'; mount
"""
PROBE = PROBE_NODE + 'for node do probe "/dev/$node" -u; done'

# Labels that the kernel finds inside a file system, so there is one: glabel(8).
_FILE_SYSTEM_LABELS = ("ufs", "ufsid", "ext2fs", "msdosfs", "ntfs", "reiserfs", "iso9660")
_DISK_ID = "diskid/"

# ZFS takes the stripe size for the physical sector where it is one: vdev_geom_open() in vdev_geom.c. NVMe disks give
# their best transfer size there, which may be 128K.
_MOST_SECTOR_BYTES = 16 << 10

_TRANSPORTS = {"umass-sim": "usb", "ahcich": "sata", "ata": "ata", "nvme": "nvme"}
_BUS = re.compile(r"^scbus(-?\d+) on (\S+?)\d+ bus", re.MULTILINE)
_ON_BUS = re.compile(r"^<.*> +at scbus(-?\d+) target .*\((.*)\)$", re.MULTILINE)
_MOUNT = re.compile(r"^(/\S+) on (.+) \([^()]*\)$", re.MULTILINE)


def disks(host: Host) -> tuple[Device, ...]:
    """Give the whole disks of a host in the order of their names.

    Raises ZmysqlError where GEOM doesn't answer or its answer can't be read, and CommandFailed where the disks can't be
    looked at.
    """
    listed = run_script(host, LIST)
    said = sections(listed.stdout)
    if not said.get("geom"):
        why = " / ".join(listed.stderr.splitlines()[:1]) or "it said nothing"
        raise ZmysqlError(f"{host.name} doesn't tell its disks with `sysctl kern.geom.confxml`: {why}")
    tree = parse_tree(said["geom"])
    nodes = unexplained(tree)
    probed = run_script(host, PROBE, *nodes)
    contents = {name.removeprefix("on /dev/"): parse_contents(text) for name, text in sections(probed.stdout).items()}
    if not contents.keys() >= set(nodes):
        raise CommandFailed(probed)  # an answer that is missing would make a disk look free
    return devices_of(tree, said.get("camcontrol", ""), said.get("mount", ""), contents)


def unexplained(tree: Tree) -> tuple[str, ...]:
    """Give the disks and partitions of which the tree doesn't say what lies on them, by name."""
    nodes = [one for disk in tree.disks for one in (disk, *tree.all_over(disk)) if not one.is_open]
    with_parts = {key for key, geoms in tree.above.items() if any(geom.kind == "PART" for geom, _ in geoms)}
    by_label = {
        upper.key
        for geoms in tree.above.values()
        for geom, _ in geoms
        if geom.kind == "LABEL"
        for upper in geom.providers
    }
    return tuple(one.name for one in nodes if one.key not in with_parts and one.key not in by_label)


def devices_of(
    tree: Tree, camcontrol: str = "", mount: str = "", contents: Mapping[str, Contents] | None = None
) -> tuple[Device, ...]:
    """Give the disks from the tree, `camcontrol devlist -v`, mount(8), and what was found on the nodes by their names.

    Without what only ZFS knows: the names of imported pools.
    """
    transports = parse_transports(camcontrol)
    look = _Look(tree, {match[1]: match[2] for match in _MOUNT.finditer(mount)}, contents or {})
    return tuple(_device(disk, look, transports.get(disk.name)) for disk in tree.disks)


def parse_transports(camcontrol: str) -> dict[str, str]:
    """Give how each disk is attached, from `camcontrol devlist -v`: sata, usb, nvme, or the name of the driver."""
    drivers = {match[1]: match[2] for match in _BUS.finditer(camcontrol)}
    return {
        name: _TRANSPORTS.get(drivers[match[1]], drivers[match[1]])
        for match in _ON_BUS.finditer(camcontrol)
        if match[1] in drivers
        for name in match[2].split(",")
        if name and not name.startswith(("pass", "xpt"))
    }


@dataclass(frozen=True, slots=True)
class _Look:
    """What is known of a machine: the tree, where nodes are mounted, and what lies on those that nothing has open."""

    tree: Tree
    mounts: Mapping[str, str]
    contents: Mapping[str, Contents]

    def uses(self, provider: Provider, disk: Provider) -> Iterator[Use]:
        """Give what uses a provider, from its own contents upwards."""
        on = "" if provider is disk else f" ({provider.name})"
        for geom, is_open in self.tree.over(provider):
            if geom.kind == "PART":
                yield from self._partitions(geom, disk)
            elif geom.kind == "LABEL":
                yield from self._labelled(geom, provider, disk)
            elif geom.kind == "DEV":
                if is_open:
                    way_out = f"stop what has it open (`fstat /dev/{geom.name}`), or name another disk"
                    yield Use(UseKind.HELD, f"a program has /dev/{geom.name} open", way_out=way_out)
            else:
                yield self._user(geom, provider, on)
                for upper in geom.providers:
                    yield from self.uses(upper, disk)

    def _user(self, geom: Geom, provider: Provider, on: str) -> Use:
        node = f"/dev/{provider.name}"
        if geom.kind == "VFS":
            where = f"mounted at {self.mounts[node]}" if node in self.mounts else "mounted"
            return Use(UseKind.MOUNTED, f"{where}{on}", way_out="unmount it first, or name another disk")
        if geom.kind == "SWAP":
            return Use(UseKind.SWAP, f"swapped to{on}", way_out=f"`swapoff {node}` first, or name another disk")
        if geom.kind == "ZFS::VDEV":
            return Use(UseKind.POOL, f"in a pool{on}")
        held = f"held by {geom.kind.lower()} {geom.name}"
        return Use(UseKind.HELD, held, way_out="take it out of there first, or name another disk")

    def _partitions(self, geom: Geom, disk: Provider) -> Iterator[Use]:
        if not geom.providers:
            destroy = f"run `gpart destroy {disk.name}`, or name another disk"
            yield Use(UseKind.PARTITION_TABLE, f"an empty {geom.scheme} partition table", way_out=destroy)
        for part in geom.providers:
            uses = [*self.uses(part, disk), *self._contents(part, disk)]
            kind = part.config.get("type", "unknown")
            yield from uses or [Use(UseKind.PARTITION, f"partition {part.name} ({kind})", way_out=_wipe(part, disk))]

    def _labelled(self, geom: Geom, provider: Provider, disk: Provider) -> Iterator[Use]:
        on = "" if provider is disk else f" ({provider.name})"
        for label in geom.providers:
            uses = tuple(self.uses(label, disk))
            kind, _, name = label.name.partition("/")
            if not uses and kind in _FILE_SYSTEM_LABELS:
                yield Use(UseKind.FILE_SYSTEM, f"{kind} {name}{on}", way_out=_wipe(provider, disk))
            yield from uses
            if kind == "label":
                way_out = f"`glabel destroy {name}` if nobody needs the label, or name another disk"
                yield Use(UseKind.HELD, f"labelled {label.name} by glabel{on}", way_out=way_out)

    def _contents(self, provider: Provider, disk: Provider) -> Iterator[Use]:
        """Give what fstyp and zdb found on a node that nothing has open."""
        found = self.contents.get(provider.name, NOTHING)
        on = "" if provider is disk else f" ({provider.name})"
        if found.is_zfs:
            pool = f"pool {found.pool}" if found.pool else "a pool"
            clear = f"`zpool import` it, or if nobody needs it, `zpool labelclear -f /dev/{provider.name}`"
            clear += "" if provider is disk else f" and `gpart destroy -F {disk.name}`"
            yield Use(UseKind.LABEL, f"label of {pool}, not imported{on}", found.pool, clear)
        if found.file_system:
            yield Use(UseKind.FILE_SYSTEM, f"{found.file_system}{on}", way_out=_wipe(provider, disk))

    def of_disk(self, disk: Provider) -> tuple[Use, ...]:
        """Give every reason why a disk isn't free, each once."""
        uses = [*self.uses(disk, disk), *self._contents(disk, disk)]
        if disk.is_open and not uses:
            uses.append(Use(UseKind.HELD, "something in the kernel has it open"))
        return tuple(dict.fromkeys(uses))


def _device(disk: Provider, look: _Look, transport: str | None) -> Device:
    aliases = tuple(
        f"/dev/{label.name}" for geom, _ in look.tree.over(disk) if geom.kind == "LABEL" for label in geom.providers
    )
    media = _media(disk)
    return Device(
        name=disk.name,
        path=f"/dev/{disk.name}",
        media=media,
        size_bytes=disk.size_bytes,
        logical_sector_bytes=disk.sector_bytes,
        physical_sector_bytes=_physical_sector(disk),
        transport=transport or ("nvme" if media is MediaClass.NVME else None),
        model=disk.config.get("descr") or None,
        serial=disk.config.get("ident") or None,
        wwn=disk.config.get("lunid") or None,
        removable=transport == "usb",
        by_id=next((path for path in aliases if path.startswith(f"/dev/{_DISK_ID}")), None),
        aliases=aliases,
        parts=tuple(path for one in look.tree.all_over(disk) if (path := f"/dev/{one.name}") not in aliases),
        used_by=look.of_disk(disk),
    )


def _media(disk: Provider) -> MediaClass:
    if re.fullmatch(r"(nvd|nda)\d+", disk.name):
        return MediaClass.NVME
    # A disk that doesn't say, as most in virtual machines, counts as one that turns, as on Linux.
    return MediaClass.SSD if disk.config.get("rotationrate") == "0" else MediaClass.HDD


def _physical_sector(disk: Provider) -> int:
    is_sector = disk.sector_bytes < disk.stripe_bytes <= _MOST_SECTOR_BYTES and disk.stripe_bytes.bit_count() == 1
    return disk.stripe_bytes if is_sector else disk.sector_bytes


def _wipe(provider: Provider, disk: Provider) -> str:
    """Say how to wipe a disk of which this provider is a part, or all."""
    whole = f"dd if=/dev/zero of=/dev/{disk.name} bs=1m count=1"
    wipe = whole if provider is disk else f"gpart destroy -F {disk.name}"
    return f"if nobody needs what is on it, run `{wipe}`, or name another disk"

"""The disks of an illumos machine and what uses them, from diskinfo(8) and the tables and labels on each disk.

Every disk that was ever labelled has slices here, and an EFI label with one slice over all is what zpool(8) and
format(8) write first of all. So slices alone say little: what counts is what lies in them, and what has them in use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.host import EXIT_NOT_FOUND, CommandFailed
from zmysql.platforms.device import Device, MediaClass, Use, UseKind
from zmysql.platforms.probe import NOTHING, PROBE_NODE, parse_contents, run_script, sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zmysql.host import Host
    from zmysql.platforms.probe import Contents

# diskinfo(8) takes seconds, since it walks the topology of the machine: it runs once.
LIST = (
    PROBE_NODE
    + r"""disks=$(diskinfo -Hp) || return
echo '@@ diskinfo'; printf '%s\n' "$disks"
echo '@@ iostat'; iostat -En
echo '@@ swap'; swap -l 2>/dev/null
echo '@@ dumpadm'; dumpadm 2>/dev/null
echo '@@ mount'; mount -v
echo '@@ links'; ls -l /dev/dsk
for disk in $(printf '%s\n' "$disks" | cut -f2); do
  node=/dev/rdsk/$disk
  echo "@@ fdisk $disk"; fdisk -W - ${node}p0 </dev/null 2>/dev/null
  table=$(prtvtoc ${node}s2 2>/dev/null || prtvtoc ${node}s0 2>/dev/null || prtvtoc $node 2>/dev/null)
  echo "@@ prtvtoc $disk"; printf '%s\n' "$table"
  for slice in $(printf '%s\n' "$table" | awk '/^ *[0-9]/ { print $1 }'); do probe ${node}s$slice; done
  test -n "$table" || probe ${node}p0
done
echo '@@ end'
"""
)

_NODE = re.compile(r"/dev/r?dsk/(c\d+(?:t\w+?)?d\d+)([sp]\d+)?(?::\w+)?")
_MOUNT = re.compile(r"^(/dev/\S+) on (.+) type (\S+) ", re.MULTILINE)
_DUMP = re.compile(r"^ *Dump device: (\S+)", re.MULTILINE)
_SERIAL = re.compile(r"^(c\d\S*) +Soft Errors:.*\n.*Serial No: *(?!Size:)(\S+)", re.MULTILINE)
_LINK = re.compile(r"(?:/dev/dsk/)?(c\d+(?:t\w+?)?d\d+)([sp]\d+) -> (?:\.\./)+(devices/\S+)$", re.MULTILINE)
_SECTOR = re.compile(r"^\* +(\d+) bytes/sector$", re.MULTILINE)

# No command says how big a physical sector is. Nearly all disks have 4 KiB, or do best as if they had.
_PHYSICAL_SECTOR_BYTES = 4096
_SECTOR_BYTES = 512

# The tags of slices in <sys/vtoc.h>, and those that hold no data of anyone's.
_TAGS = {0: "unassigned", 2: "root", 3: "swap", 4: "usr", 6: "stand", 7: "var", 8: "home"}
_BOOT, _USR, _BACKUP, _ALTERNATES, _RESERVED = 1, 4, 5, 9, 11
_SYSTEM_TAGS = {_BOOT, _BACKUP, _ALTERNATES, _RESERVED}
# What zpool(8) and format(8) write: an EFI label with one slice, and the reserved one at the end.
_BLANK_SLICES = {(0, _USR), (8, _RESERVED)}
# The fdisk partitions of illumos's own, in which slices lie: SUNIXOS, SUNIXOS2, and what protects an EFI label.
_OWN_FDISK_TYPES = {0, 130, 191, 238}


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of a disk: its number, its tag, and where prtvtoc(8) says that it is mounted."""

    number: int
    tag: int
    mounted_at: str | None


@dataclass(frozen=True, slots=True)
class Machine:
    """All that LIST answered. Keys are names of disks (c0t0d0), those of `contents` are names of slices (c0t0d0s0)."""

    diskinfo: str
    serials: Mapping[str, str]
    busy: Mapping[str, tuple[Use, ...]]
    links: Mapping[str, tuple[str, ...]]
    fdisk: Mapping[str, str]
    prtvtoc: Mapping[str, str]
    contents: Mapping[str, Contents]


def disks(host: Host) -> tuple[Device, ...]:
    """Give the whole disks of a host in the order of their names.

    Raises ZmysqlError where there is no diskinfo, and CommandFailed where not all was answered.
    """
    listed = run_script(host, LIST)
    if listed.exit_status == EXIT_NOT_FOUND:
        raise ZmysqlError(f"no diskinfo on {host.name}: zmysql lists illumos's disks with it, in the global zone")
    said = sections(listed.stdout)
    if "end" not in said:
        raise CommandFailed(listed)  # an answer that is missing would make a disk look free
    return devices_of(machine_of(said))


def machine_of(said: Mapping[str, str]) -> Machine:
    """Sort the answers of LIST by what they are about."""
    return Machine(
        diskinfo=said.get("diskinfo", ""),
        serials=parse_serials(said.get("iostat", "")),
        busy=parse_busy(said.get("swap", ""), said.get("dumpadm", ""), said.get("mount", "")),
        links=parse_links(said.get("links", "")),
        fdisk=_about("fdisk ", said),
        prtvtoc=_about("prtvtoc ", said),
        contents={node: parse_contents(text) for node, text in _about("on /dev/rdsk/", said).items()},
    )


def devices_of(machine: Machine) -> tuple[Device, ...]:
    """Give the disks, without what only ZFS knows: imported pools.

    `diskinfo -Hp` gives type, name, vendor, product, bytes, and whether the disk is removable and solid-state.
    """
    rows = (line.split("\t") for line in machine.diskinfo.splitlines() if line.strip())
    found = [_device(machine, row) for row in rows]
    return tuple(sorted(found, key=lambda one: [int(word) if word.isdigit() else word for word in _words(one.name)]))


def parse_serials(iostat: str) -> dict[str, str]:
    """Give the serial number of each disk that tells one, from `iostat -En`."""
    return {match[1]: match[2] for match in _SERIAL.finditer(iostat)}


def parse_busy(swap: str, dumpadm: str, mount: str) -> dict[str, tuple[Use, ...]]:
    """Give what is in use by the names of the disks, from `swap -l`, dumpadm(8) and `mount -v`."""
    found: dict[str, tuple[Use, ...]] = {}
    for node, kind, what, way_out in _busy(swap, dumpadm, mount):
        if match := _NODE.fullmatch(node):
            on = f" ({match[1]}{match[2]})" if match[2] else ""
            use = Use(kind, what + on, way_out=f"{way_out} first, or name another disk")
            found[match[1]] = (*found.get(match[1], ()), use)
    return found


def parse_links(ls: str) -> dict[str, tuple[str, ...]]:
    """Give the nodes of each disk: those in /dev/dsk, and those in /devices that `zpool status -L` prints."""
    found: dict[str, tuple[str, ...]] = {}
    for disk, part, device in _LINK.findall(ls):
        found[disk] = (*found.get(disk, ()), f"/dev/dsk/{disk}{part}", f"/{device}")
    return found


def parse_slices(prtvtoc: str) -> tuple[Slice, ...]:
    """Give the slices from prtvtoc(8)."""
    rows = (line.split(maxsplit=6) for line in prtvtoc.splitlines() if re.match(r" *\d", line))
    return tuple(Slice(int(number), int(tag), rest[0] if rest else None) for number, tag, _, _, _, _, *rest in rows)


def parse_fdisk(fdisk: str) -> tuple[int, ...]:
    """Give the types of the partitions that aren't illumos's own, from `fdisk -W -`."""
    types = (int(line.split()[0]) for line in fdisk.splitlines() if re.match(r" *\d", line))
    return tuple(one for one in types if one not in _OWN_FDISK_TYPES)


def parse_memory(prtconf: str) -> int | None:
    """Give the size of memory in bytes from the head of prtconf(8)."""
    size = re.search(r"^Memory size: (\d+) Megabytes$", prtconf, re.MULTILINE)
    return int(size[1]) << 20 if size else None


def uses_of(disk: str, machine: Machine) -> tuple[Use, ...]:
    """Give every reason why a disk isn't free, each once."""
    return tuple(dict.fromkeys((*machine.busy.get(disk, ()), *_contents(disk, machine), *_tables(disk, machine))))


def _busy(swap: str, dumpadm: str, mount: str) -> Iterator[tuple[str, UseKind, str, str]]:
    for line in swap.splitlines()[1:]:
        node = line.split()[0]
        yield node, UseKind.SWAP, "swapped to", f"`swap -d {node}`"
    for mounted in _MOUNT.finditer(mount):
        yield mounted[1], UseKind.MOUNTED, f"mounted at {mounted[2]}", "unmount it"
    for dump in _DUMP.finditer(dumpadm):
        yield dump[1], UseKind.HELD, "crash dumps go to it", "give them another device with `dumpadm -d`"


def _contents(disk: str, machine: Machine) -> Iterator[Use]:
    """Give what lies on the slices: labels of pools that aren't imported, and file systems that aren't mounted."""
    nodes = [*(f"{disk}s{one.number}" for one in parse_slices(machine.prtvtoc.get(disk, ""))), f"{disk}p0"]
    for node in nodes:
        found = machine.contents.get(node, NOTHING)
        if found.is_zfs:
            pool = f"pool {found.pool}" if found.pool else "a pool"
            clear = f"`zpool import` it, or if nobody needs it, `zpool labelclear -f /dev/dsk/{node}`"
            yield Use(UseKind.LABEL, f"label of {pool}, not imported ({node})", found.pool, clear)
        if found.file_system and not _is_busy(node, machine.busy.get(disk, ())):
            wipe = f"if nobody needs what is on it, run `dd if=/dev/zero of=/dev/rdsk/{node} bs=1024k count=1`"
            yield Use(UseKind.FILE_SYSTEM, f"{found.file_system} ({node})", way_out=f"{wipe}, or name another disk")


def _tables(disk: str, machine: Machine) -> Iterator[Use]:
    """Give the slices and partitions in which somebody may have something that isn't recognised."""
    relabel = f"if nobody needs what is on it, give it an EFI label with `format -e {disk}`, or name another disk"
    for kind in parse_fdisk(machine.fdisk.get(disk, "")):
        yield Use(UseKind.PARTITION, f"fdisk partition of type {kind}", way_out=relabel)
    slices = parse_slices(machine.prtvtoc.get(disk, ""))
    is_blank = {(one.number, one.tag) for one in slices} == _BLANK_SLICES
    for one in slices:
        node = f"{disk}s{one.number}"
        if _is_busy(node, machine.busy.get(disk, ())):
            continue
        if one.mounted_at:
            unmount = "unmount it first, or name another disk"
            yield Use(UseKind.MOUNTED, f"mounted at {one.mounted_at} ({node})", way_out=unmount)
        elif not is_blank and one.tag not in _SYSTEM_TAGS and machine.contents.get(node, NOTHING) == NOTHING:
            yield Use(UseKind.PARTITION, f"slice {node} ({_TAGS.get(one.tag, one.tag)})", way_out=relabel)


def _is_busy(node: str, busy: tuple[Use, ...]) -> bool:
    return any(use.what.endswith(f"({node})") for use in busy)


def _device(machine: Machine, row: list[str]) -> Device:
    kind, name, vendor, product, size, removable, solid = row
    sector = _SECTOR.search(machine.prtvtoc.get(name, ""))
    sector_bytes = int(sector[1]) if sector else _SECTOR_BYTES
    path = f"/dev/dsk/{name}"
    return Device(
        name=name,
        path=path,
        media=MediaClass.NVME if kind == "NVME" else MediaClass.SSD if solid == "yes" else MediaClass.HDD,
        size_bytes=int(size),
        logical_sector_bytes=sector_bytes,
        physical_sector_bytes=max(sector_bytes, _PHYSICAL_SECTOR_BYTES),
        transport=None if kind in {"UNKNOWN", "-", ""} else kind.lower(),
        vendor=_text(vendor),
        model=_text(product),
        serial=machine.serials.get(name),
        removable=removable == "yes" or kind == "USB",
        # The system remembers controllers and targets in /etc/path_to_inst, so the name is a stable one.
        by_id=path,
        aliases=(path, f"/dev/rdsk/{name}"),
        parts=machine.links.get(name, (f"{path}s0",)),
        used_by=uses_of(name, machine),
    )


def _about(prefix: str, said: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix(prefix): text for name, text in said.items() if name.startswith(prefix)}


def _text(value: str) -> str | None:
    """Give what diskinfo(8) says, which is a hyphen where it knows nothing."""
    return None if value in {"", "-"} else value


def _words(name: str) -> list[str]:
    """Part a name so that c2t0d0 sorts before c10t0d0: text and digits take turns."""
    return re.split(r"(\d+)", name)

"""The block queues of Linux under ZFS, as udev rules that find disks by their serial numbers. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.platforms.device import MediaClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zmysql.platforms.device import Device

# After 60-persistent-storage.rules, which makes the names that these rules match.
FILE = "/etc/udev/rules.d/66-zmysql-{layout}.rules"

_HEADER = """\
# {file}: the block queues of the disks of the ZFS layout {layout}
# It holds from the next boot on, or after: udevadm control --reload && udevadm trigger --subsystem-match=block
#
# scheduler    none: ZFS schedules by itself (zfs(4), zfs_vdev_*_max_active) and merges what lies side by side. Bianchi
#              took noop, which was its name before blk-mq.
# add_random   0: an interrupt of a disk is no good source of entropy, and each takes time (Bianchi).
# rotational   0 for SSDs, also where a controller hides what they are (Bianchi): ZFS chooses a mirror's side by it.
#
# Left alone, of what else Bianchi set for one request queue on RHEL 6, and articles set: nr_requests (with none, blk-mq
# takes no more than the disk's own tags), max_sectors_kb (ZFS sends at most 1M, zfs_vdev_aggregation_limit),
# read_ahead_kb (only the page cache reads ahead, ZFS passes it by), rq_affinity (1 fits blk-mq).
"""


def rules(layout: str, devices: Iterable[Device]) -> str:
    """Give the text of a rules file for the disks of a layout.

    A disk goes by its name under /dev/disk/by-id, in which its serial number or world-wide name is: sda may be another
    disk after the next boot. Raises ZmysqlError for a disk that has no such name.
    """
    devices = tuple(devices)
    if nameless := [device.name for device in devices if device.by_id is None]:
        raise ZmysqlError(
            f"{' '.join(nameless)}: no name under /dev/disk/by-id, so no rule would find the disk again; "
            "give the virtual machine's disk a serial number"
        )
    header = _HEADER.format(file=FILE.format(layout=layout), layout=layout)
    return "\n".join((header, *(line for device in devices for line in _rule(device)), ""))


def _rule(device: Device) -> Iterator[str]:
    serial = f", serial {device.serial}" if device.serial else ""
    words = " ".join(f"{device.model or 'disk'}{serial}".split())  # one line, whatever the disk says of itself
    yield f"# {device.name} now: {words}, {device.media}"
    name = (device.by_id or "").removeprefix("/dev/")
    match = f'ACTION=="add|change", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk", SYMLINK=="{_literal(name)}"'
    rotational = "" if device.media is MediaClass.HDD else ', ATTR{queue/rotational}="0"'
    yield f'{match}, ATTR{{queue/scheduler}}="none", ATTR{{queue/add_random}}="0"{rotational}'


def _literal(name: str) -> str:
    """Give a pattern that matches nothing but this name: udev(7) has *, ?, [] and |, and names of its own by %."""
    return "".join(f"[{char}]" if char in "*?[" else "?" if char in '|"\\' else char for char in name)

"""What others have on the machine: a pool with files, and a file system on a disk. Nobody may touch them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.host import Host

POOL = "foreign"

_MAKE = f"""
zpool create -f -o ashift=12 -o comment=ours -O compression=zstd -O local:owner=somebody {POOL} mirror "$1" "$2"
zfs create -o recordsize=8K -o copies=2 -o mountpoint=/srv/foreign {POOL}/db
dd if=/dev/urandom of=/srv/foreign/table bs=64K count=160 status=none
zfs snapshot {POOL}/db@before
dd if=/dev/urandom of=/srv/foreign/table bs=64K count=40 conv=notrunc status=none
zpool sync {POOL}
mke2fs -q -t ext4 "/dev/$3"
"""

# Properties that are set, not what ZFS measures; the two ends of the disk, where whoever takes a disk writes.
_LOOK = f"""
zpool get -Hp -o property,value guid,ashift,comment,autotrim,health {POOL}
zpool status -P {POOL} | sed -n '/NAME/,$p'
zfs get -Hrp -s local,received -o name,property,value all {POOL}
zfs list -Hrp -t all -o name,guid {POOL}
find /srv/foreign -type f -exec sha256sum {{}} +
size=$(blockdev --getsize64 "/dev/$1")
{{
    dd if="/dev/$1" bs=1M count=32
    dd if="/dev/$1" bs=1M skip=$((size / 1048576 - 8))
}} 2>/dev/null | sha256sum
"""


def make(host: Host, disks: Sequence[str]) -> None:
    """Make a pool on the first two disks and a file system on the third."""
    host.run(("sh", "-euc", _MAKE, "sh", *disks))


def look(host: Host, disks: Sequence[str]) -> str:
    """Give what must not change: the pool's GUID, vdevs, properties and files, and the two ends of the third disk."""
    return host.run(("sh", "-euc", _LOOK, "sh", disks[2])).stdout

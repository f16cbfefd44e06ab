"""Puts a guest's disks back as they were when it booted: whatever is on them is of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zmysql.host import Host

BLANK = r"""
pkill -x zpool; while pgrep -x zpool >/dev/null; do sleep 0.2; done
disks=$(lsblk -dnpo NAME,TYPE | awk '$2 == "disk" && $1 != "/dev/vda" {print $1}')
# shellcheck disable=SC2086 # one word a disk
for mount in $(lsblk -nro MOUNTPOINT $disks | grep ^/); do umount "$mount"; done
swapoff -a
for pool in $(zpool list -Ho name); do zpool destroy -f "$pool"; done
dmsetup remove_all
# What a busy machine still has open is tried again.
for attempt in 1 2 3 4 5; do
    left=
    for disk in $disks; do
        set -- $(lsblk -nrpo NAME,FSTYPE,PTTYPE "$disk")
        [ $# -le 1 ] && continue # none: a volume of a pool that is gone
        left="$left $disk"
        for part in $(lsblk -lnpo NAME,TYPE "$disk" | awk '$2 == "part" {print $1}'); do
            zpool labelclear -f "$part" && wipefs -qa "$part"
        done
        wipefs -qa "$disk"
        blockdev --rereadpt "$disk"
    done
    [ -z "$left" ] && exit 0
    udevadm settle --timeout=300
done
echo "these disks aren't blank:$left" >&2
exit 1
"""


def blank(guest: Host) -> None:
    """Free all disks but the one that the guest booted from."""
    guest.run(("sh", "-c", BLANK))

"""What the ARC takes of a machine's memory when nobody caps it, and what the L2ARC takes of the ARC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.zfs.capability import ILLUMOS

if TYPE_CHECKING:
    from zmysql.zfs.capability import Zfs

# What stays in memory of a record that is only in the L2ARC: HDR_L2ONLY_SIZE in arc.c, the part of arc_buf_hdr_t that
# comes before b_l1hdr, on 64 bit.
L2ARC_HEADER_BYTES = 96

# A cache device that is smaller isn't filled again after a reboot: l2arc_rebuild_blocks_min_l2size in zfs(4).
LEAST_PERSISTENT_BYTES = 1 << 30

_GIB = 1 << 30
_LINUX_TAKES_MORE = (2, 3)


def default_arc_max_bytes(memory_bytes: int, zfs: Zfs) -> int:
    """Give zfs_arc_max where nobody has set it: arc_default_max() of each system, see zfs(4).

    Linux takes half up to OpenZFS 2.2, and from 2.3 as FreeBSD all but 1 GiB, or five eighths if that is more. illumos
    takes all but 1 GiB, or three quarters. Of a version that isn't known the least is given.
    """
    but_one = max(memory_bytes - _GIB, 0)
    if zfs.system == ILLUMOS:
        return max(but_one, memory_bytes * 3 // 4)
    if zfs.system == "linux" and (zfs.version is None or zfs.version < _LINUX_TAKES_MORE):
        return memory_bytes // 2
    return max(but_one, memory_bytes * 5 // 8)

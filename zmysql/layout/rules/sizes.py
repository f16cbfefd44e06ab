"""Rules on sizes: the log, the headers of the L2ARC, special vdevs and data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.layout.model import Allow, Refusal
from zmysql.layout.rules.case import DEFAULT_RECORD_BYTES
from zmysql.units import format_size
from zmysql.zfs.arc import L2ARC_HEADER_BYTES, LEAST_PERSISTENT_BYTES, default_arc_max_bytes
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.layout.rules.case import Case

# The log holds what was synced since the last transaction group on disk: two or three groups of up to 5 s, and no more
# than zfs_dirty_data_max each, which is 4 GiB at most by default: zfs(4).
LEAST_LOG_BYTES = 256 << 20
SMALL_LOG_BYTES = 1 << 30
LARGE_LOG_BYTES = 64 << 30

# Of the ARC, for headers of what is in the L2ARC: a share to know of, and one that takes more than it gives.
HEADERS_WARN = 0.10
HEADERS_REFUSE = 0.25

# A block pointer has 128 bytes (blkptr_t), there is one for each record, and metadata is written twice.
_POINTER_BYTES = 2 * 128

# Redo log, system tablespace, undo and doublewrite of an empty mysqld take some 300 MB.
SMALL_DATA_BYTES = 1 << 30


def log_size(case: Case) -> Iterator[Refusal | str]:
    """Check that the log holds what is synced within a few transaction groups."""
    role = case.role(VdevRole.LOG)
    if role is None or not (size_bytes := case.usable_bytes(role)):
        return
    size = format_size(size_bytes)
    if size_bytes < LEAST_LOG_BYTES:
        why = f"has {size}, which a second of writes fills: then each sync waits for the data vdevs"
        way_out = f"name bigger disks: {format_size(LEAST_LOG_BYTES)} at least, 4G is enough for most"
        yield Refusal(role.role, why, way_out, Allow.SMALL_LOG)
    elif size_bytes < SMALL_LOG_BYTES:
        yield f"log: {size} may fill up under many writes, and syncs then wait for the data: 4G is enough for most"
    elif size_bytes > LARGE_LOG_BYTES:
        yield f"log: of {size} ZFS uses some 4G: what stays unused serves as a reserve against wear"


def l2arc_headers(case: Case) -> Iterator[Refusal | str]:
    """Check that what the ARC must remember of the L2ARC leaves room in the ARC."""
    role = case.role(VdevRole.CACHE)
    record_bytes = case.least_record_bytes(primarycache="all", secondarycache="all")
    if role is None or record_bytes is None:
        return
    if case.site.memory_bytes is None:
        yield "cache: how much memory this machine has isn't known, so nobody checked that it holds the L2ARC's headers"
        return
    cache_bytes = sum(device.size_bytes for device in case.of_role(role))
    headers_bytes = cache_bytes // record_bytes * L2ARC_HEADER_BYTES
    arc_bytes = default_arc_max_bytes(case.site.memory_bytes, case.site.zfs)
    share = headers_bytes / arc_bytes if arc_bytes else 1.0
    what = (
        f"{format_size(cache_bytes)} of L2ARC in records of {format_size(record_bytes)} take "
        f"{format_size(headers_bytes)} of the ARC's {format_size(arc_bytes)} for headers, {share:.0%}"
    )
    if share > HEADERS_REFUSE:
        way_out = "add memory, name smaller disks, or take bigger records (--set data.recordsize=…)"
        yield Refusal(role.role, what, way_out, Allow.L2ARC_HEADERS)
    elif share > HEADERS_WARN:
        yield f"cache: {what}: what they displace is slower to read again than it was"


def l2arc_persistence(case: Case) -> Iterator[Refusal | str]:
    """Tell whether the L2ARC is filled again after a reboot, for which it must be big enough."""
    role = case.role(VdevRole.CACHE)
    small = [one for one in case.of_role(role) if one.size_bytes < LEAST_PERSISTENT_BYTES] if role else []
    if small:
        names = ", ".join(f"{one.name} {format_size(one.size_bytes)}" for one in small)
        yield f"cache: empty after each reboot, since ZFS restores only what has 1G or more: {names}"


def special_size(case: Case) -> Iterator[Refusal | str]:
    """Check that the special vdevs hold the metadata of the data vdevs."""
    special, data = case.role(VdevRole.SPECIAL), case.role(VdevRole.DATA)
    if special is None or data is None:
        return
    record_bytes = case.least_record_bytes() or DEFAULT_RECORD_BYTES
    data_bytes, special_bytes = case.usable_bytes(data), case.usable_bytes(special)
    needed_bytes = data_bytes * _POINTER_BYTES // record_bytes
    if 0 < special_bytes < needed_bytes:
        yield (
            f"special: {format_size(special_bytes)}, and the block pointers of {format_size(data_bytes)} in records of "
            f"{format_size(record_bytes)} can take {format_size(needed_bytes)}, "
            f"{_POINTER_BYTES / record_bytes:.1%}: when it is full, the rest goes to the data vdevs"
        )


def data_size(case: Case) -> Iterator[Refusal | str]:
    """Check that a database fits in."""
    role = case.role(VdevRole.DATA)
    if role is not None and 0 < (size_bytes := case.usable_bytes(role)) < SMALL_DATA_BYTES:
        yield f"data: {format_size(size_bytes)} in all, of which an empty mysqld takes some 300M"


def spare_size(case: Case) -> Iterator[Refusal | str]:
    """Check that a spare can stand in for each disk."""
    spare = case.role(VdevRole.SPARE)
    if spare is None:
        return
    for role in case.spec.roles:
        if role.role in {VdevRole.DATA, VdevRole.SPECIAL, VdevRole.DEDUP}:
            biggest = max((one.size_bytes for one in case.of_role(role)), default=0)
            for one in case.of_role(spare):
                if one.size_bytes < biggest:
                    size = format_size(one.size_bytes)
                    yield f"spare: {one.name} with {size} can't stand in for every {role.role} disk"

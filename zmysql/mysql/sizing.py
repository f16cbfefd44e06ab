"""One memory, two caches: how much of it the buffer pool has and how much the ARC, and the lines that cap the ARC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import UsageError
from zmysql.units import format_size
from zmysql.zfs.arc import L2ARC_HEADER_BYTES

if TYPE_CHECKING:
    from zmysql.mysql.served import ServedLayout

LEAST_MEMORY_BYTES = 256 << 20

# zfs(4), arc_tuning_update() in arc.c: a zfs_arc_max below 64 MiB, at or above all memory, or not above zfs_arc_min, is
# ignored without a word. zfs_arc_min is a thirty-second of memory unless it is set, and 32 MiB at least.
LEAST_ARC_BYTES = 64 << 20
LEAST_ARC_MIN_BYTES = 32 << 20
_ARC_MIN_SHARE = 32

# InnoDB's unit of its buffer pool, up to which it would round (innodb_buffer_pool_chunk_size).
CHUNK_BYTES = 128 << 20

# What the kernel, the page tables and everything that isn't mysqld need: an eighth, within these bounds.
_LEAST_SYSTEM_BYTES, _MOST_SYSTEM_BYTES = 512 << 20, 16 << 30


@dataclass(frozen=True, slots=True)
class Budget:
    """Who has how much memory, in bytes; what is None isn't known or isn't capped.

    `mysqld_bytes` is all that mysqld may use, and the buffer pool a part of it. The ARC holds the headers of what is in
    the L2ARC: `l2arc_header_bytes` when that is full. `arc_min_bytes` is set where zfs_arc_max would be ignored
    without.
    `why` says how it came about, line by line.
    """

    mysqld_bytes: int
    buffer_pool_bytes: int
    ram_bytes: int | None = None
    system_bytes: int | None = None
    arc_max_bytes: int | None = None
    arc_min_bytes: int | None = None
    l2arc_header_bytes: int = 0
    why: tuple[str, ...] = ()


def plan_memory(served: ServedLayout, memory_bytes: int | None, ram_bytes: int | None) -> Budget:
    """Divide the memory.

    `memory_bytes` is what mysqld may use, the ARC not counted; the ARC then has what is left of `ram_bytes`. Without
    it, both are worked out from `ram_bytes`. Raises UsageError when it isn't enough, or neither is known.
    """
    if memory_bytes is not None and memory_bytes < LEAST_MEMORY_BYTES:
        raise UsageError(f"--memory {format_size(memory_bytes)} is too little: give mysqld 256M or more")
    headers = l2arc_header_bytes(served)
    why = _header_why(served, headers)
    if ram_bytes is None:
        if memory_bytes is None:
            raise UsageError("this machine's memory can't be read: give --ram, or what mysqld may use with --memory")
        return Budget(memory_bytes, buffer_pool_bytes(memory_bytes), l2arc_header_bytes=headers, why=why)
    system = system_bytes(ram_bytes)
    arc, arc_why = _arc_bytes(served, ram_bytes - system, memory_bytes, headers)
    mysqld = ram_bytes - system - arc
    if arc < LEAST_ARC_BYTES or mysqld < LEAST_MEMORY_BYTES:
        asked = "" if memory_bytes is None else f"with --memory {format_size(memory_bytes)}, "
        raise UsageError(
            f"{asked}{format_size(ram_bytes)} of memory is too little: the system needs {format_size(system)}, mysqld "
            "256M and the ARC 64M; say with --ram what the machine has, or give mysqld less"
        )
    whole = f"of {format_size(ram_bytes)} the system keeps {format_size(system)}"
    minimum = _arc_min_bytes(arc, ram_bytes)
    return Budget(mysqld, buffer_pool_bytes(mysqld), ram_bytes, system, arc, minimum, headers, (whole, arc_why, *why))


def buffer_pool_bytes(mysqld_bytes: int) -> int:
    """Give three quarters of mysqld's memory in whole chunks, one at least; the rest is for connections and caches."""
    return max(mysqld_bytes * 3 // 4 // CHUNK_BYTES, 1) * CHUNK_BYTES


def system_bytes(ram_bytes: int) -> int:
    """Give what neither mysqld nor the ARC may have."""
    return min(max(ram_bytes // 8, _LEAST_SYSTEM_BYTES), _MOST_SYSTEM_BYTES)


def l2arc_header_bytes(served: ServedLayout) -> int:
    """Give what the headers of a full L2ARC take of the ARC: a header for each record, at the size of the tables'."""
    return served.cache_bytes // served.data.record_bytes * L2ARC_HEADER_BYTES


def arc_tuning(system: str, budget: Budget) -> tuple[str, tuple[str, ...]] | None:
    """Give the file in which a system caps the ARC, and its lines; None where there is no cap to set.

    Linux: modprobe.d(5) and zfs(4). FreeBSD: loader.conf(5). illumos: system(5).
    """
    if budget.arc_max_bytes is None:
        return None
    values = {"max": budget.arc_max_bytes}
    if budget.arc_min_bytes is not None:
        values = {"min": budget.arc_min_bytes, **values}
    if system == "freebsd":
        return "/boot/loader.conf", tuple(f'vfs.zfs.arc.{key}="{value}"' for key, value in values.items())
    if system == "illumos":
        return "/etc/system", tuple(f"set zfs:zfs_arc_{key} = {value:#x}" for key, value in values.items())
    options = " ".join(f"zfs_arc_{key}={value}" for key, value in values.items())
    return "/etc/modprobe.d/zfs.conf", (f"options zfs {options}",)


def arc_tuning_live(system: str, budget: Budget) -> tuple[str, ...]:
    """Give the commands that cap the ARC of a running system, the minimum first; none where only a reboot does."""
    values = {"min": budget.arc_min_bytes, "max": budget.arc_max_bytes}
    if system == "linux":
        form = "echo {value} > /sys/module/zfs/parameters/zfs_arc_{key}"
    elif system == "freebsd":
        form = "sysctl vfs.zfs.arc.{key}={value}"
    else:
        return ()
    return tuple(form.format(key=key, value=value) for key, value in values.items() if value is not None)


def _arc_bytes(served: ServedLayout, rest: int, memory_bytes: int | None, headers: int) -> tuple[int, str]:
    """Give the ARC's share of what the system leaves, in whole mebibytes, and why it is that."""
    if memory_bytes is not None:
        return rest - memory_bytes, "the ARC has what mysqld and the system leave"
    if not served.arc_keeps_data:
        kept = served.data.get("primarycache")
        share, why = (
            rest // 8,
            (
                f"the ARC has an eighth of the rest: with primarycache={kept} it keeps no records of tables, "
                "and the buffer pool is the only cache of them"
            ),
        )
    # A page in the buffer pool costs neither checksum nor copy, so it is the better cache of the two; but the ARC keeps
    # records compressed, feeds the L2ARC, and caches for all that isn't InnoDB.
    elif headers > rest // 6:
        share, why = (
            min(headers * 2, rest // 2),
            (f"the ARC has more than a third of the rest, since {format_size(headers)} of it are headers of the L2ARC"),
        )
    else:
        share, why = rest // 3, "the ARC has a third of the rest: a page in the buffer pool spares copy and checksum"
    return max(share, LEAST_ARC_BYTES) >> 20 << 20, why


def _header_why(served: ServedLayout, headers: int) -> tuple[str, ...]:
    if not headers:
        return ()
    record = format_size(served.data.record_bytes)
    cache = format_size(served.cache_bytes)
    each = f"{L2ARC_HEADER_BYTES} bytes for each record of {record}"
    return (f"a full L2ARC of {cache} takes {format_size(headers)} of the ARC: {each}",)


def _arc_min_bytes(arc_max_bytes: int, ram_bytes: int) -> int | None:
    """Give the zfs_arc_min without which zfs_arc_max would be ignored; None where the default does."""
    if arc_max_bytes > max(ram_bytes // _ARC_MIN_SHARE, LEAST_ARC_MIN_BYTES):
        return None
    return max(arc_max_bytes // 2, LEAST_ARC_MIN_BYTES)

"""Rules on memory: ARC and buffer pool in one budget, and swap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.check import tunables
from zmysql.check.facts import Need
from zmysql.check.model import Evidence, Hit, Severity, rule
from zmysql.mysql.sizing import LEAST_ARC_BYTES, system_bytes
from zmysql.units import format_size
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.check.facts import Facts

_MUCH_MORE = 2


def arc_budget_bytes(facts: Facts) -> int:
    """Give what the ARC may take when mysqld and the system have theirs, as `zmysql mycnf` divides the memory."""
    memory_bytes = facts.memory_bytes or 0
    # The buffer pool is three quarters of mysqld.
    mysqld_bytes = facts.server.size("innodb_buffer_pool_size") * 4 // 3 if facts.server else memory_bytes // 2
    least = max(LEAST_ARC_BYTES, facts.arcstats.get("c_min", 0) + (1 << 20))
    return max(memory_bytes - system_bytes(memory_bytes) - mysqld_bytes, least) >> 20 << 20


@rule(
    Severity.WARNING,
    "ZFS takes no notice of a zfs_arc_max under 64M, not above zfs_arc_min, or not below the memory: the ARC goes on "
    "with the size that it had (zfs(4); arc.c, arc_tuning_update).",
    Need.PARAMETERS,
    Need.ARC,
    Need.MEMORY,
)
def arc_max_ignored(facts: Facts) -> Iterator[Hit]:
    """Look for a zfs_arc_max that isn't what the ARC has as its greatest size."""
    asked, c_max = facts.parameters.get("zfs_arc_max", 0), facts.arcstats["c_max"]
    if asked and asked != c_max:
        mend, then = tunables.set_parameter(facts.system, "zfs_arc_max", arc_budget_bytes(facts))
        sources = f"{tunables.where(facts.system, 'zfs_arc_max')}, c_max and c_min in arcstats"
        least = format_size(facts.arcstats.get("c_min", 0))
        value = f"zfs_arc_max={format_size(asked)}, c_max={format_size(c_max)}, c_min={least}"
        yield Hit("zfs_arc_max", Evidence(value, sources), mend, then)


@rule(
    Severity.WARNING,
    "ARC and buffer pool together may take more than the machine has: the ARC gives way late under Linux, and mysqld "
    "is what the kernel kills for memory (zfs(4), zfs_arc_max).",
    Need.SERVER,
    Need.PLACES,
    Need.ARC,
    Need.MEMORY,
)
def memory_overcommitted(facts: Facts) -> Iterator[Hit]:
    """Compare the greatest ARC plus the buffer pool with the memory."""
    if facts.server is None or facts.memory_bytes is None:
        return
    arc_bytes, pool_bytes = facts.arcstats["c_max"], facts.server.size("innodb_buffer_pool_size")
    if arc_bytes + pool_bytes <= facts.memory_bytes:
        return
    value = (
        f"ARC up to {format_size(arc_bytes)} + innodb_buffer_pool_size {format_size(pool_bytes)} "
        f"> {format_size(facts.memory_bytes)} of memory"
    )
    mend, then = tunables.set_parameter(facts.system, "zfs_arc_max", arc_budget_bytes(facts))
    if pool_bytes + LEAST_ARC_BYTES > facts.memory_bytes:
        mend, then = (), "lower innodb_buffer_pool_size: it leaves no room for the kernel and the ARC"
    evidence = Evidence(value, "c_max in arcstats, SHOW GLOBAL VARIABLES, the system's memory")
    yield Hit("zfs_arc_max", evidence, mend, then)


@rule(
    Severity.NOTE,
    "A buffer pool much larger than the ARC holds what the ARC holds, and more: the ARC's share is memory with copies. "
    "primarycache=metadata leaves it to the buffer pool; measure, since the ARC holds pages compressed.",
    Need.SERVER,
    Need.PLACES,
    Need.ARC,
)
def cached_twice(facts: Facts) -> Iterator[Hit]:
    """Look for data cached in the ARC below a much larger buffer pool, without an L2ARC to feed."""
    found = facts.used_for("data")
    if facts.server is None or found is None or facts.server.bypasses_cache:
        return
    pool, dataset = found
    arc_bytes, pool_bytes = facts.arcstats["c_max"], facts.server.size("innodb_buffer_pool_size")
    is_cached = dataset.properties.get("primarycache") == "all"
    if is_cached and not pool.with_role(VdevRole.CACHE) and pool_bytes > _MUCH_MORE * arc_bytes:
        evidence = Evidence(
            f"innodb_buffer_pool_size {format_size(pool_bytes)}, ARC up to {format_size(arc_bytes)}, primarycache=all",
            f"SHOW GLOBAL VARIABLES, c_max in arcstats, zfs get primarycache {dataset.name}",
        )
        yield Hit(dataset.name, evidence, then=f"try: zfs set primarycache=metadata {dataset.name}")


@rule(
    Severity.WARNING,
    "To write a page out to a zvol ZFS needs memory itself: a machine short of memory can stop for good (OpenZFS's "
    "FAQ, Using a zvol for a swap device on Linux).",
)
def swap_on_zvol(facts: Facts) -> Iterator[Hit]:
    """Look for swap on volumes of ZFS; illumos is made for it."""
    for volume in facts.swap if facts.system != "illumos" else ():
        mend = (("swapoff", f"/dev/zvol/{volume}"),)
        then = "take it out of /etc/fstab, and swap to a partition"
        yield Hit(volume, Evidence(f"swap on /dev/zvol/{volume}", "the system's list of swap devices"), mend, then)


RULES = (arc_max_ignored, memory_overcommitted, cached_twice, swap_on_zvol)

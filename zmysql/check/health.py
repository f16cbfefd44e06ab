"""Rules on the state of pools and disks: failures, errors, space, scrub and trim."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from zmysql.check.disks import spare_for
from zmysql.check.model import Evidence, Hit, Severity, rule
from zmysql.check.source import parse_date
from zmysql.platforms.device import MediaClass
from zmysql.units import format_size
from zmysql.zfs.commands import set_pool_property
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from zmysql.check.facts import Facts, Leaf, PoolFacts
    from zmysql.zfs.commands import Argv

FULL_PERCENT = 80
_OVERFULL_PERCENT = 90
_FRAGMENTED_PERCENT = 50
OLD = timedelta(days=35)  # Debian scrubs on the second Sunday of each month


@rule(
    Severity.CRITICAL,
    "A disk of the pool isn't there or doesn't work: the next failure of its vdev may lose the pool.",
)
def disk_not_online(facts: Facts) -> Iterator[Hit]:
    """Look for disks that aren't online, and for pools that aren't although their disks are."""
    for pool in facts.pools:
        bad = [leaf for top in pool.tops for leaf in top.leaves if leaf.state not in {"ONLINE", "AVAIL", "INUSE"}]
        for leaf in bad:
            mend, then = _revive(facts, pool, leaf)
            note = f" ({leaf.note})" if leaf.note.startswith("was ") else ""
            yield Hit(leaf.name, Evidence(f"{leaf.state}{note}", f"zpool status {pool.name}"), mend, then)
        if pool.pool.state != "ONLINE" and not bad:
            evidence = Evidence(pool.pool.state, f"zpool status {pool.name}")
            yield Hit(pool.name, evidence, then=f"see what `zpool status -v {pool.name}` says", about="state")


def _revive(facts: Facts, pool: PoolFacts, leaf: Leaf) -> tuple[tuple[Argv, ...], str | None]:
    if leaf.state == "OFFLINE":
        return (("zpool", "online", pool.name, leaf.name),), None
    spare = spare_for(facts, leaf)
    if spare is None:
        return (), f"replace the disk, then: zpool replace {pool.name} {leaf.name} DISK"
    return (("zpool", "replace", pool.name, leaf.name, spare.stable_path),), "and take the old disk out"


@rule(
    Severity.WARNING,
    "The disk, its cable or its controller gave errors, or what it gave back wasn't what was written. ZFS mended it "
    "from a copy; a disk that does it again is to be replaced (zpool-status(8)).",
)
def disk_errors(facts: Facts) -> Iterator[Hit]:
    """Look for counted errors of reads, writes and checksums."""
    for pool in facts.pools:
        for leaf in (leaf for top in pool.tops for leaf in top.leaves if any(leaf.errors)):
            reads, writes, checksums = leaf.errors
            evidence = Evidence(
                f"{reads} read, {writes} write, {checksums} checksum errors", f"zpool status {pool.name}"
            )
            mend = (("zpool", "clear", pool.name, leaf.name), ("zpool", "scrub", pool.name))
            yield Hit(leaf.name, evidence, mend, "if it comes back, replace the disk")


@rule(
    Severity.CRITICAL,
    "Some of what was written can't be read any more, and no copy of it is left.",
)
def data_errors(facts: Facts) -> Iterator[Hit]:
    """Look for permanent errors."""
    for pool in facts.pools:
        said = pool.status.get("errors", "")
        if said and not said.startswith("No known data errors"):
            then = f"`zpool status -v {pool.name}` names the files: restore them from a backup, then zpool scrub twice"
            yield Hit(pool.name, Evidence(said.split("\n", 1)[0], f"zpool status {pool.name}"), then=then)


@rule(
    Severity.WARNING,
    "Near its end ZFS finds free space in ever smaller pieces: writes slow down long before the pool is full, and a "
    "full pool stops mysqld.",
)
def pool_full(facts: Facts) -> Iterator[Hit]:
    """Look for pools filled beyond 80 %."""
    for pool in facts.pools:
        percent = int(pool.pool.properties.get("capacity", "0"))
        if percent > FULL_PERCENT:
            free = format_size(int(pool.pool.properties.get("free", "0")))
            evidence = Evidence(f"capacity {percent} %, {free} free", f"zpool list {pool.name}")
            then = "purge binary logs, destroy old snapshots (zfs list -t snapshot -o space), or add vdevs"
            worse = Severity.CRITICAL if percent > _OVERFULL_PERCENT else None
            yield Hit(pool.name, evidence, then=then, severity=worse)


@rule(
    Severity.NOTE,
    "The free space lies in small pieces, so that large records and sequential writes are split (zpoolprops(7), "
    "fragmentation).",
)
def pool_fragmented(facts: Facts) -> Iterator[Hit]:
    """Look for pools whose free space is fragmented by more than half."""
    for pool in facts.pools:
        percent = int(pool.pool.properties.get("fragmentation", "0"))
        if percent > _FRAGMENTED_PERCENT:
            evidence = Evidence(f"fragmentation {percent} %", f"zpool list {pool.name}")
            yield Hit(pool.name, evidence, then="free space; only `zfs send` into a new pool undoes it")


@rule(
    Severity.WARNING,
    "A copy that went bad is found when it is read. What nobody reads is found by a scrub alone, and until then a "
    "second failure can hit the only good copy (zpool-scrub(8)).",
)
def scrub_old(facts: Facts) -> Iterator[Hit]:
    """Look for pools that weren't scrubbed for 35 days; a young pool needn't have been."""
    for pool in facts.pools:
        scan = pool.status.get("scan", "")
        if "in progress" in scan:
            continue
        # A resilver overwrites what is said of the last scrub; it has read much of the pool too.
        last = parse_date(scan) or _created(facts, pool)
        if facts.now - last > OLD:
            what = f"last {scan.split(' ', 1)[0]}" if scan else "never since the pool was made,"
            value = f"{what} on {last:%Y-%m-%d}, {(facts.now - last).days} days ago"
            mend = (("zpool", "scrub", pool.name),)
            yield Hit(
                pool.name, Evidence(value, f"zpool status {pool.name}"), mend, "and have cron or systemd do it monthly"
            )


def _created(facts: Facts, pool: PoolFacts) -> datetime:
    """Give when a pool was made, by the machine's clock as it is told: zfs(8) gives seconds since 1970, in no zone."""
    return facts.now - timedelta(seconds=max(facts.epoch_s - int(pool.pool.property_of_root("creation") or 0), 0))


@rule(
    Severity.WARNING,
    "An SSD that isn't told what is free moves dead blocks around: writes get slower, and wear grows (zpool-trim(8)).",
)
def ssd_untrimmed(facts: Facts) -> Iterator[Hit]:
    """Look for SSDs that neither autotrim nor a trim of the last 35 days covers."""
    for pool in facts.pools:
        if pool.pool.properties.get("autotrim") != "off" or facts.now - _created(facts, pool) < OLD:
            continue
        stale = [
            leaf for top in pool.tops if top.role is not VdevRole.CACHE for leaf in top.leaves if _is_stale(facts, leaf)
        ]
        if stale:
            value = f"autotrim=off; {stale[0].name}: {stale[0].note}" + (
                f" and {len(stale) - 1} more" if stale[1:] else ""
            )
            evidence = Evidence(value, f"zpool get autotrim {pool.name}, zpool status -t {pool.name}")
            yield Hit(pool.name, evidence, (set_pool_property(pool.name, "autotrim", "on"),), about="autotrim")


def _is_stale(facts: Facts, leaf: Leaf) -> bool:
    if facts.media(leaf) not in {MediaClass.SSD, MediaClass.NVME} or "trim" not in leaf.note:
        return False
    trimmed = parse_date(leaf.note)
    return "unsupported" not in leaf.note and (trimmed is None or facts.now - trimmed > OLD)


@rule(
    Severity.WARNING,
    "A checkpoint keeps every block that was there when it was taken: nothing that is deleted gives space back, vdevs "
    "can't be removed, and the pool fills up with what it was (zpool-checkpoint(8)).",
)
def checkpoint_left(facts: Facts) -> Iterator[Hit]:
    """Look for a checkpoint that somebody forgot."""
    for pool in facts.pools:
        held = pool.pool.properties.get("checkpoint")
        if held:
            value = f"a checkpoint that holds {format_size(int(held))}"
            mend = (("zpool", "checkpoint", "-d", "-w", pool.name),)
            yield Hit(
                pool.name, Evidence(value, f"zpool get checkpoint {pool.name}"), mend, "after it there is no way back"
            )


@rule(
    Severity.NOTE,
    "The pool was made by an older ZFS, or for one, and doesn't use what this one knows. After an upgrade an older ZFS "
    "can't import it any more (zpool-upgrade(8)).",
)
def features_disabled(facts: Facts) -> Iterator[Hit]:
    """Look for the line of zpool status that says so."""
    for pool in facts.pools:
        said = " ".join(pool.status.get("status", "").split())
        if "features are not enabled" in said:
            then = f"if no older system will import it: zpool upgrade {pool.name}"
            yield Hit(pool.name, Evidence(said, f"zpool status {pool.name}"), then=then)


@rule(
    Severity.NOTE,
    "The disks are larger than what the pool uses of them (zpoolprops(7), expandsize).",
)
def expandable(facts: Facts) -> Iterator[Hit]:
    """Look for space on the disks that the pool doesn't use."""
    for pool in facts.pools:
        unused = pool.pool.properties.get("expandsize")
        if unused and unused != "0":
            evidence = Evidence(f"{format_size(int(unused))} unused", f"zpool get expandsize {pool.name}")
            leaves = [leaf.name for top in pool.tops for leaf in top.leaves if top.role is VdevRole.DATA]
            yield Hit(pool.name, evidence, (("zpool", "online", "-e", pool.name, *leaves),))


RULES = (
    disk_not_online,
    disk_errors,
    data_errors,
    pool_full,
    pool_fragmented,
    scrub_old,
    ssd_untrimmed,
    checkpoint_left,
    features_disabled,
    expandable,
)

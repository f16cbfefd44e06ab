"""Rules on the intent log: whether synchronous writes reach it, and survive with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.check import tunables
from zmysql.check.datasets import Wrong, property_hits
from zmysql.check.disks import attach_partner
from zmysql.check.facts import DURABLE, Need
from zmysql.check.model import Evidence, Hit, Severity, rule
from zmysql.platforms.device import MediaClass
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.check.facts import Facts

_UNSAFE = ("zfs_nocacheflush", "zil_nocacheflush", "zil_replay_disable")


@rule(
    Severity.WARNING,
    "What the log holds and isn't yet in a transaction group is lost with its disk if the machine goes down in that "
    "moment, as it does when both hang on one controller: committed transactions (zpoolconcepts(7)).",
)
def log_unmirrored(facts: Facts) -> Iterator[Hit]:
    """Look for log vdevs of a single disk."""
    for pool in facts.pools:
        if pool.spec and any(one.role is VdevRole.LOG and one.kind == "disk" for one in pool.spec.roles):
            continue  # the template wants it so
        for top in pool.with_role(VdevRole.LOG):
            if not top.is_redundant:
                mend, then = attach_partner(facts, pool, top.leaves[0])
                evidence = Evidence(f"log vdev: {top}", f"zpool status {pool.name}")
                yield Hit(pool.name, evidence, mend, then, about="log vdev")


@rule(
    Severity.WARNING,
    "logbias=throughput passes the log vdev by: the redo log is then synced to the data disks, which is what the log "
    "vdev was bought to avoid (zfsprops(7); AnandTech 2008: 35 % more transactions from a faster log alone).",
)
def logbias_bypasses_log(facts: Facts) -> Iterator[Hit]:
    """Look for logbias=throughput on what is synced, in a pool with a log vdev."""
    logged = {pool.name for pool in facts.pools if pool.with_role(VdevRole.LOG)}
    for hit in property_hits(facts, DURABLE, Wrong("logbias", ("throughput",), "latency")):
        if hit.of.partition("/")[0] in logged:
            yield hit


@rule(
    Severity.CRITICAL,
    "ZFS then doesn't tell disks to write their caches out, or doesn't replay the log after a crash: a power cut loses "
    "committed transactions, and can lose the pool, unless every disk's cache survives it (zfs(4)).",
    Need.PARAMETERS,
)
def unsafe_sync(facts: Facts) -> Iterator[Hit]:
    """Look for module parameters that turn off what a sync promises."""
    for name in _UNSAFE:
        if facts.parameters.get(name):
            mend, then = tunables.set_parameter(facts.system, name, 0)
            yield Hit(
                name, Evidence(f"{name}={facts.parameters[name]}", tunables.where(facts.system, name)), mend, then
            )


@rule(
    Severity.WARNING,
    "A log, cache or special vdev is there to be faster than the data vdevs, and this one is a disk that seeks.",
)
def hdd_as_helper(facts: Facts) -> Iterator[Hit]:
    """Look for HDDs where SSDs are meant."""
    for pool in facts.pools:
        meant = {role.role for role in pool.spec.roles if MediaClass.HDD in role.classes} if pool.spec else set()
        for role in {VdevRole.LOG, VdevRole.CACHE, VdevRole.SPECIAL} - meant:
            for top in pool.with_role(role):
                slow = [leaf for leaf in top.leaves if facts.media(leaf) is MediaClass.HDD]
                if slow:
                    evidence = Evidence(f"{role} vdev: {top}, an HDD", f"zpool status {pool.name}, zmysql devices")
                    can_go = role is not VdevRole.SPECIAL
                    mend = (("zpool", "remove", pool.name, slow[0].name),) if can_go and not top.is_redundant else ()
                    then = None if mend else "replace its disks by SSDs: zpool replace"
                    yield Hit(pool.name, evidence, mend, then, about=f"{role} vdev")


RULES = (log_unmirrored, logbias_bypasses_log, unsafe_sync, hdd_as_helper)

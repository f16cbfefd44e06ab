"""Rules on vdevs: what may fail, sectors, names, and one disk with two jobs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from zmysql.check.disks import attach_partner
from zmysql.check.facts import Need
from zmysql.check.model import Evidence, Hit, Severity, rule
from zmysql.layout.rules.sectors import MOST_ASHIFT
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.check.facts import Facts, PoolFacts, Top
    from zmysql.zfs.commands import Argv

_ALLOCATED = (VdevRole.DATA, VdevRole.SPECIAL, VdevRole.DEDUP)


@rule(
    Severity.CRITICAL,
    "A pool is lost with any of its data vdevs. One bare disk among mirrors, as a forgotten `mirror` in `zpool add -f` "
    "leaves it, makes all the mirrors worth no more than that disk (zpoolconcepts(7)).",
)
def data_unmirrored(facts: Facts) -> Iterator[Hit]:
    """Look for data vdevs of a single disk that no template wants."""
    for pool in facts.pools:
        if pool.spec and any(one.role is VdevRole.DATA and one.kind == "disk" for one in pool.spec.roles):
            continue
        bare = [top for top in pool.with_role(VdevRole.DATA) if not top.is_redundant]
        for top in bare:
            mend, then = _undo_bare(facts, pool, top, others=len(pool.with_role(VdevRole.DATA)) > len(bare))
            yield Hit(top.leaves[0].name, Evidence(f"data vdev: {top}", f"zpool status {pool.name}"), mend, then)


def _undo_bare(facts: Facts, pool: PoolFacts, top: Top, *, others: bool) -> tuple[tuple[Argv, ...], str | None]:
    """Take a disk out that got in beside redundant vdevs, where ZFS can; else give it a partner."""
    kinds = {one.kind for one in pool.with_role(VdevRole.DATA)}
    ashifts = {one.ashift for one in pool.tops if one.role in _ALLOCATED}
    # zpool-remove(8): no RAIDZ in the pool, and one ashift.
    if pool.pool.properties.get("checkpoint"):
        return (), f"discard the checkpoint first (zpool checkpoint -d {pool.name}): with it vdevs stay as they are"
    if others and kinds <= {"disk", "mirror"} and len(ashifts) == 1:
        return (("zpool", "remove", "-w", pool.name, top.leaves[0].name),), None
    return attach_partner(facts, pool, top.leaves[0])


@rule(
    Severity.CRITICAL,
    "A special or dedup vdev holds what is nowhere else: with it the whole pool is lost, however redundant its data "
    "vdevs are (zpoolconcepts(7), Special Allocation Class).",
)
def special_unmirrored(facts: Facts) -> Iterator[Hit]:
    """Look for special and dedup vdevs of a single disk."""
    for pool in facts.pools:
        meant = {one.role for one in pool.spec.roles if one.kind == "disk"} if pool.spec else set()
        for role in {VdevRole.SPECIAL, VdevRole.DEDUP} - meant:
            for top in pool.with_role(role):
                if not top.is_redundant:
                    mend, then = attach_partner(facts, pool, top.leaves[0])
                    evidence = Evidence(f"{role} vdev: {top}", f"zpool status {pool.name}")
                    yield Hit(pool.name, evidence, mend, then, about=f"{role} vdev")


@rule(
    Severity.WARNING,
    "The special and dedup vdevs bear fewer failures than the data vdevs, and the pool is lost with either: their "
    "disks decide how safe all of it is (zpoolconcepts(7), Special Allocation Class).",
)
def special_weaker_than_data(facts: Facts) -> Iterator[Hit]:
    """Look for special and dedup vdevs that can lose a disk, but fewer than the data vdevs."""
    for pool in facts.pools:
        borne = min((top.bears for top in pool.with_role(VdevRole.DATA)), default=0)
        for role in (VdevRole.SPECIAL, VdevRole.DEDUP):
            for top in pool.with_role(role):
                if 0 < top.bears < borne:
                    mend, then = attach_partner(facts, pool, top.leaves[0])
                    value = f"{role} vdev: {top}, bears {top.bears} failures; the data vdevs bear {borne}"
                    yield Hit(pool.name, Evidence(value, f"zpool status {pool.name}"), mend, then)


@rule(
    Severity.WARNING,
    "A write smaller than a physical sector has the disk read the sector, change it and write it back, which costs a "
    "rotation on an HDD and wear on an SSD. A vdev keeps its ashift for life (zpoolprops(7)).",
    Need.ASHIFT,
)
def ashift_below_sector(facts: Facts) -> Iterator[Hit]:
    """Compare the ashift of each vdev with the physical sectors of its disks."""
    for pool in facts.pools:
        for top in pool.tops:
            sectors = [
                device.physical_sector_bytes
                for leaf in top.leaves
                if (device := facts.inventory.carrying(leaf.node)) is not None
            ]
            biggest = min(max(sectors, default=0), 1 << MOST_ASHIFT)
            if top.ashift is not None and biggest > 1 << top.ashift:
                evidence = Evidence(
                    f"ashift {top.ashift}: writes of {1 << top.ashift} bytes on sectors of {biggest}",
                    "zdb -C, zmysql devices",
                )
                then = f"make a new pool with ashift={biggest.bit_length() - 1}, and `zfs send` the data there"
                if top.role in {VdevRole.LOG, VdevRole.CACHE}:
                    then = f"zpool remove it, and zpool add it again with -o ashift={biggest.bit_length() - 1}"
                yield Hit(top.leaves[0].name, evidence, then=then)


@rule(
    Severity.WARNING,
    "With data vdevs of different ashift no vdev can be removed any more, and what is written takes another size on "
    "each (zpool-remove(8)).",
    Need.ASHIFT,
)
def ashift_mixed(facts: Facts) -> Iterator[Hit]:
    """Look for data, special and dedup vdevs of different ashift in one pool."""
    for pool in facts.pools:
        tops = [top for top in pool.tops if top.role in _ALLOCATED and top.ashift is not None]
        if len({top.ashift for top in tops}) > 1:
            value = ", ".join(f"{top.leaves[0].name} {top.ashift}" for top in tops)
            then = "make a new pool, and `zfs send` the data there; set the pool's ashift before the next zpool add"
            yield Hit(pool.name, Evidence(f"ashift: {value}", "zdb -C"), then=then)


@rule(
    Severity.WARNING,
    "The kernel gives its names (sda, sdb) anew at each boot, in the order in which disks answer: the pool may come up "
    "degraded, and a person pulls the wrong disk (OpenZFS's FAQ, Selecting /dev/ names).",
)
def kernel_names(facts: Facts) -> Iterator[Hit]:
    """Look for leaves that go by the kernel's name although the disk has a stable one; Linux only."""
    for pool in facts.pools if facts.system == "linux" else ():
        unstable = [
            leaf.name
            for top in pool.tops
            for leaf in top.leaves
            if leaf.name == leaf.node and (device := facts.inventory.carrying(leaf.node)) and device.by_id
        ]
        if unstable:
            mend = (("zpool", "export", pool.name), ("zpool", "import", "-d", "/dev/disk/by-id", pool.name))
            evidence = Evidence(" ".join(unstable), f"zpool status -P {pool.name}")
            yield Hit(pool.name, evidence, mend, "stop mysqld before, and start it after")


@rule(
    Severity.WARNING,
    "One disk has two jobs: its log, cache and data wait for each other, and fail together.",
)
def shared_disk(facts: Facts) -> Iterator[Hit]:
    """Look for disks that several vdevs lie on."""
    for pool in facts.pools:
        jobs = Counter(
            device.name
            for top in pool.tops
            for name in {leaf.node for leaf in top.leaves}
            if (device := facts.inventory.carrying(name)) is not None
        )
        for name in (name for name, count in jobs.items() if count > 1):
            evidence = Evidence(f"{name} carries {jobs[name]} parts of {pool.name}", f"zpool status -LP {pool.name}")
            yield Hit(name, evidence, then="give each vdev a disk of its own")


@rule(
    Severity.NOTE,
    "A removed vdev lives on as a table in memory, through which all that was on it is found, until it is rewritten "
    "(zpool-remove(8)).",
)
def removed_vdev(facts: Facts) -> Iterator[Hit]:
    """Look for what zpool remove leaves of a data vdev."""
    for pool in facts.pools:
        if pool.removed_vdevs:
            memory = pool.status.get("remove", "").rsplit("\n", 1)[-1].strip()
            value = f"{pool.removed_vdevs} indirect vdevs" + (f"; {memory}" if memory else "")
            evidence = Evidence(value, f"zpool list -v {pool.name}, zpool status {pool.name}")
            yield Hit(pool.name, evidence)


RULES = (
    data_unmirrored,
    special_unmirrored,
    special_weaker_than_data,
    ashift_below_sector,
    ashift_mixed,
    kernel_names,
    shared_disk,
    removed_vdev,
)

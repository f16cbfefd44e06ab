"""Rules on ARC and L2ARC: what reaches them, how fast, and what that costs the SSDs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.check import tunables
from zmysql.check.datasets import Wrong, property_hits
from zmysql.check.facts import DURABLE, TABLESPACES, Need
from zmysql.check.model import Evidence, Hit, Rule, Severity, rule
from zmysql.layout.rules.sizes import HEADERS_REFUSE
from zmysql.platforms.device import MediaClass
from zmysql.units import format_size
from zmysql.zfs.arc import L2ARC_HEADER_BYTES
from zmysql.zfs.commands import set_properties
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.check.facts import Facts, Leaf, PoolFacts

_DAY_S = 86_400
_LONGEST_FILL_DAYS = 7
_DEFAULT_WRITE_MAX_BYTES = 32 << 20  # from OpenZFS 2.3 on; before, 8 MiB
_UNCACHED_SINCE = (2, 4)


def _cached(facts: Facts) -> Iterator[PoolFacts]:
    return (pool for pool in facts.pools if pool.with_role(VdevRole.CACHE))


@rule(
    Severity.WARNING,
    "The L2ARC is fed from the ARC alone, and Direct I/O (OpenZFS 2.3 and later) passes the ARC by: what mysqld reads "
    "never reaches the cache device. From 2.4 on that holds with direct=disabled too (arc.c, l2arc_feed_thread).",
    Need.SERVER,
    Need.PLACES,
)
def l2arc_direct_io(facts: Facts) -> Iterator[Hit]:
    """Look for tablespaces opened with O_DIRECT on a pool with an L2ARC."""
    server, found = facts.server, facts.used_for("data")
    if server is None or found is None or not server.bypasses_cache:
        return
    pool, dataset = found
    direct = dataset.properties.get("direct")  # absent before 2.3, which took O_DIRECT and cached all the same
    uncached = facts.zfs.version is not None and facts.zfs.version >= _UNCACHED_SINCE
    if not pool.with_role(VdevRole.CACHE) or direct is None or (direct == "disabled" and not uncached):
        return
    variable, buffered = ("innodb_flush_method", "fsync")
    if server.is_mariadb and server.value("innodb_data_file_buffering"):
        variable, buffered = ("innodb_data_file_buffering", "ON")
    evidence = Evidence(
        f"{variable}={server.value(variable)}, direct={direct}",
        f"SHOW GLOBAL VARIABLES, zfs get direct {dataset.name}",
    )
    if uncached:
        mend, then = server.change(variable, buffered, live=False)
    else:
        mend = (set_properties(dataset.name, {"direct": "disabled"}),)
        then = f"and before an upgrade to OpenZFS 2.4, set {variable} = {buffered} for mysqld"
    yield Hit(dataset.name, evidence, mend, then, about="direct")


@rule(
    Severity.WARNING,
    "direct=always passes the ARC by for every aligned read and write, whatever the program asks for, and the L2ARC is "
    "fed from the ARC alone (zfsprops(7); arc.c).",
)
def l2arc_direct_always(facts: Facts) -> Iterator[Hit]:
    """Look for direct=always on a pool with an L2ARC."""
    cached = {pool.name for pool in _cached(facts)}
    for hit in property_hits(facts, TABLESPACES, Wrong("direct", ("always",), "standard")):
        if hit.of.partition("/")[0] in cached:
            yield hit


@rule(
    Severity.WARNING,
    "What isn't kept in the ARC never reaches the L2ARC, so the cache device caches no page of this dataset "
    "(zfsprops(7), secondarycache; Suresh 2009 has all in both).",
)
def l2arc_primarycache(facts: Facts) -> Iterator[Hit]:
    """Look for primarycache other than all on a pool with an L2ARC."""
    cached = {pool.name for pool in _cached(facts)}
    for hit in property_hits(facts, TABLESPACES, Wrong("primarycache", ("metadata", "none"), "all")):
        pool, dataset = facts.dataset(hit.of) or (None, None)
        if pool and dataset and pool.name in cached and dataset.properties.get("secondarycache") != "none":
            yield hit


@rule(
    Severity.WARNING,
    "The pool has a cache device, and this property keeps the pages of tables out of it (zfsprops(7)).",
)
def l2arc_secondarycache(facts: Facts) -> Iterator[Hit]:
    """Look for tables that may not go to the L2ARC that is there."""
    cached = {pool.name for pool in _cached(facts)}
    for hit in property_hits(facts, ("data",), Wrong("secondarycache", ("metadata", "none"), "all")):
        if hit.of.partition("/")[0] in cached:
            yield hit


@rule(
    Severity.WARNING,
    "With primarycache=none not even the metadata is cached: to read one record ZFS reads the blocks that point to it "
    "first, each time. `metadata` is what is meant where the buffer pool holds the data (zfsprops(7)).",
)
def primarycache_none(facts: Facts) -> Iterator[Hit]:
    """Look for primarycache=none where there is no L2ARC, of which another rule speaks."""
    cached = {pool.name for pool in _cached(facts)}
    for hit in property_hits(facts, DURABLE, Wrong("primarycache", ("none",), "metadata")):
        if hit.of.partition("/")[0] not in cached:
            yield hit


@dataclass(frozen=True, slots=True)
class _Tunable:
    """A parameter of the L2ARC whose value keeps it from what it is there for; `good` is its default."""

    id: str
    severity: Severity
    name: str
    bad: frozenset[int]
    good: int
    why: str

    def look(self, facts: Facts) -> Iterator[Hit]:
        """Compare the parameter on a machine whose pool has an L2ARC."""
        value = facts.parameters.get(self.name)
        if value in self.bad and any(_cached(facts)):
            mend, then = tunables.set_parameter(facts.system, self.name, self.good)
            evidence = Evidence(f"{self.name}={value}", tunables.where(facts.system, self.name))
            yield Hit(self.name, evidence, mend, then)


_TUNABLES = (
    _Tunable(
        "l2arc-rebuild-off",
        Severity.WARNING,
        "l2arc_rebuild_enabled",
        frozenset((0,)),
        1,
        "After each reboot the L2ARC begins empty, although its device still has all that it held (zfs(4)).",
    ),
    _Tunable(
        "l2arc-mfu-only",
        Severity.NOTE,
        "l2arc_mfuonly",
        frozenset((1, 2)),
        0,
        "Only what was read twice while it was in the ARC goes to the L2ARC. It spares the device, and fills it slowly "
        "where the ARC is too small for second reads (zfs(4)).",
    ),
    _Tunable(
        "l2arc-prefetch",
        Severity.NOTE,
        "l2arc_noprefetch",
        frozenset((0,)),
        1,
        "What ZFS prefetched goes to the L2ARC too: a dump or a full scan then pushes out what is read at random "
        "(zfs(4)).",
    ),
)
_tunable_rules = tuple(Rule(one.id, one.severity, one.why, (Need.PARAMETERS,), one.look) for one in _TUNABLES)


@rule(
    Severity.WARNING,
    "The L2ARC is written at most so fast, with l2arc_write_boost on top until the ARC is warm: a device that takes "
    "longer than a week to fill caches what was wanted last week (zfs(4)).",
    Need.PARAMETERS,
)
def l2arc_write_max(facts: Facts) -> Iterator[Hit]:
    """Look for an L2ARC that fills too slowly; where the SSD's wear asks for slowness, that goes first."""
    limit = facts.parameters.get("l2arc_write_max")
    size_bytes = sum(leaf.size_bytes or 0 for _, leaf in _cache_leaves(facts))
    if limit is None or not size_bytes:
        return
    days = size_bytes / max(limit, 1) / _DAY_S
    if days > max(_LONGEST_FILL_DAYS, 2 / facts.dwpd):
        mend, then = tunables.set_parameter(facts.system, "l2arc_write_max", _DEFAULT_WRITE_MAX_BYTES)
        evidence = Evidence(
            f"l2arc_write_max={limit}: {days:.0f} days to fill {format_size(size_bytes)}",
            f"{tunables.where(facts.system, 'l2arc_write_max')}, zpool list -v",
        )
        yield Hit("l2arc_write_max", evidence, mend, then)


@rule(
    Severity.WARNING,
    f"Each record in the L2ARC takes {L2ARC_HEADER_BYTES} bytes of the ARC: a big L2ARC of small records leaves the "
    "ARC too little room for what is read most (arc.c, HDR_L2ONLY_SIZE).",
    Need.ARC,
)
def l2arc_headers(facts: Facts) -> Iterator[Hit]:
    """Compare what the headers of a full L2ARC take with what the ARC may hold."""
    arc_bytes = facts.arcstats["c_max"]
    cache_bytes = sum(leaf.size_bytes or 0 for _, leaf in _cache_leaves(facts))
    records = [
        int(one.properties["recordsize"]) for _, one in facts.databases(("data",)) if "recordsize" in one.properties
    ]
    if not cache_bytes or not records:
        return
    header_bytes = cache_bytes // min(records) * L2ARC_HEADER_BYTES
    if header_bytes > HEADERS_REFUSE * arc_bytes:
        value = f"up to {format_size(header_bytes)} of an ARC of {format_size(arc_bytes)}"
        evidence = Evidence(value, "zpool list -v, zfs get recordsize, c_max in arcstats")
        yield Hit(
            facts.layout, evidence, then="raise zfs_arc_max, make records larger, or give the pool a smaller cache"
        )


@rule(
    Severity.WARNING,
    "An SSD is rated for some whole writes of itself a day (DWPD) over its warranty: written faster, it wears out "
    "before. What is read once and never again wears a cache out for nothing.",
)
def ssd_wear(facts: Facts) -> Iterator[Hit]:
    """Compare what is written to each SSD a day with its rating."""
    for pool in facts.pools:
        for top in pool.tops:
            for leaf in top.leaves:
                if facts.media(leaf) in {MediaClass.SSD, MediaClass.NVME}:
                    yield from _wear(facts, pool, top.role, leaf)


def _wear(facts: Facts, pool: PoolFacts, role: VdevRole, leaf: Leaf) -> Iterator[Hit]:
    # The rate is the mean since the import. Where that isn't known, it isn't longer ago than the machine's start.
    span_s = facts.up_s if pool.imported_s is None else pool.imported_s
    if not leaf.size_bytes or not leaf.written_bytes_per_s or (pool.imported_s is None and span_s < _DAY_S):
        return
    rate = leaf.written_bytes_per_s
    if role is VdevRole.CACHE:
        # What was written in the past may be over: from now on no more than this gets through.
        rate = min(rate, facts.parameters.get("l2arc_write_max", rate))
    allowed_bytes = facts.dwpd * leaf.size_bytes
    # Tables are loaded and caches fill in the first hours: on the first day only what the whole day may write counts.
    if rate * span_s <= allowed_bytes * max(span_s / _DAY_S, 1):
        return
    evidence = Evidence(
        f"{format_size(rate * span_s)} written to {format_size(leaf.size_bytes)} in {span_s / 3600:.1f} h: "
        f"{rate * _DAY_S / leaf.size_bytes:.1f} DWPD, rated for {facts.dwpd:g}",
        f"zpool iostat -v {pool.name}",
    )
    if role is VdevRole.CACHE and facts.parameters:
        slower = max(int(allowed_bytes / _DAY_S / len(_cache_leaves(facts))), 1)
        yield Hit(leaf.name, evidence, *tunables.set_parameter(facts.system, "l2arc_write_max", slower))
    else:
        then = "spread the writes over more or larger SSDs, or take ones with a higher rating (then say --dwpd)"
        yield Hit(leaf.name, evidence, then=then)


def _cache_leaves(facts: Facts) -> list[tuple[PoolFacts, Leaf]]:
    return [(pool, leaf) for pool in facts.pools for top in pool.with_role(VdevRole.CACHE) for leaf in top.leaves]


RULES = (
    l2arc_direct_io,
    l2arc_direct_always,
    l2arc_primarycache,
    l2arc_secondarycache,
    primarycache_none,
    *_tunable_rules,
    l2arc_write_max,
    l2arc_headers,
    ssd_wear,
)

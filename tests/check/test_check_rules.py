"""Each rule on a captured machine: nothing on the sound one, and one finding when one fact differs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from audited import facts, foreign, having, moved, with_leaf, with_pool, with_top, with_variables
from captures import inventory

from zmysql.check.audit import RULES, audit
from zmysql.check.facts import File
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from zmysql.check.facts import Facts
    from zmysql.check.model import Finding

SOUND = facts("debian13-zfs2.3-serving")
FAULTY = facts("debian13-zfs2.3-faulty")
DATA, REDO, BINLOG = "tank/mysql/data", "tank/mysql/redo", "tank/mysql/binlog"
GIB = 1 << 30
DAY_S = 86_400
RATE = {"written_bytes_per_s": 100 << 10}
LATER = timedelta(days=40)


def later(base: Facts) -> Facts:
    return replace(base, now=base.now + LATER, epoch_s=base.epoch_s + int(LATER.total_seconds()))


def parameter(**values: int) -> Facts:
    return replace(SOUND, parameters={**SOUND.parameters, **values})


def statistic(base: Facts, **values: int) -> Facts:
    return replace(base, arcstats={**base.arcstats, **values})


def status(**fields: str) -> Facts:
    return with_pool(SOUND, status={**SOUND.pools[0].status, **fields})


def without_role(role: VdevRole) -> Facts:
    return with_pool(SOUND, tops=tuple(top for top in SOUND.pools[0].tops if top.role is not role))


def bare(base: Facts, role: VdevRole, leaves: int = 1) -> Facts:
    """Give facts in which the vdevs of a role are single disks."""
    top = next(top for top in base.pools[0].tops if top.role is role)
    others = tuple(one for one in base.pools[0].tops if one is not top)
    return with_pool(base, tops=(*others, replace(top, kind="disk", leaves=top.leaves[:leaves])))


def without_dataset(name: str) -> Facts:
    pool = SOUND.pools[0].pool
    return with_pool(SOUND, pool=replace(pool, datasets=tuple(one for one in pool.datasets if one.name != name)))


def as_role(old: VdevRole, new: VdevRole) -> Facts:
    return with_top(SOUND, old, role=new)


def on_disk(base: Facts, node: str) -> Facts:
    """Give facts in which the cache lies on a part of another disk."""
    return with_leaf(base, "sdg1", node=node)


def big_sectors(base: Facts) -> Facts:
    devices = tuple(
        replace(one, physical_sector_bytes=8192) if one.name == "sda" else one for one in base.inventory.devices
    )
    return replace(base, inventory=replace(base.inventory, devices=devices))


def on_ssd(base: Facts) -> Facts:
    devices = tuple(
        replace(one, media=inventory("debian13-zfs2.3-serving").named("sde").media)  # type: ignore[union-attr]
        for one in base.inventory.devices
    )
    return replace(base, inventory=replace(base.inventory, devices=devices))


# rule: facts, of what, a part of the evidence, the first mending command's last words
CASES: dict[str, tuple[Facts, str, str, tuple[str, ...]]] = {
    # health
    "disk-not-online": (
        with_leaf(SOUND, "sdb1", state="FAULTED"),
        SOUND.pools[0].tops[0].leaves[1].name,
        "FAULTED",
        (),
    ),
    "disk-errors": (
        with_leaf(SOUND, "sdd1", errors=(1, 0, 820)),
        SOUND.pools[0].tops[1].leaves[1].name,
        "1 read, 0 write, 820 checksum errors",
        ("clear", "tank", SOUND.pools[0].tops[1].leaves[1].name),
    ),
    "data-errors": (
        status(errors="3 data errors, use '-v' for a list"),
        "tank",
        "3 data errors, use '-v' for a list",
        (),
    ),
    "pool-full": (having(SOUND, "zpool", capacity="81", free=str(GIB)), "tank", "capacity 81 %, 1G free", ()),
    "pool-fragmented": (having(SOUND, "zpool", fragmentation="51"), "tank", "fragmentation 51 %", ()),
    "scrub-old": (later(SOUND), "tank", "never since the pool was made, on 2026-11-20, 40 days ago", ("scrub", "tank")),
    "ssd-untrimmed": (
        having(later(SOUND), "zpool", autotrim="off"),
        "tank",
        "autotrim=off; /dev/disk/by-id/scsi-",
        ("autotrim=on", "tank"),
    ),
    "checkpoint-left": (
        having(SOUND, "zpool", checkpoint="1048576"),
        "tank",
        "a checkpoint that holds 1M",
        ("-d", "-w", "tank"),
    ),
    "features-disabled": (
        status(status="Some supported and requested features are not enabled on the pool.\n\tThe pool can still"),
        "tank",
        "features are not enabled",
        (),
    ),
    "expandable": (
        having(SOUND, "zpool", expandsize=str(GIB)),
        "tank",
        "1G unused",
        tuple(leaf.name for top in SOUND.pools[0].tops[:2] for leaf in top.leaves),
    ),
    # vdevs
    "data-unmirrored": (
        bare(SOUND, VdevRole.DATA),
        SOUND.pools[0].tops[0].leaves[0].name,
        "data vdev: disk ",
        ("-w", "tank", SOUND.pools[0].tops[0].leaves[0].name),
    ),
    "special-unmirrored": (as_role(VdevRole.CACHE, VdevRole.SPECIAL), "tank", "special vdev: disk ", ()),
    "special-weaker-than-data": (
        with_top(with_top(SOUND, VdevRole.LOG, role=VdevRole.SPECIAL), VdevRole.DATA, kind="raidz2"),
        "tank",
        "bears 1 failures; the data vdevs bear 2",
        (),
    ),
    "ashift-below-sector": (
        big_sectors(SOUND),
        SOUND.pools[0].tops[0].leaves[0].name,
        "ashift 12: writes of 4096 bytes on sectors of 8192",
        (),
    ),
    "ashift-mixed": (
        with_pool(SOUND, tops=(replace(SOUND.pools[0].tops[0], ashift=9), *SOUND.pools[0].tops[1:])),
        "tank",
        "ashift: ",
        (),
    ),
    "kernel-names": (with_leaf(SOUND, "sdb1", name="/dev/sdb1"), "tank", "/dev/sdb1", ("export", "tank")),
    "shared-disk": (on_disk(SOUND, "/dev/sdf1"), "sdf", "sdf carries 2 parts of tank", ()),
    "removed-vdev": (with_pool(SOUND, removed_vdevs=2), "tank", "2 indirect vdevs", ()),
    # log
    "log-unmirrored": (bare(SOUND, VdevRole.LOG), "tank", "log vdev: disk ", ()),
    "logbias-bypasses-log": (
        having(SOUND, BINLOG, logbias="throughput"),
        BINLOG,
        "logbias=throughput",
        ("logbias", BINLOG),
    ),
    "unsafe-sync": (
        parameter(zil_replay_disable=1),
        "zil_replay_disable",
        "zil_replay_disable=1",
        ("-c", "echo 0 > /sys/module/zfs/parameters/zil_replay_disable"),
    ),
    "hdd-as-helper": (on_disk(SOUND, "/dev/sda1"), "tank", "cache vdev: disk ", ()),
    # pages
    "recordsize-below-page": (
        having(SOUND, DATA, recordsize="8192"),
        DATA,
        "recordsize=8192, pages of 16K",
        ("recordsize=16K", DATA),
    ),
    "doublewrite-off": (having(SOUND, DATA, sync="disabled"), "innodb_doublewrite", "has sync=disabled", ()),
    "doublewrite-needless": (
        with_variables(SOUND, innodb_doublewrite="ON"),
        "innodb_doublewrite",
        "innodb_doublewrite=ON",
        (),
    ),
    "old-records": (
        replace(SOUND, files=(*SOUND.files, File("/tank/mysql/data/shop/orders.ibd", 4 << 20, 128 << 10))),
        DATA,
        "records of 128K in orders.ibd; recordsize=16K",
        ("-e", "ALTER TABLE `shop`.`orders` ENGINE=InnoDB"),
    ),
    "tables-in-system-tablespace": (
        with_variables(SOUND, innodb_file_per_table="OFF"),
        "innodb_file_per_table",
        "innodb_file_per_table=OFF",
        ("-e", "SET PERSIST innodb_file_per_table = ON"),
    ),
    # cache
    "l2arc-direct-io": (
        with_variables(having(SOUND, DATA, direct="standard"), innodb_flush_method="O_DIRECT"),
        DATA,
        "innodb_flush_method=O_DIRECT, direct=standard",
        ("direct=disabled", DATA),
    ),
    "l2arc-direct-always": (having(SOUND, DATA, direct="always"), DATA, "direct=always", ("direct=disabled", DATA)),
    "l2arc-primarycache": (having(SOUND, DATA, primarycache="none"), DATA, "primarycache=none", ("primarycache", DATA)),
    "l2arc-secondarycache": (
        having(SOUND, DATA, secondarycache="none"),
        DATA,
        "secondarycache=none",
        ("secondarycache", DATA),
    ),
    "primarycache-none": (
        having(without_role(VdevRole.CACHE), REDO, primarycache="none"),
        REDO,
        "primarycache=none",
        ("primarycache", REDO),
    ),
    "l2arc-rebuild-off": (
        parameter(l2arc_rebuild_enabled=0),
        "l2arc_rebuild_enabled",
        "l2arc_rebuild_enabled=0",
        ("-c", "echo 1 > /sys/module/zfs/parameters/l2arc_rebuild_enabled"),
    ),
    "l2arc-mfu-only": (
        parameter(l2arc_mfuonly=1),
        "l2arc_mfuonly",
        "l2arc_mfuonly=1",
        ("-c", "echo 0 > /sys/module/zfs/parameters/l2arc_mfuonly"),
    ),
    "l2arc-prefetch": (
        parameter(l2arc_noprefetch=0),
        "l2arc_noprefetch",
        "l2arc_noprefetch=0",
        ("-c", "echo 1 > /sys/module/zfs/parameters/l2arc_noprefetch"),
    ),
    "l2arc-write-max": (
        parameter(l2arc_write_max=1024),
        "l2arc_write_max",
        "l2arc_write_max=1024: 24 days to fill 2.0G",
        ("-c", "echo 33554432 > /sys/module/zfs/parameters/l2arc_write_max"),
    ),
    "l2arc-headers": (with_leaf(SOUND, "sdg1", size_bytes=100 * GIB), "tank", "up to 600M of an ARC of ", ()),
    "ssd-wear": (
        with_leaf(with_leaf(with_pool(SOUND, imported_s=30 * DAY_S), "1", written_bytes_per_s=100), "sdg1", **RATE),
        SOUND.pools[0].tops[-1].leaves[0].name,
        "in 720.0 h: 4.1 DWPD, rated for 1",
        ("-c", "echo 24733 > /sys/module/zfs/parameters/l2arc_write_max"),
    ),
    # memory
    "arc-max-ignored": (
        parameter(zfs_arc_max=32 << 20),
        "zfs_arc_max",
        "zfs_arc_max=32M, c_max=",
        ("-c", "echo 638582784 > /sys/module/zfs/parameters/zfs_arc_max"),
    ),
    "memory-overcommitted": (
        statistic(with_variables(SOUND, innodb_buffer_pool_size=str(1536 << 20)), c_max=GIB),
        "zfs_arc_max",
        "ARC up to 1G + innodb_buffer_pool_size 1.5G > 1.9G of memory",
        ("-c", "echo 67108864 > /sys/module/zfs/parameters/zfs_arc_max"),
    ),
    "cached-twice": (
        statistic(without_role(VdevRole.CACHE), c_max=256 << 20),
        DATA,
        "innodb_buffer_pool_size 640M, ARC up to 256M, primarycache=all",
        (),
    ),
    "swap-on-zvol": (
        replace(SOUND, swap=("tank/swap",)),
        "tank/swap",
        "swap on /dev/zvol/tank/swap",
        ("swapoff", "/dev/zvol/tank/swap"),
    ),
    # datasets
    "sync-disabled": (having(SOUND, BINLOG, sync="disabled"), BINLOG, "sync=disabled", ("sync", BINLOG)),
    "checksum-off": (having(SOUND, BINLOG, checksum="off"), BINLOG, "checksum=off", ("checksum=on", BINLOG)),
    "sync-always": (having(SOUND, DATA, sync="always"), DATA, "sync=always", ("sync", DATA)),
    "atime-on": (having(SOUND, DATA, atime="on"), DATA, "atime=on", ("atime", DATA)),
    "compression-off": (having(SOUND, DATA, compression="off"), DATA, "compression=off", ("compression", DATA)),
    "dedup-on": (having(SOUND, DATA, dedup="verify"), DATA, "dedup=verify", ("dedup=off", DATA)),
    "copies-kept": (having(SOUND, DATA, copies="2"), DATA, "copies=2", ("copies=1", DATA)),
    "xattr-in-directories": (having(SOUND, DATA, xattr="dir"), DATA, "xattr=dir", ("xattr", DATA)),
    # server
    "datadir-elsewhere": (moved(SOUND, "data", REDO), "datadir", "/tank/mysql/data is on tank/mysql/redo", ()),
    "system-tablespace-elsewhere": (
        moved(SOUND, "system", REDO),
        "innodb_data_file_path",
        "/tank/mysql/data/ibdata1 is on tank/mysql/redo",
        (),
    ),
    "directory-elsewhere": (
        moved(SOUND, "redo", DATA),
        "innodb_log_group_home_dir",
        "/tank/mysql/redo is on tank/mysql/data",
        (),
    ),
    "redo-with-data": (
        moved(moved(foreign(SOUND), "redo", "tank/db/data"), "data", "tank/db/data"),
        "innodb_log_group_home_dir",
        "/tank/mysql/redo is on tank/db/data",
        ("secondarycache=none", "tank/redo"),
    ),
    "server-elsewhere": (foreign(SOUND), "datadir", "/tank/mysql/data is on tank/mysql/data", ()),
    "native-aio": (
        with_variables(SOUND, innodb_use_native_aio="ON"),
        "innodb_use_native_aio",
        "innodb_use_native_aio=ON",
        ("-e", "SET PERSIST_ONLY innodb_use_native_aio = OFF"),
    ),
    "commits-not-synced": (
        with_variables(SOUND, sync_binlog="0"),
        "sync_binlog",
        "sync_binlog=0",
        ("-e", "SET PERSIST sync_binlog = 1"),
    ),
    "flush-neighbors": (
        with_variables(on_ssd(SOUND), innodb_flush_neighbors="1"),
        "innodb_flush_neighbors",
        "innodb_flush_neighbors=1",
        ("-e", "SET PERSIST innodb_flush_neighbors = 0"),
    ),
    # drift
    "property-drift": (
        having(SOUND, "tank", redundant_metadata="all"),
        "tank",
        "redundant_metadata=all, the template's is most",
        ("redundant_metadata=most", "tank"),
    ),
    "dataset-missing": (
        without_dataset("tank/mysql/tmp"),
        "tank/mysql/tmp",
        "no dataset tank/mysql/tmp",
        ("secondarycache=none", "-o", "logbias=throughput", "tank/mysql/tmp"),
    ),
    "vdev-drift": (
        with_pool(SOUND, pool=replace(SOUND.pools[0].pool, vdevs=SOUND.pools[0].pool.vdevs[:-1])),
        "tank",
        "cache vdevs: 0; the template's: 1 or more",
        (),
    ),
    "unfinished": (
        having(SOUND, "tank", **{"zmysql:state": "creating"}),
        "tank",
        "zmysql:state=creating",
        ("zmysql", "create-pool", "tank", "-t", "hybrid", "-y"),
    ),
}


def of_rule(base: Facts, rule: str) -> list[Finding]:
    return [finding for finding in audit(base).findings if finding.id == rule]


def test_a_sound_machine_has_no_findings() -> None:
    report = audit(SOUND)
    assert report.findings == ()
    assert report.not_checked == ()
    assert report.is_clean


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_finds_what_it_is_for(rule: str) -> None:
    base, of, value, mend = CASES[rule]
    found = of_rule(base, rule)
    assert [finding.of for finding in found] == [of]
    assert value in found[0].evidence.value
    assert found[0].mend or found[0].then or rule == "removed-vdev"
    assert (found[0].mend[0] if found[0].mend else ())[-len(mend) or 99 :] == mend
    assert of_rule(SOUND, rule) == []


def test_every_rule_has_a_case() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert set(ids) == set(CASES)


def test_every_rule_says_why_in_a_few_sentences() -> None:
    assert [rule.id for rule in RULES if not (rule.why.endswith(".") and 60 < len(rule.why) < 300)] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("arc-max-ignored", "zfs_arc_max=32M, c_max="),
        ("disk-errors", "0 read, 0 write, "),
        ("scrub-old", "last scrub on "),
    ],
)
def test_a_machine_full_of_faults_shows_them(name: str, value: str) -> None:
    assert of_rule(FAULTY, name)[0].evidence.value.startswith(value)


# What isn't a fault


@pytest.mark.parametrize(
    ("base", "rule"),
    [
        # OpenZFS before 2.3 takes O_DIRECT and caches all the same; with direct=disabled 2.3 does so too.
        (with_variables(having(SOUND, DATA, direct="disabled"), innodb_flush_method="O_DIRECT"), "l2arc-direct-io"),
        (with_variables(without_role(VdevRole.CACHE), innodb_flush_method="O_DIRECT"), "l2arc-direct-io"),
        (having(SOUND, "tank/mysql/tmp", logbias="throughput", sync="disabled"), "logbias-bypasses-log"),
        (having(SOUND, "tank/mysql/tmp", logbias="throughput", sync="disabled"), "sync-disabled"),
        (having(without_role(VdevRole.LOG), BINLOG, logbias="throughput"), "logbias-bypasses-log"),
        (replace(SOUND, swap=("rpool/swap",), zfs=replace(SOUND.zfs, system="illumos")), "swap-on-zvol"),
        # The first day: caches fill, tables are loaded.
        (with_leaf(with_pool(SOUND, imported_s=60), "sde1", written_bytes_per_s=1 << 20), "ssd-wear"),
        (
            replace(with_leaf(with_pool(SOUND, imported_s=None), "sde1", written_bytes_per_s=1 << 30), up_s=600),
            "ssd-wear",
        ),
        (replace(with_leaf(SOUND, "sde1", written_bytes_per_s=1 << 30), dwpd=1e6), "ssd-wear"),
        (status(scan="scrub in progress since Sun Jan  3 00:24:01 2021"), "scrub-old"),
        (with_leaf(SOUND, "sdb1", state="INUSE"), "disk-not-online"),
        (with_variables(SOUND, innodb_flush_neighbors="1"), "flush-neighbors"),
        (with_variables(having(SOUND, DATA, recordsize="8192"), innodb_page_size="8192"), "recordsize-below-page"),
        (parameter(l2arc_write_max=1024), "ssd-wear"),
        (replace(SOUND, files=(File("/elsewhere/a.ibd", 4 << 20, 128 << 10),)), "old-records"),
        (replace(SOUND, files=(File("/tank/mysql/data/a.ibd", 8192, 8192),)), "old-records"),
    ],
)
def test_what_is_no_fault_is_no_finding(base: Facts, rule: str) -> None:
    assert of_rule(base, rule) == []


def test_the_l2arc_starves_from_2_4_on_also_with_direct_disabled() -> None:
    base = replace(with_variables(SOUND, innodb_flush_method="O_DIRECT"), zfs=replace(SOUND.zfs, version=(2, 4, 0)))
    (found,) = of_rule(base, "l2arc-direct-io")
    assert found.mend[0][-1] == "SET PERSIST_ONLY innodb_flush_method = fsync"
    assert found.then == "restart mysqld"


def test_mariadb_is_told_by_its_own_variable() -> None:
    mariadb = with_variables(
        having(SOUND, DATA, direct="standard"), version="11.8.6-MariaDB", innodb_data_file_buffering="OFF"
    )
    (found,) = of_rule(mariadb, "l2arc-direct-io")
    assert found.evidence.value == "innodb_data_file_buffering=OFF, direct=standard"
    (aio,) = of_rule(with_variables(mariadb, innodb_use_native_aio="ON"), "native-aio")
    assert (aio.mend, aio.then) == (
        (),
        "set innodb_use_native_aio = OFF under [mysqld] in the server's option file, and restart mysqld",
    )


def test_a_lone_disk_gets_a_free_one_of_its_kind_as_partner() -> None:
    base = bare(SOUND, VdevRole.LOG)
    devices = tuple(replace(one, used_by=()) if one.name == "sdf" else one for one in base.inventory.devices)
    (found,) = of_rule(replace(base, inventory=replace(base.inventory, devices=devices)), "log-unmirrored")
    leaf, partner = (
        base.pools[0].with_role(VdevRole.LOG)[0].leaves[0],
        inventory("debian13-zfs2.3-serving").named("sdf"),
    )
    assert partner is not None
    assert found.mend == (("zpool", "attach", "tank", leaf.name, partner.stable_path),)


def test_with_a_checkpoint_vdevs_stay_as_they_are() -> None:
    base = having(bare(SOUND, VdevRole.DATA), "zpool", checkpoint="4096")
    (found,) = of_rule(base, "data-unmirrored")
    assert found.mend == ()
    assert "zpool checkpoint -d tank" in (found.then or "")


def test_a_doublewrite_buffer_is_needed_for_each_of_the_reasons() -> None:
    outside = moved(SOUND, "undo", "/dev/sda1")
    small = replace(SOUND, files=(File("/tank/mysql/data/a.ibd", 4 << 20, 8192),))
    for base, reason in ((outside, "/tank/mysql/data isn't on tank"), (small, "records smaller than a page in ")):
        assert reason in of_rule(base, "doublewrite-off")[0].evidence.value
        assert of_rule(with_variables(base, innodb_doublewrite="ON"), "doublewrite-needless") == []

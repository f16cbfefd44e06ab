"""`zmysql check` on real pools with a real mysqld: nothing on a fresh one, each seeded fault, and nothing once mended.

Many independent faults are seeded at once, looked at once, mended with the commands as printed, and looked at again.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from blank import blank
from running import zmysql

from zmysql.check.audit import audit
from zmysql.check.model import Severity
from zmysql.check.read import Question, read_facts
from zmysql.mysql.client import parse_dsn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.check.facts import Facts
    from zmysql.check.model import Finding, Report
    from zmysql.testbed.vm import Guest

SOCKET = "/tmp/zmcheck.sock"
DSN = parse_dsn(f"mysql://root@localhost/?socket={SOCKET}")
PARAMETERS = "/sys/module/zfs/parameters"
LATER_S = 40 * 86_400
# The redo log, the relay log and temporary files aren't where the layout has datasets for them.
MYCNF = f"""[mysqld]
user=mysql
datadir=/tank/mysql/data
log_bin=/tank/mysql/binlog/binlog
socket={SOCKET}
pid-file=/tmp/zmcheck.pid
log-error=/tmp/zmcheck.log
secure_file_priv=
mysqlx=0
skip-networking
performance_schema=OFF
innodb_redo_log_capacity=16M
innodb_buffer_pool_size=1536M
innodb_buffer_pool_load_at_startup=0
innodb_flush_method=O_DIRECT
innodb_use_native_aio=1
innodb_doublewrite=OFF
innodb_flush_log_at_trx_commit=2
"""
MYSQL = f"mysql -uroot -S {SOCKET}"
START = (
    "setsid mysqld --defaults-file=/tmp/zmcheck.cnf >/dev/null 2>&1 </dev/null & "
    "for try in $(seq 240); do mysqladmin -uroot -S /tmp/zmcheck.sock ping >/dev/null 2>&1 && exit 0; sleep 0.5; done; "
    "cat /tmp/zmcheck.log >&2; exit 1"
)
STOP = "kill $(cat /tmp/zmcheck.pid); while test -e /tmp/zmcheck.pid; do sleep 0.2; done"

# What hybrid is made of here; the others stay free.
DISKS = (
    *(word for name in ("sda", "sdb", "sdc", "sdd") for word in ("--data", name)),
    *("--log", "sdg", "--log", "sdh", "--cache", "sdi"),
)
# Before mysqld runs: the disks go by the kernel's names.
RENAME = "zpool export tank && zpool import -d /dev tank"
SEED = f"""
zfs set recordsize=8K tank/mysql/data
{MYSQL} -e 'CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY); SET GLOBAL innodb_file_per_table=OFF'
zfs set recordsize=16K tank/mysql/data
zfs set direct=standard primarycache=metadata secondarycache=metadata tank/mysql/data
zfs set sync=disabled compression=off tank/mysql/binlog
zfs set checksum=off copies=2 logbias=throughput tank/mysql/redo
zfs set dedup=on tank/mysql/relay
zfs set atime=on redundant_metadata=all tank
zpool set autotrim=off tank
zfs destroy tank/mysql/logs
zfs create -V 64M -b 16K tank/swap
udevadm settle
mkswap -q /dev/zvol/tank/swap && swapon /dev/zvol/tank/swap
for start in 4 260 516 772 1028; do  # the first five metaslabs, behind the labels
    dd if=/dev/urandom of=/dev/sdd1 bs=1M seek="$start" count=12 conv=fsync status=none
done
zpool scrub -w tank
zpool offline tank /dev/sdb1
zpool detach tank /dev/sdh1
# Whatever the ARC had before: three quarters of the memory, and then a size that ZFS doesn't take.
awk '$1 == "MemTotal:" {{ printf "%.0f", $2 * 768 }}' /proc/meminfo >{PARAMETERS}/zfs_arc_max
for set in zfs_arc_max=33554432 l2arc_write_max=1024 l2arc_rebuild_enabled=0 l2arc_noprefetch=0 zfs_nocacheflush=1; do
    echo "${{set#*=}}" >{PARAMETERS}/"${{set%%=*}}"
done
date -s "@$(($(date +%s) + {LATER_S}))"
"""
# Of each rule what it must have seen. Those that have no command that mends them are in BY_HAND.
SEEDED = {
    "arc-max-ignored": ("zfs_arc_max", "zfs_arc_max=32M"),
    "atime-on": ("tank", "atime=on"),
    "checksum-off": ("tank/mysql/redo", "checksum=off"),
    "commits-not-synced": ("innodb_flush_log_at_trx_commit", "innodb_flush_log_at_trx_commit=2"),
    "compression-off": ("tank/mysql/binlog", "compression=off"),
    "copies-kept": ("tank/mysql/redo", "copies=2"),
    "dataset-missing": ("tank/mysql/logs", "no dataset tank/mysql/logs"),
    "dedup-on": ("tank/mysql/relay", "dedup=on"),
    "disk-errors": ("/dev/sdd1", "checksum errors"),
    "disk-not-online": ("/dev/sdb1", "OFFLINE"),
    "doublewrite-off": (
        "innodb_doublewrite",
        "records smaller than a page in /tank/mysql/data/shop/orders.ibd",
    ),
    "kernel-names": ("tank", "/dev/sda1 /dev/sdb1 /dev/sdc1 /dev/sdd1 /dev/sdg1 /dev/sdi1"),
    "l2arc-direct-io": ("tank/mysql/data", "innodb_flush_method=O_DIRECT, direct=standard"),
    "l2arc-primarycache": ("tank/mysql/data", "primarycache=metadata"),
    "l2arc-rebuild-off": ("l2arc_rebuild_enabled", "l2arc_rebuild_enabled=0"),
    "l2arc-secondarycache": ("tank/mysql/data", "secondarycache=metadata"),
    "l2arc-write-max": ("l2arc_write_max", "l2arc_write_max=1024: 24 days to fill 2.0G"),
    "log-unmirrored": ("tank", "log vdev: disk /dev/sdg1"),
    "logbias-bypasses-log": ("tank/mysql/redo", "logbias=throughput"),
    "memory-overcommitted": ("zfs_arc_max", "innodb_buffer_pool_size 1.5G >"),
    "native-aio": ("innodb_use_native_aio", "innodb_use_native_aio=ON"),
    "old-records": ("tank/mysql/data", "records of 8K in orders.ibd; recordsize=16K"),
    "property-drift": ("tank", "redundant_metadata=all, the template's is most"),
    "scrub-old": ("tank", "last scrub on "),
    "ssd-untrimmed": ("tank", "autotrim=off; /dev/sdg1: untrimmed"),
    "swap-on-zvol": ("tank/swap", "swap on /dev/zvol/tank/swap"),
    "sync-disabled": ("tank/mysql/binlog", "sync=disabled"),
    "tables-in-system-tablespace": ("innodb_file_per_table", "innodb_file_per_table=OFF"),
    "unsafe-sync": ("zfs_nocacheflush", "zfs_nocacheflush=1"),
}
BY_HAND = {
    ("directory-elsewhere", "innodb_log_group_home_dir"),
    ("directory-elsewhere", "relay_log_basename"),
    ("directory-elsewhere", "tmpdir"),
}

# A pool of somebody else's on files, so that no disk is needed for it.
LOOSE = """
cd /var/tmp && truncate -s 128M loose1 loose2 loose3 loose4
zpool create -o ashift=9 -o feature@zilsaxattr=disabled loose mirror /var/tmp/loose1 /var/tmp/loose2
zfs set recordsize=8K sync=always loose
zpool add -f -o ashift=12 loose /var/tmp/loose3 special /var/tmp/loose4
zpool checkpoint loose
"""
LOOSE_SEEDED = {
    "ashift-mixed": ("loose", "ashift: /var/tmp/loose1 9, /var/tmp/loose3 12, /var/tmp/loose4 12"),
    "checkpoint-left": ("loose", "a checkpoint that holds "),
    "data-unmirrored": ("/var/tmp/loose3", "data vdev: disk /var/tmp/loose3"),
    "features-disabled": ("loose", "features are not enabled"),
    "recordsize-below-page": ("loose", "recordsize=8192, pages of 16K"),
    "special-unmirrored": ("loose", "special vdev: disk /var/tmp/loose4"),
    "sync-always": ("loose", "sync=always"),
}


def sh(guest: Guest, script: str) -> str:
    return guest.run(("sh", "-euc", script)).stdout


def facts(guest: Guest, pool: str = "tank") -> Facts:
    return read_facts(guest, Question(pool, DSN if pool == "tank" else None))


def mend(guest: Guest, finding: Finding) -> None:
    """Run the commands as they are printed; a scan that one of them began ends first."""
    for argv in finding.mend:
        sh(guest, f"zpool wait -t resilver,scrub tank 2>&1 || :; {shlex.join(argv)}")


def told(report: Report) -> dict[tuple[str, str], Finding]:
    return {(finding.id, finding.of): finding for finding in report.findings}


@pytest.fixture(scope="module")
def fresh(guest: Guest) -> Iterator[Guest]:
    """Give the guest with a pool as the template hybrid makes it, and leave all as it was."""
    blank(guest)
    names = ("zfs_arc_max", "l2arc_write_max", "l2arc_rebuild_enabled", "l2arc_noprefetch", "zfs_nocacheflush")
    before = {name: guest.read_text(f"{PARAMETERS}/{name}").strip() for name in names}
    c_max = sh(guest, "awk '$1 == \"c_max\" {print $3}' /proc/spl/kstat/zfs/arcstats").strip()
    done = zmysql("create-pool", "tank", "-t", "hybrid", *DISKS, "-y", "--host", f"testbed:{guest.testbed.name}")
    assert done.exit_status == 0, done
    began_s = int(sh(guest, "date +%s"))
    yield guest
    with suppress(Exception):
        sh(guest, STOP)
    # zfs_arc_max=0 leaves the ARC as large as it was.
    restored = [("zfs_arc_max", c_max), *before.items()]
    sh(guest, "; ".join(f"echo {value} > {PARAMETERS}/{name}" for name, value in restored))
    sh(guest, f"test $(date +%s) -lt {began_s + LATER_S} || date -s @$(($(date +%s) - {LATER_S}))")
    sh(guest, "rm -f /etc/modprobe.d/zfs.conf")
    blank(guest)
    sh(guest, "rm -f /var/tmp/loose? /tmp/zmcheck.*")


@pytest.fixture(scope="module")
def first(fresh: Guest) -> Report:
    """Give the report on the fresh pool."""
    return audit(read_facts(fresh, Question("tank")))


@pytest.fixture(scope="module")
def faulty(fresh: Guest, first: Report) -> Facts:  # noqa: ARG001 - the fresh pool is looked at first
    """Give the facts of the pool with all faults seeded, and a server on it."""
    sh(fresh, RENAME)
    fresh.run(("tee", "/tmp/zmcheck.cnf"), stdin=MYCNF)
    sh(fresh, "mysqld --defaults-file=/tmp/zmcheck.cnf --initialize-insecure")
    sh(fresh, START)
    sh(fresh, SEED)
    return facts(fresh)


@pytest.fixture(scope="module")
def found(faulty: Facts) -> Report:
    """Give the report on them."""
    return audit(faulty)


@pytest.fixture(scope="module")
def mended(fresh: Guest, found: Report) -> Report:
    """Give the report after all mending commands ran, what concerns the server with the server up."""
    for finding in found.findings:
        if finding.id != "kernel-names":
            mend(fresh, finding)
    sh(fresh, STOP)
    mend(fresh, told(found)["kernel-names", "tank"])
    sh(fresh, "zpool wait -t resilver,scrub tank")
    sh(fresh, START)
    return audit(facts(fresh))


@pytest.fixture(scope="module")
def loose(fresh: Guest) -> Report:
    """Give the report on a pool that zmysql didn't make."""
    sh(fresh, LOOSE)
    return audit(facts(fresh, "loose"))


def test_a_fresh_pool_has_no_findings(first: Report) -> None:
    assert first.findings == ()
    assert {one.why for one in first.not_checked} == {"no --mysql"}


@pytest.mark.parametrize("rule", SEEDED)
def test_a_seeded_fault_is_found_with_its_evidence(found: Report, rule: str) -> None:
    of, value = SEEDED[rule]
    finding = told(found)[rule, of]
    assert value in finding.evidence.value
    assert finding.mend or finding.then


def test_nothing_else_is_found(found: Report) -> None:
    seeded = {(rule, of) for rule, (of, _) in SEEDED.items()}
    assert set(told(found)) - seeded - BY_HAND == {("l2arc-prefetch", "l2arc_noprefetch")}
    assert found.not_checked == ()


def test_the_worst_comes_first(found: Report) -> None:
    order = [list(Severity).index(finding.severity) for finding in found.findings]
    assert order == sorted(order)
    assert {found.findings[0].id, found.findings[-1].id} & {"disk-not-online", "l2arc-prefetch"}


def test_the_mending_commands_mend(mended: Report) -> None:
    left = {key: finding.evidence.value for key, finding in told(mended).items()}
    # The doublewrite buffer can stay off, now that the table with small records is rebuilt.
    assert set(left) == BY_HAND, left


def test_writes_beyond_the_rating_of_an_ssd_are_found(faulty: Facts) -> None:
    report = audit(replace(faulty, dwpd=0.001))
    worn = [finding for finding in report.findings if finding.id == "ssd-wear"]
    assert "/dev/sdg1" in {finding.of for finding in worn}
    assert all("DWPD, rated for 0.001" in finding.evidence.value for finding in worn)


@pytest.mark.parametrize("rule", LOOSE_SEEDED)
def test_a_pool_of_somebody_else_is_audited_by_the_rules(loose: Report, rule: str) -> None:
    of, value = LOOSE_SEEDED[rule]
    assert value in told(loose)[rule, of].evidence.value


def test_of_a_pool_of_somebody_else_it_is_said_what_was_not_checked(loose: Report) -> None:
    reasons = {one.why: one.ids for one in loose.not_checked}
    assert set(reasons) == {"no --mysql", "zmysql didn't make the pool loose"}
    assert "property-drift" in reasons["zmysql didn't make the pool loose"]
    assert "l2arc-direct-io" in reasons["no --mysql"]

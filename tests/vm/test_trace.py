"""`zmysql trace record` on a real pool: exact counts for each class, a real mysqld, and all the ways to end."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from zmysql.trace.format import CLASSES, Header, read_header

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zmysql.host import Completed, Host, Process

pytestmark = pytest.mark.usefixtures("installed")
POOL = "zmtrace"
RECORD_BYTES = 16384
PARAMETERS = "/sys/module/zfs/parameters"
# No prefetch, so that all reads are demand reads; an ARC so small that it can be emptied by writing something else; a
# dbuf cache (a share of the ARC) that holds all that is read.
TUNED = {
    "zfs_prefetch_disable": 1,
    "zfs_arc_min": 32 << 20,
    "zfs_arc_max": 64 << 20,
    "dbuf_cache_shift": 1,
    "l2arc_noprefetch": 0,
    "l2arc_write_max": 64 << 20,
}
FLOOD_MEBIBYTES = 128
MISSES, L2HITS, ARC_HITS, DBUF_HITS, WAITS, HOLES = 211, 199, 223, 47, 31, 13  # primes
# Reads what dd would read, record by record, and some with two threads at the same time, so that one waits.
READER = f"""
import os, sys, threading
cold, l2, warm, hot, both, hole = (os.open(f"/{POOL}/{{name}}", os.O_RDONLY) for name in sys.argv[1:])
def read(fd, count):
    for at in range(count):
        assert len(os.pread(fd, {RECORD_BYTES}, at * {RECORD_BYTES})) == {RECORD_BYTES}
print(os.getpid(), flush=True)
open("/tmp/zmtrace.go").read()
read(cold, {MISSES})
read(l2, {L2HITS})
read(warm, {ARC_HITS})
read(hot, {DBUF_HITS})
read(hot, {DBUF_HITS})
read(hole, {HOLES})
barrier = threading.Barrier(2)
def together():
    for at in range({WAITS}):
        barrier.wait()
        os.pread(both, {RECORD_BYTES}, at * {RECORD_BYTES})
threads = [threading.Thread(target=together) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
MYCNF = f"""[mysqld]
user=mysql
datadir=/{POOL}/data/mysql
socket=/tmp/zmtrace.sock
pid-file=/{POOL}/data/mysqld.pid
log-error=/{POOL}/data/mysqld.log
secure_file_priv=
mysqlx=0
skip-networking
skip-log-bin
performance_schema=OFF
innodb_flush_method=fsync
innodb_use_native_aio=0
innodb_doublewrite=OFF
innodb_redo_log_capacity=16M
innodb_buffer_pool_size=5M
innodb_buffer_pool_chunk_size=1M
innodb_buffer_pool_load_at_startup=0
"""
SYSBENCH = (
    *("sysbench", "oltp_point_select", "--mysql-socket=/tmp/zmtrace.sock", "--mysql-user=root", "--mysql-db=sbtest"),
    *("--tables=1", "--table-size=30000", "--rand-type=uniform", "--threads=2"),
)


def sh(guest: Host, script: str) -> str:
    return guest.run(("sh", "-euc", script)).stdout


def arcstats(guest: Host) -> Counter[str]:
    lines = guest.read_text("/proc/spl/kstat/zfs/arcstats").splitlines()[2:]
    return Counter({name: int(value) for name, _, value in (line.split() for line in lines)})


def wait_for(what: str, seconds: float, found: Process, text: str) -> None:
    until = time.monotonic() + seconds
    while text not in found.stderr():
        assert found.poll() is None, found.stderr()
        assert time.monotonic() < until, f"{what}: {found.stderr()}"
        time.sleep(0.3)


@contextmanager
def recording(guest: Host, file: str, *options: str) -> Iterator[Process]:
    """Run `zmysql trace record`, and go on when it records."""
    with guest.start(("zmysql", "trace", "record", "--duration", "300s", "-o", file, *options)) as process:
        wait_for("the tracer doesn't start", 120, process, "recording:")
        yield process


def signal(guest: Host, name: str) -> None:
    sh(guest, f"kill -{name} $(pgrep -f '^[^ ]*python.* trace record --duration 300s')")


@dataclass(frozen=True)
class Trace:
    header: Header
    records: Counter[tuple[str, str]]  # by path and class

    def of_class(self, kind: str) -> int:
        return sum(count for (_, found), count in self.records.items() if found == kind)


def fetch(guest: Host, file: str, tmp_path: Path) -> Trace:
    guest.get(file, tmp_path / "a.trace")
    header = read_header(tmp_path / "a.trace")
    # A recording that was killed ends within its gzip member.
    lines = guest.run(("zcat", file), check=False).stdout.splitlines()
    rows = [line.split(" ") for line in lines if not line.startswith("#")]
    times = [int(row[0]) for row in rows]
    assert times == sorted(times)
    assert {row[3] for row in rows} <= {"0"}
    return Trace(header, Counter((header.objects.get((int(row[1]), int(row[2])), "?"), row[6]) for row in rows))


@pytest.fixture(scope="module")
def pool(guest: Host) -> Iterator[str]:
    """Give a pool of one HDD with an L2ARC, with prefetch off and a small ARC."""
    disks = [line.split() for line in sh(guest, "lsblk -dnbo NAME,SIZE,ROTA,TYPE").splitlines()]
    hdd = next(name for name, _, rotates, _ in disks if rotates == "1" and name.startswith("sd"))
    ssd = max((int(size), name) for name, size, rotates, _ in disks if rotates == "0" and name.startswith("sd"))[1]
    before = {name: sh(guest, f"modprobe zfs; cat {PARAMETERS}/{name}").strip() for name in TUNED}
    try:
        sh(
            guest,
            f"zpool create -f -O atime=off -O recordsize=16K {POOL} {hdd} cache {ssd}; "
            f"zfs create -o secondarycache=none {POOL}/cold; zfs create {POOL}/l2; zfs create {POOL}/data; "
            f"zfs create -o secondarycache=none -o recordsize=1M {POOL}/flood; "
            + "; ".join(f"echo {value} > {PARAMETERS}/{name}" for name, value in TUNED.items()),
        )
        yield POOL
    finally:
        guest.run(("zpool", "destroy", "-f", POOL), check=False)
        sh(guest, "; ".join(f"echo {value} > {PARAMETERS}/{name}" for name, value in before.items()))


@pytest.fixture(scope="module")
def mysql_pool(guest: Host, pool: str) -> Iterator[str]:
    """Give a pool on which a mysqld runs, with a table that is larger than its buffer pool."""
    home = f"/{pool}/data"
    guest.run(("tee", f"{home}/my.cnf"), stdin=MYCNF)
    sh(
        guest,
        f"id mysql >/dev/null 2>&1 || useradd -r mysql; chown mysql {home}; cd {home}; "
        "mysqld --defaults-file=my.cnf --initialize-insecure; "
        "setsid mysqld --defaults-file=my.cnf >/dev/null 2>&1 </dev/null & "
        "for try in $(seq 120); do mysqladmin -uroot -S /tmp/zmtrace.sock ping >/dev/null 2>&1 && break; sleep 0.5; "
        "done; mysqladmin -uroot -S /tmp/zmtrace.sock create sbtest",
    )
    try:
        guest.run((*SYSBENCH, "prepare"))
        yield pool
    finally:
        sh(guest, f"kill $(cat {home}/mysqld.pid) && while test -e {home}/mysqld.pid; do sleep 0.2; done")


def fill(guest: Host, file: str, records: int) -> None:
    sh(guest, f"dd if=/dev/urandom of=/{POOL}/{file} bs={RECORD_BYTES} count={records} status=none; zpool sync {POOL}")


def drop_dbufs(guest: Host) -> None:
    sh(guest, "".join(f"zfs unmount {POOL}/{name}; zfs mount {POOL}/{name};" for name in ("cold", "l2")))


def prepare_classes(guest: Host) -> None:
    """Leave files whose records are in no cache, in the L2ARC alone, and in the ARC; no dbuf holds any."""
    before = arcstats(guest)
    fill(guest, "cold/cold", MISSES)
    fill(guest, "cold/both", WAITS)
    fill(guest, "l2/l2", L2HITS)
    drop_dbufs(guest)  # what they hold isn't fed to the L2ARC
    until = time.monotonic() + 60  # the feed thread looks at one list of several a second, by chance
    while arcstats(guest)["l2_bufc_data_asize"] - before["l2_bufc_data_asize"] < L2HITS * RECORD_BYTES:
        assert time.monotonic() < until, "the L2ARC isn't fed"
        time.sleep(0.5)
    flood = f"/{POOL}/flood/f"
    sh(guest, f"dd if=/dev/urandom of={flood} bs=1M count={FLOOD_MEBIBYTES} status=none; zpool sync {POOL}; rm {flood}")
    fill(guest, "cold/warm", ARC_HITS)
    fill(guest, "cold/hot", DBUF_HITS)
    sh(guest, f"truncate -s {HOLES * RECORD_BYTES} /{POOL}/cold/hole; zpool sync {POOL}")
    drop_dbufs(guest)


def test_each_class_has_exactly_as_many_records_as_were_read(guest: Host, pool: str, tmp_path: Path) -> None:
    prepare_classes(guest)
    files = ["cold/cold", "l2/l2", "cold/warm", "cold/hot", "cold/both", "cold/hole"]
    sh(guest, "rm -f /tmp/zmtrace.go; mkfifo /tmp/zmtrace.go")
    with guest.start(("python3", "-c", READER, *files)) as reader:
        pid = next(reader.lines()).decode().strip()  # it has the files open
        with recording(guest, "/tmp/classes.trace", "--overwrite", "--pid", pid) as process:
            before = arcstats(guest)
            sh(guest, "echo > /tmp/zmtrace.go")
            assert process.wait(120) == 0, process.stderr()
            after = arcstats(guest)
    trace = fetch(guest, "/tmp/classes.trace", tmp_path)
    assert trace.header.ended == "mysqld ended"
    assert (trace.header.complete, trace.header.drops) == (True, 0)
    both = {key: count for key, count in trace.records.items() if key[0] == f"/{pool}/cold/both"}
    assert both.pop((f"/{pool}/cold/both", "miss")) == WAITS
    assert sum(both.values()) == WAITS
    assert {kind for _, kind in both} <= {"wait", "dbuf"}
    assert (f"/{pool}/cold/both", "wait") in both
    assert {key: count for key, count in trace.records.items() if not key[0].endswith("both")} == {
        (f"/{pool}/cold/cold", "miss"): MISSES,
        (f"/{pool}/l2/l2", "l2hit"): L2HITS,
        (f"/{pool}/cold/warm", "arc"): ARC_HITS,
        (f"/{pool}/cold/hot", "arc"): DBUF_HITS,
        (f"/{pool}/cold/hot", "dbuf"): DBUF_HITS,
        (f"/{pool}/cold/hole", "hole"): HOLES,
    }
    agree(trace, after - before)


def agree(trace: Trace, grown: Counter[str]) -> None:
    """Hold the trace against arcstats, which counts in the same places, for all processes."""
    of = trace.of_class
    assert of("miss") + of("l2hit") == pytest.approx(grown["demand_data_misses"], rel=0.01)
    assert of("dbuf") + of("arc") == pytest.approx(grown["demand_data_hits"], rel=0.01)
    assert of("l2hit") <= grown["l2_hits"]


def test_without_a_server_there_is_nothing_to_trace(guest: Host, pool: str) -> None:
    del pool
    assert "no mysqld or mariadbd runs" in refusal(guest, "zmysql trace record -o /tmp/none.trace")


def test_the_reads_of_a_mysqld_agree_with_arcstats(guest: Host, mysql_pool: str, tmp_path: Path) -> None:
    with recording(guest, "/tmp/mysqld.trace", "--overwrite") as process:
        before = arcstats(guest)
        guest.run((*SYSBENCH, "--time=8", "run"))
        after = arcstats(guest)
        signal(guest, "INT")
        assert process.wait(60) == 0, process.stderr()
    trace = fetch(guest, "/tmp/mysqld.trace", tmp_path)
    header = trace.header
    assert (header.complete, header.ended, header.drops) == (True, "interrupted", 0)
    assert header.records == trace.records.total() > 100
    assert set(trace.records) <= {(path, kind) for path in header.objects.values() for kind in CLASSES}
    table = f"/{mysql_pool}/data/mysql/sbtest/sbtest1.ibd"
    assert sum(count for (path, _), count in trace.records.items() if path == table) > 100
    assert f"{mysql_pool}/data" in {dataset.name for dataset in header.datasets.values()}
    assert header.mysql is not None
    assert header.mysql.startswith("mysqld ")
    assert header.l2arc_bytes == pytest.approx(2 << 30, rel=0.05)
    agree(trace, after - before)


def test_a_killed_recording_is_kept_and_leaves_no_tracer(guest: Host, mysql_pool: str, tmp_path: Path) -> None:
    del mysql_pool
    sh(guest, "rm -f /tmp/killed.trace")
    with recording(guest, "/tmp/killed.trace"):
        guest.run((*SYSBENCH, "--time=5", "run"))
        signal(guest, "KILL")
        ended = "pgrep -f '^[^ ]*dtrace -s .*blkaccess' >/dev/null || exit 0"
        sh(guest, f"for try in $(seq 50); do {ended}; sleep 0.2; done; exit 1")
    trace = fetch(guest, "/tmp/killed.trace", tmp_path)
    assert not trace.header.complete
    assert trace.records.total() > 0
    again = refusal(guest, "zmysql trace record -o /tmp/killed.trace")
    assert f"a recording that was cut off, with {trace.records.total()} records" in again
    assert "--overwrite" in again


def refusal(guest: Host, command: str) -> str:
    """Give the one line with which a command refuses, without the notes that come before."""
    done: Completed = guest.run(("sh", "-c", command), check=False)
    assert done.exit_status in (1, 2), done
    assert done.stderr.startswith("zmysql: "), done
    assert done.stderr.count("\n") == 1, done
    return done.stderr


# What is missing is taken away from the command alone, in a mount or process namespace of its own.
WITHOUT = {
    "needs root": "runuser -u nobody -- zmysql trace record -o /tmp/none.trace",
    "no dtrace on": (
        "unshare -m sh -c 'mount --bind /usr/bin/false /usr/sbin/dtrace; "
        "zmysql trace record --tracer dtrace -o /tmp/none.trace'"
    ),
    "has no ZFS loaded": "unshare -m sh -c 'mount -t tmpfs none /sys/module; zmysql trace record -o /tmp/none.trace'",
    "no /sys/kernel/btf/zfs": (
        "unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf; "
        "zmysql trace record --tracer bpftrace -o /tmp/none.trace'"
    ),
    "a container on": "unshare -fp --mount-proc zmysql trace record -o /tmp/none.trace",
    "has no file on ZFS": "cd /; zmysql trace record -o /tmp/none.trace --pid 1",
}


@pytest.mark.parametrize(("message", "command"), WITHOUT.items(), ids=WITHOUT)
def test_what_is_missing_is_named(guest: Host, pool: str, message: str, command: str) -> None:
    del pool
    assert message in refusal(guest, command)
    assert guest.run(("test", "-e", "/tmp/none.trace"), check=False).exit_status == 1


def test_one_of_several_servers_must_be_named(guest: Host, mysql_pool: str) -> None:
    del mysql_pool
    message = refusal(
        guest,
        "cp /bin/sleep /tmp/mariadbd; /tmp/mariadbd 60 & pid=$!; sleep 0.5; "
        "zmysql trace record -o /tmp/none.trace; status=$?; kill $pid; exit $status",
    )
    assert "several servers run" in message
    assert "mariadbd" in message
    assert "--pid" in message

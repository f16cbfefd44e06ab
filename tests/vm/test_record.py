"""`zmysql trace record` over time: restarts, several files, names that change, clocks that step, other tracers."""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from zmysql.trace.format import read_header
from zmysql.trace.sampling import is_kept

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zmysql.host import Host, Process

pytestmark = pytest.mark.usefixtures("installed")
POOL = "zmrecord"
RECORD_BYTES = 16384
COLD, WARM = 211, 223  # primes
PARAMETERS = "/sys/module/zfs/parameters"
# Called mysqld, so that it is found: it sits in its data directory, and reads when it is told to.
SERVER = f"""
import os, sys
def read(name, count):
    file = os.open(name, os.O_RDONLY)
    for at in range(count):
        os.pread(file, {RECORD_BYTES}, at * {RECORD_BYTES})
    os.close(file)
os.chdir("/{POOL}/data")
ibdata = os.open("ibdata1", os.O_RDWR | os.O_CREAT)
open("/proc/self/comm", "w").write("mysqld")
while line := open("/tmp/zmrecord.todo").read():
    exec(line)
    open("/tmp/zmrecord.done", "w").write("done")
"""


def sh(guest: Host, script: str) -> str:
    return guest.run(("sh", "-euc", script)).stdout


@pytest.fixture(scope="module")
def pool(guest: Host) -> Iterator[str]:
    """Give a pool with files of known length, with prefetch off."""
    before = sh(guest, f"modprobe zfs; cat {PARAMETERS}/zfs_prefetch_disable").strip()
    try:
        sh(
            guest,
            f"echo 1 > {PARAMETERS}/zfs_prefetch_disable; truncate -s 256M /dev/shm/{POOL}; "
            f"zpool create -f -O atime=off -O recordsize=16K {POOL} /dev/shm/{POOL}; zfs create {POOL}/data; "
            f"cd /{POOL}/data; mkdir shop; touch ibdata1; "
            + "".join(
                f"dd if=/dev/urandom of=shop/{name}.ibd bs=16K count={count} status=none; "
                for name, count in (("cold", COLD), ("warm", WARM), ("old", WARM))
            )
            + "rm -f /tmp/zmrecord.todo /tmp/zmrecord.done; mkfifo /tmp/zmrecord.todo /tmp/zmrecord.done; "
            f"zfs create {POOL}/other; dd if=/dev/urandom of=/{POOL}/other/f bs=16K count={WARM} status=none; "
            f"zpool sync {POOL}",
        )
        yield POOL
    finally:
        guest.run(("zpool", "destroy", "-f", POOL), check=False)
        sh(guest, f"rm -f /dev/shm/{POOL}; echo {before} > {PARAMETERS}/zfs_prefetch_disable")


@contextmanager
def server(guest: Host) -> Iterator[Process]:
    with guest.start(("python3", "-c", SERVER)) as process:
        sh(guest, "for try in $(seq 100); do pgrep -x mysqld >/dev/null && exit 0; sleep 0.1; done; exit 1")
        yield process
        guest.run(("pkill", "-x", "mysqld"), check=False)


def do(guest: Host, what: str) -> None:
    """Have the server do it, and wait until it has."""
    guest.run(("tee", "/tmp/zmrecord.todo"), stdin=what)
    sh(guest, "cat /tmp/zmrecord.done >/dev/null")


def wait_for(process: Process, text: str, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while text not in process.stderr():
        assert process.poll() is None, process.stderr()
        assert time.monotonic() < until, process.stderr()
        time.sleep(0.2)


@contextmanager
def recording(guest: Host, file: str, *options: str) -> Iterator[Process]:
    command = ("zmysql", "trace", "record", "--duration", "500s", "--overwrite", "-o", file, *options)
    with guest.start(command) as process:
        wait_for(process, "recording:")
        yield process


def end(guest: Host, process: Process) -> str:
    sh(guest, "kill -INT $(pgrep -f '^[^ ]*python.* trace record --duration 500s')")
    assert process.wait(60) == 0, process.stderr()
    return process.stderr()


def records(guest: Host, file: str) -> tuple[list[int], Counter[tuple[str, str]]]:
    """Give the times of a trace, and its records by address and class."""
    rows = [line.split() for line in guest.run(("zcat", file)).stdout.splitlines() if not line.startswith("#")]
    return [int(row[0]) for row in rows], Counter((f"{row[1]}:{row[2]}", row[6]) for row in rows)


def fetched(guest: Host, file: str, tmp_path: Path) -> tuple[dict[str, str], Path]:
    guest.get(file, tmp_path / "a.trace")
    header = read_header(tmp_path / "a.trace")
    return {f"{at[0]}:{at[1]}": path for at, path in header.objects.items()}, tmp_path / "a.trace"


def test_a_recording_in_parts_outlives_a_restart_a_rename_a_drop_and_a_step_of_the_clock(
    guest: Host, pool: str, tmp_path: Path
) -> None:
    with server(guest), recording(guest, "/tmp/parts.trace", "--rotate", "2K") as process:
        do(guest, f"read('shop/cold.ibd', {COLD})")
        do(guest, f"read('shop/old.ibd', {WARM})")
        sh(guest, f"date -s '+1 hour' >/dev/null; mv /{pool}/data/shop/old.ibd '/{pool}/data/shop/new @0020.ibd'")
        do(guest, f"os.system('cp shop/cold.ibd shop/brief.ibd'); read('shop/brief.ibd', {COLD})")
        time.sleep(8)  # it lives long enough to be looked up
        sh(guest, f"date -s '-1 hour' >/dev/null; rm /{pool}/data/shop/brief.ibd; pkill -x mysqld")
        wait_for(process, "waiting for it and the tracer to come back")
        with server(guest):
            until = time.monotonic() + 120
            while "recording:" not in process.stderr().rpartition("waiting for it and the tracer")[2]:
                assert time.monotonic() < until, process.stderr()
                time.sleep(0.2)
            do(guest, f"read('shop/cold.ibd', {COLD})")
            said = end(guest, process)
    assert "through 1 restarts" in said
    files = sh(guest, "ls -v /tmp/parts.trace*").split()
    assert len(files) > 1
    for name in files:
        _, file = fetched(guest, name, tmp_path)
        header = read_header(file)
        times, _ = records(guest, name)
        assert (header.complete, header.records, header.drops) == (True, len(times), 0)
        assert header.duration_ns is not None
        assert 0 <= times[0] <= times[-1] <= header.duration_ns < 300e9
    assert (header.restarts, header.ended) == (1, "interrupted")
    guest.run(("zmysql", "trace", "merge", "--overwrite", *files, "/tmp/merged.trace"))
    paths, _ = fetched(guest, "/tmp/merged.trace", tmp_path)
    times, found = records(guest, "/tmp/merged.trace")
    assert times == sorted(times)
    by_path = Counter[str]()
    for (address, _), count in found.items():
        by_path[paths[address]] += count
    shop = f"/{pool}/data/shop"
    assert by_path == {f"{shop}/cold.ibd": 2 * COLD, f"{shop}/new @0020.ibd": WARM, f"{shop}/brief.ibd": COLD}


def test_the_kernel_s_history_has_what_missed_the_dbuf_cache(guest: Host, pool: str, tmp_path: Path) -> None:
    before = sh(guest, f"cat {PARAMETERS}/zfs_read_history {PARAMETERS}/zfs_read_history_hits")
    with server(guest), recording(guest, "/tmp/history.trace", "--tracer", "history") as process:
        sh(guest, f"zfs unmount {pool}/other; zfs mount {pool}/other")  # no dbuf holds it now
        last = f"os.pread(os.open('/{pool}/other/f', os.O_RDONLY), {RECORD_BYTES}, {(WARM - 1) * RECORD_BYTES})"
        do(guest, f"read('/{pool}/other/f', {WARM}); [{last} for _ in range(5)]")
        sh(guest, f"cat /{pool}/data/shop/cold.ibd >/dev/null")  # another process's
        time.sleep(1)
        said = end(guest, process)
    assert "warning: the kernel's history of reads knows nothing of what the dbuf cache served" in said
    assert sh(guest, f"cat {PARAMETERS}/zfs_read_history {PARAMETERS}/zfs_read_history_hits") == before
    _, file = fetched(guest, "/tmp/history.trace", tmp_path)
    assert (read_header(file).drops, read_header(file).ended) == (0, "interrupted")
    _, found = records(guest, "/tmp/history.trace")
    objset = sh(guest, f"zfs get -Hpo value objsetid {pool}/other").strip()
    number = sh(guest, f"stat -c %i /{pool}/other/f").strip()
    assert found == {(f"{objset}:{number}", "arc"): WARM}


def test_the_doctor_says_what_works_here(guest: Host, pool: str) -> None:
    del pool
    with server(guest):
        said = json.loads(guest.run(("zmysql", "trace", "doctor", "-j")).stdout)
    findings = {one["name"]: one for one in said["findings"]}
    assert said["tracers"] == ["dtrace", "bpftrace", "history"]
    assert {name for name, one in findings.items() if one["state"] != "ok"} == set()
    assert "files on ZFS" in findings["server"]["says"]
    without = guest.run(("zmysql", "trace", "doctor", "-j"))
    assert {one["name"]: one["state"] for one in json.loads(without.stdout)["findings"]}["server"] == "missing"
    nobody = guest.run(("runuser", "-u", "nobody", "--", "zmysql", "trace", "doctor"), check=False)
    assert nobody.exit_status == 1
    assert "only root may trace the kernel; run it with sudo" in nobody.stderr


def test_a_sample_is_as_small_as_the_load_asks_for_and_a_full_disk_loses_nothing(guest: Host, pool: str) -> None:
    del pool
    sh(guest, "mkdir -p /tmp/tiny; mountpoint -q /tmp/tiny || mount -t tmpfs -o size=12k none /tmp/tiny")
    command = ("zmysql", "trace", "record", "--duration", "500s", "-o", "/tmp/tiny/a.trace", "--sample", "auto")
    try:
        with server(guest), guest.start((*command, "--sample-target", "100")) as process:
            wait_for(process, "looking at the load")
            for _ in range(6):
                do(guest, f"read('shop/cold.ibd', {COLD})")
            wait_for(process, "recording:")
            until = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < until:
                do(guest, f"read('shop/cold.ibd', {COLD}); read('shop/warm.ibd', {WARM})")
            assert process.wait(10) == 1
            said = process.stderr()
        # What was written is flushed a second later at most; the last line may be cut off.
        kept = guest.run(("zcat", "/tmp/tiny/a.trace"), check=False).stdout.split("\n")[:-1]
    finally:
        guest.run(("umount", "/tmp/tiny"), check=False)
    assert "can't be written: No space left on device" in said
    assert f"{sum(not line.startswith('#') for line in kept)} records are kept" in said
    (rate,) = (int(line.rpartition("/")[2].rstrip('"')) for line in kept if line.startswith("# sampling"))
    assert rate in {2**power for power in range(1, 6)}
    addresses = {tuple(map(int, line.split()[1:5])) for line in kept if not line.startswith("#")}
    assert all(is_kept(objset, number, blkid, rate) for objset, number, _, blkid in addresses)
    assert len(addresses) > 5

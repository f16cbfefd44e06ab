"""zilcommit counts commits and what they write as the datasets' kstats do, with a log device and without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from guest_tracers import near, rows_of, trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Host

SCRIPTS = Path(__file__).parents[2] / "dscripts"
POOL = "zmzil"
SYNCS, STABLE, LARGE = 211, 103, 31  # primes: fsync()s, writes with O_SYNC, large ones where logbias=throughput
SMALL_BYTES, LARGE_BYTES = 4096, 131072
KSTATS = {
    "commits": "zil_commit_count",
    "itxs": "zil_itx_count",
    "copied": "zil_itx_copied_count",
    "copied_bytes": "zil_itx_copied_bytes",
    "needcopy": "zil_itx_needcopy_count",
    "needcopy_bytes": "zil_itx_needcopy_bytes",
    "indirect": "zil_itx_indirect_count",
    "indirect_bytes": "zil_itx_indirect_bytes",
    "pool_blocks": "zil_itx_metaslab_normal_count",
    "pool_bytes": "zil_itx_metaslab_normal_bytes",
    "slog_blocks": "zil_itx_metaslab_slog_count",
    "slog_bytes": "zil_itx_metaslab_slog_bytes",
}
TIMES = ("commit_avg_ns", "commit_max_ns", "pool_avg_ns", "slog_avg_ns")
# The three datasets, each committed to as it is told.
WRITER = f"""
import os
def write(name, flags, size, count, sync):
    file = os.open(f"/{POOL}/{{name}}", os.O_CREAT | os.O_WRONLY | flags, 0o600)
    for at in range(count):
        os.pwrite(file, os.urandom(size), at * size)
        if sync:
            os.fsync(file)
write("fsync/f", 0, {SMALL_BYTES}, {SYNCS}, True)
write("deep/er/f", os.O_SYNC, {SMALL_BYTES}, {STABLE}, False)
write("large/f", os.O_SYNC, {LARGE_BYTES}, {LARGE}, False)
"""


def sh(guest: Host, script: str) -> str:
    return guest.run(("sh", "-euc", script)).stdout


def text_for_linux(name: str) -> str:
    """Give a script with Linux's function where its own system has a probe of sdt at the same place."""
    text = (SCRIPTS / name).read_text()
    if name.count(".") > 1:
        assert text.count("sdt:zfs::zil-process-normal-itx\n") == 1
        return text.replace("sdt:zfs::zil-process-normal-itx", "fbt:zfs:trace_zfs_zil__process__normal__itx:entry")
    return text


@pytest.fixture(scope="module")
def datasets(guest: Host) -> Iterator[dict[str, str]]:
    """Give a pool's datasets by the names that the script prints, with their objset ids."""
    sh(guest, f"modprobe zfs; truncate -s 512M /dev/shm/{POOL} /dev/shm/{POOL}.log")
    try:
        sh(guest, f"zpool create -f -O atime=off -O recordsize=128K {POOL} /dev/shm/{POOL}")
        sh(
            guest,
            f"zfs create {POOL}/fsync; zfs create -p {POOL}/deep/er; zfs create -o logbias=throughput {POOL}/large",
        )
        names = {f"{POOL}/fsync": "fsync", f"{POOL}/.../er": "deep/er", f"{POOL}/large": "large"}
        yield {shown: sh(guest, f"zfs get -Hpo value objsetid {POOL}/{name}").strip() for shown, name in names.items()}
    finally:
        sh(guest, f"zpool destroy -f {POOL} 2>/dev/null || :; rm -f /dev/shm/{POOL} /dev/shm/{POOL}.log")


def kstats(guest: Host, objset: str) -> dict[str, int]:
    lines = sh(guest, f"cat /proc/spl/kstat/zfs/{POOL}/objset-0x{int(objset):x}").splitlines()
    return {fields[0]: int(fields[2]) for line in lines if (fields := line.split())[0].startswith("zil_")}


@pytest.mark.parametrize("log", [False, True], ids=["pool", "slog"])
def test_the_rows_are_what_the_kstats_count(guest: Host, datasets: dict[str, str], log: bool) -> None:  # noqa: FBT001 - pytest's parameter
    names = {"d": "zilcommit.d", "bt": "zilcommit.bt"}
    if log:
        sh(guest, f"zpool add {POOL} log /dev/shm/{POOL}.log")
        names = {"d": "zilcommit.d", "freebsd": "zilcommit.freebsd.d", "illumos": "zilcommit.illumos.d"}
    for name in names.values():
        guest.run(("tee", f"/tmp/{name}"), stdin=text_for_linux(name))
    guest.run(("tee", "/tmp/zilcommit-writer.py"), stdin=WRITER)
    tracers = {key: ("bpftrace" if key == "bt" else "dtrace", f"/tmp/{name}", "0", POOL) for key, name in names.items()}
    commands = {key: command if key == "bt" else (command[0], "-s", *command[1:]) for key, command in tracers.items()}
    # The first commit of a dataset makes its log, and waits for a txg, which then has what should have been logged.
    for name in ("fsync", "deep/er", "large"):
        sh(guest, f"dd if=/dev/zero of=/{POOL}/{name}/first bs=4K count=1 oflag=sync status=none")
    before = {name: kstats(guest, objset) for name, objset in datasets.items()}
    printed = trace(guest, commands, "python3 /tmp/zilcommit-writer.py")
    after = {name: kstats(guest, objset) for name, objset in datasets.items()}
    rows = {key: {row["dataset"]: row for row in rows_of(text)} for key, text in printed.items()}
    for name, objset in datasets.items():
        row = rows["d"][name]
        assert row["objset"] == objset
        for column, kstat in KSTATS.items():
            theirs = after[name][kstat] - before[name][kstat]
            print(f"{name} {column}: zilcommit {row[column]}, {kstat} {theirs}")
            assert near(int(row[column]), theirs, 0.01)
        for other in rows.values():
            assert all(near(int(other[name][key]), int(row[key]), 0.001) for key in KSTATS), (other[name], row)
            assert all(int(other[name][key]) > 0 for key in TIMES[:2])
    check_known(rows["d"], log=log)
    assert "A log device for pool zmzil must hold 5 txgs of log" in printed["d"]


def check_known(rows: dict[str, dict[str, str]], *, log: bool) -> None:
    """Compare with what the writer did: as many commits as it asked for, each write in the class that it must have."""
    fsync, stable, large = rows[f"{POOL}/fsync"], rows[f"{POOL}/.../er"], rows[f"{POOL}/large"]
    assert (fsync["commits"], stable["commits"], large["commits"]) == (str(SYNCS), str(STABLE), str(LARGE))
    # A write whose txg is on the disks before its commit isn't in the log.
    assert LARGE - 1 <= int(large["indirect"]) <= LARGE
    assert int(large["indirect_bytes"]) == int(large["indirect"]) * LARGE_BYTES
    for row, count in ((fsync, SYNCS), (stable, STABLE)):
        assert count - 2 <= int(row["needcopy"]) + int(row["copied"]) <= count
        there, other = ("slog", "pool") if log else ("pool", "slog")
        assert int(row[f"{other}_blocks"]) == 0
        assert int(row[f"{there}_blocks"]) > 0
        assert int(row[f"{there}_avg_ns"]) > 0  # a log write may end long after the last commit that waited
    assert int(large["slog_blocks"]) == 0 or log

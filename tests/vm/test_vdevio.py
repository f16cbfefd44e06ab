"""vdevio counts what each disk of a pool got, as the pool itself counts it, and each of its texts the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from guest_tracers import near, rows_of, sums, trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Host

SCRIPTS = Path(__file__).parents[2] / "dscripts"
POOL = "zmvdev"
RECORD_BYTES = 16384
RECORDS, SYNCS = 307, 53  # primes
COUNTERS = ("read_ops", "write_ops", "read_bytes", "write_bytes")
# Before dd each record is in one I/O of its own, which nothing merges: no prefetch, no aggregation.
PARAMETERS = {"zfs_prefetch_disable": 1, "zfs_vdev_aggregation_limit": 0, "zfs_vdev_aggregation_limit_non_rotating": 0}
EXACT = ("operations", "bytes", "device_avg_ns", "device_max_ns", "began", "sequential", "seek_avg_bytes", "depth_sum")


def sh(guest: Host, script: str) -> str:
    return guest.run(("sh", "-euc", script)).stdout


def text_for_linux(name: str) -> str:
    """Give a script with Linux's probes and members where its own system has others for the same places."""
    text = (SCRIPTS / name).read_text()
    if "freebsd" in name:
        assert "vdev_geom_io_" in text
        return text.replace("vdev_geom_io_", "vdev_disk_io_")
    if "illumos" in name:
        assert "vq_active_tree.avl_numnodes" in text
        return text.replace("vq_active_tree.avl_numnodes", "vq_active")
    return text


def counters(guest: Host, disks: tuple[str, ...]) -> dict[tuple[str, str], int]:
    lines = sh(
        guest, f"zpool get -Hp -o name,property,value {','.join(COUNTERS)} {POOL} {' '.join(disks)}"
    ).splitlines()
    return {(name, key): int(value) for name, key, value in (line.split("\t") for line in lines)}


@pytest.fixture(scope="module")
def disks(guest: Host) -> Iterator[tuple[str, ...]]:
    """Give the names of a pool's two disks, an HDD and an SSD, with nothing going on but what the tests do."""
    folder = "/sys/module/zfs/parameters"
    sh(guest, "modprobe zfs")
    before = {name: sh(guest, f"cat {folder}/{name}").strip() for name in PARAMETERS}
    rotates = sh(guest, "lsblk -dno NAME,ROTA,TYPE | awk '$3 == \"disk\" && $1 ~ /^sd/ { print $1, $2 }'").split()
    kinds = dict(zip(rotates[1::2], rotates[::2], strict=True))
    try:
        sh(guest, "".join(f"echo {value} > {folder}/{name}; " for name, value in PARAMETERS.items()))
        sh(
            guest,
            f"zpool create -f -O recordsize=16K -O compression=off -O atime=off -O primarycache=metadata {POOL} "
            f"/dev/{kinds['1']} /dev/{kinds['0']}; "
            f"dd if=/dev/urandom of=/{POOL}/f bs=16K count={RECORDS} status=none; zpool sync; "
            f"cat /{POOL}/f > /dev/null; sleep 2",
        )
        yield kinds["1"], kinds["0"]
    finally:
        sh(guest, f"zpool destroy -f {POOL} 2>/dev/null || :")
        sh(guest, "".join(f"echo {value} > {folder}/{name}; " for name, value in before.items()))


def test_each_text_counts_what_the_pool_counts(guest: Host, disks: tuple[str, ...]) -> None:
    commands: dict[str, tuple[str, ...]] = {"bt": ("bpftrace", "/tmp/vdevio.bt", "0", POOL)}
    for name in ("vdevio.d", "vdevio.freebsd.d", "vdevio.illumos.d", "vdevio.bt"):
        guest.run(("tee", f"/tmp/{name}"), stdin=text_for_linux(name))
        if name.endswith(".d"):
            commands[name] = ("dtrace", "-s", f"/tmp/{name}", "0", POOL)
    before = counters(guest, disks)
    printed = trace(
        guest,
        commands,
        f"dd if=/{POOL}/f of=/dev/null bs=16K status=none; "
        f"dd if=/dev/zero of=/{POOL}/log bs=4K count={SYNCS} oflag=sync status=none; zpool sync",
    )
    after = counters(guest, disks)
    rows = {name: rows_of(text) for name, text in printed.items()}
    linux = rows["vdevio.d"]
    for kind in ("read", "write"):
        operations, size = (sums(linux, ("direction", "vdev"), column) for column in ("operations", "bytes"))
        for disk in disks:
            (vdev,) = {row["vdev"] for row in linux if row["vdev"].startswith(f"/dev/{disk}")}
            for ours, column in ((operations, "ops"), (size, "bytes")):
                theirs = after[disk, f"{kind}_{column}"] - before[disk, f"{kind}_{column}"]
                print(f"{vdev} {kind} {column}: vdevio {ours[kind, vdev]}, the pool {theirs}")
                assert near(ours[kind, vdev], theirs, 0.01)
    by_class = sums(linux, ("direction", "priority"), "operations")
    assert by_class["read", "sync_read"] >= RECORDS
    assert by_class["write", "sync_write"] >= SYNCS
    for name, others in rows.items():
        agree(name, others, linux)


def agree(name: str, others: list[dict[str, str]], linux: list[dict[str, str]]) -> None:
    """Compare a script's rows with vdevio.d's: the twin's figures are the same, the other systems' that they count."""
    columns = EXACT if name == "bt" else ("operations", "bytes", "began", "sequential", "seek_avg_bytes")
    by = ("direction", "priority", "vdev")
    for column in columns:
        ours, theirs = sums(linux, by, column), sums(others, by, column)
        assert ours.keys() == theirs.keys(), name
        timed = column.startswith("device") and "flush"
        assert all(near(ours[row], theirs[row], 0.001) for row in ours if row[0] != timed), (name, column, ours, theirs)


def test_seeks_and_a_sequential_stream_are_told_apart(guest: Host, disks: tuple[str, ...]) -> None:
    """Read the records forth, and then in an order in which none stands beside the one before."""
    guest.run(("tee", "/tmp/vdevio.d"), stdin=text_for_linux("vdevio.d"))
    reader = (
        f"import os\nf = os.open('/{POOL}/f', os.O_RDONLY)\n"
        f"for at in range({RECORDS}):\n  os.pread(f, {RECORD_BYTES}, at * 101 % {RECORDS} * {RECORD_BYTES})\n"
    )
    guest.run(("tee", "/tmp/vdevio-reader.py"), stdin=reader)
    command = {"d": ("dtrace", "-s", "/tmp/vdevio.d", "0", POOL)}
    forth = rows_of(trace(guest, command, f"dd if=/{POOL}/f of=/dev/null bs=16K status=none")["d"])
    apart = rows_of(trace(guest, command, "python3 /tmp/vdevio-reader.py")["d"])
    forth, apart = ([row for row in rows if row["priority"] == "sync_read"] for rows in (forth, apart))
    for rows in (forth, apart):
        assert sum(int(row["operations"]) for row in rows) == RECORDS
        assert sum(int(row["bytes"]) for row in rows) == RECORDS * RECORD_BYTES
    for disk in disks:
        near_row, far_row = (next(row for row in rows if disk in row["vdev"]) for rows in (forth, apart))
        print(disk, near_row, far_row, sep="\n")
        assert int(near_row["sequential"]) > 0.5 * int(near_row["began"])
        assert int(far_row["sequential"]) <= 0.1 * int(far_row["began"])
        assert int(far_row["seek_avg_bytes"]) > 4 * int(near_row["seek_avg_bytes"])
        assert int(near_row["depth_max"]) == 1

"""`zmysql trace record --script` and `trace files` with a reader and writer whose every operation is known."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Host

pytestmark = pytest.mark.usefixtures("installed")
POOL = "zmscripts"
RECORD_BYTES = 16384
ONCE, TWICE = 211, 97  # primes
REDO_WRITES = 151
# Sits in a data directory and waits for a word on its fifo.
SERVER = f"""
import os
os.chdir("/{POOL}/data")
table = os.open("shop/orders.ibd", os.O_RDONLY)
redo = os.open("ib_logfile0", os.O_RDWR)
print(os.getpid(), flush=True)
open("/tmp/zmscripts.go").read()
for at in [*range({ONCE} - 1, -1, -1), *range({TWICE} - 1, -1, -1)]:  # backwards: none goes on where one ended
    os.pread(table, {RECORD_BYTES}, at * {RECORD_BYTES})
for at in range({REDO_WRITES}):
    os.pwrite(redo, b"x" * 512, at * 512)
"""


def sh(guest: Host, script: str) -> str:
    return guest.run(("sh", "-euc", script)).stdout


@pytest.fixture(scope="module")
def pool(guest: Host) -> Iterator[str]:
    try:
        sh(
            guest,
            f"modprobe zfs; truncate -s 256M /dev/shm/{POOL}; "
            f"zpool create -f -O atime=off -O recordsize=16K {POOL} /dev/shm/{POOL}; zfs create {POOL}/data; "
            f"cd /{POOL}/data; mkdir shop; touch ibdata1; dd if=/dev/urandom of=ib_logfile0 bs=1M count=1 status=none; "
            f"dd if=/dev/urandom of=shop/orders.ibd bs=16K count={ONCE} status=none; zpool sync {POOL}; "
            "rm -f /tmp/zmscripts.go; mkfifo /tmp/zmscripts.go",
        )
        yield POOL
    finally:
        guest.run(("zpool", "destroy", "-f", POOL), check=False)
        sh(guest, f"rm -f /dev/shm/{POOL}")


def recorded(guest: Host, script: str, *options: str) -> dict[str, Any]:
    """Run a script on SERVER from its first operation to its end, and give the JSON that the command prints."""
    with guest.start(("python3", "-c", SERVER)) as server:
        pid = next(server.lines()).decode().strip()
        command = ("zmysql", "trace", "record", "--script", script, "--pid", pid, "--duration", "300s", "-j", *options)
        with guest.start((*command, "--overwrite", "-o", f"/tmp/{script}.txt")) as process:
            until = time.monotonic() + 120
            while "recording: the kernel sums up" not in process.stderr():
                assert process.poll() is None, process.stderr()
                assert time.monotonic() < until, process.stderr()
                time.sleep(0.2)
            sh(guest, "echo > /tmp/zmscripts.go")
            said: dict[str, Any] = json.loads(b"".join(process.lines()))
            assert process.wait(60) == 0, process.stderr()
    assert (said["ended"], said["drops"], said["script"]) == ("mysqld ended", 0, script)
    return said


def test_locality_answers_with_the_table_s_path(guest: Host, pool: str) -> None:
    said = recorded(guest, "locality", "--tracer", "bpftrace")
    rows = {row["path"] or row["name"]: row for row in said["rows"]}
    table = rows[f"/{pool}/data/shop/orders.ibd"]
    assert (table["records"], table["once"], table["twice"], table["more"]) == (ONCE, ONCE - TWICE, TWICE, 0)
    assert table["reads"] == ONCE + TWICE
    assert rows["total"]["reads"] == table["reads"]
    assert said["notes"]


def test_each_class_of_files_has_its_device(guest: Host, pool: str) -> None:
    said = recorded(guest, "filerw")
    rows = {(row["path"], row["direction"]): row for row in said["rows"]}
    redo = rows[f"/{pool}/data/ib_logfile0", "write"]
    assert (redo["operations"], redo["bytes"], redo["class"]) == (REDO_WRITES, REDO_WRITES * 512, "redo")
    placed = json.loads(guest.run(("zmysql", "trace", "files", "-j", "/tmp/filerw.txt")).stdout)
    found = {one["class"]: one for one in placed["classes"]}
    assert set(found) == {"table", "redo"}
    table = found["table"]
    assert (table["reads"], table["read_bytes"]) == (ONCE + TWICE, (ONCE + TWICE) * RECORD_BYTES)
    assert table["random_share"] == 1
    assert (table["device"], table["agrees"]) == ("ssd", True)
    assert found["redo"]["random_share"] == pytest.approx(1 / REDO_WRITES)
    assert (found["redo"]["device"], found["redo"]["matsunobu"]["device"]) == ("hdd + log device", "hdd")
    text = guest.run(("zmysql", "trace", "files", "/tmp/filerw.txt")).stdout
    assert "hdd + log device" in text
    again = guest.run(("zmysql", "trace", "files", "/tmp/locality.txt"), check=False)
    assert again.exit_status == 1
    assert "is the output of locality" in again.stderr

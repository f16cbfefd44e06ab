"""The D scripts on a real pool: all keep exactly the records that the hash says, and tell the same.

Those for FreeBSD and illumos run here too. They compile with the probes of their own systems, which are absent, and get
Linux's for the same places in the source beside them.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zmysql.trace.format import read_header
from zmysql.trace.sampling import is_kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Host

pytestmark = pytest.mark.usefixtures("installed")
SCRIPTS = Path(__file__).parents[2] / "dscripts"
POOL = "zmprobes"
RECORD_BYTES = 16384
RATE = 5
COLD, WARM, HOLES, TINY = 211, 223, 101, 103  # primes
PREFETCH = "/sys/module/zfs/parameters/zfs_prefetch_disable"
# `sdt:zfs::arc-hit` is on Linux the function that the same line of the source calls.
SDT = re.compile(r"^sdt:zfs::(\w+)-(\w+)$", re.MULTILINE)
AS_ON_LINUX = r"\g<0>,\nfbt:zfs:trace_zfs_\1__\2:entry"
# zfs_read() is given a vnode on illumos, whose v_data is the znode, and the znode on Linux. An array's value is where
# it is, so that v_data is the znode here too.
STUBS = {"freebsd": "", "illumos": "typedef struct vnode { char v_data[8]; } vnode_t;\n"}
# Opens the files, and on a word reads each record of each once, and of the first twice.
READER = f"""
import os
counts = {{"cold": {COLD}, "warm": {WARM}, "hole": {HOLES}, "tiny": {TINY}}}
files = {{name: os.open(f"/{POOL}/{{name}}", os.O_RDONLY) for name in counts}}
print(os.getpid(), flush=True)
open("/tmp/zmprobes.go").read()
for name, count in counts.items():
    for at in range(count):
        for _ in range(2 if name == "cold" else 1):
            assert len(os.pread(files[name], {RECORD_BYTES}, at * {RECORD_BYTES})) == {RECORD_BYTES}
"""


def sh(guest: Host, script: str) -> str:
    return guest.run(("sh", "-euc", script)).stdout


def text_for_linux(system: str) -> str:
    """Give a script that runs here; its first line, of the shell, can't stand behind others."""
    text = (SCRIPTS / f"blkaccess.{system}.d").read_text().partition("\n")[2]
    text, count = SDT.subn(AS_ON_LINUX, text)
    assert count == 3
    return STUBS[system] + text


@dataclass(frozen=True)
class Workload:
    """What READER reads: the dataset, and (object, records, classes of the reads of each) for each file."""

    objset: int
    files: tuple[tuple[int, int, tuple[str, ...]], ...]

    def expected(self, rate: int) -> Counter[tuple[int, int, int, str]]:
        return Counter(
            (self.objset, number, blkid, kind)
            for number, count, kinds in self.files
            for blkid in range(count)
            if is_kept(self.objset, number, blkid, rate)
            for kind in kinds
        )


@pytest.fixture(scope="module")
def workload(guest: Host) -> Iterator[Workload]:
    """Give a pool with records that are nowhere, in the ARC, in no block, and in their block pointers."""
    before = sh(guest, f"modprobe zfs; cat {PREFETCH}").strip()
    try:
        sh(
            guest,
            f"echo 1 > {PREFETCH}; truncate -s 256M /dev/shm/{POOL}; "
            f"zpool create -f -O atime=off -O recordsize=16K -O compression=lz4 {POOL} /dev/shm/{POOL}; cd /{POOL}; "
            f"dd if=/dev/urandom of=cold bs=16K count={COLD} status=none; "
            f"dd if=/dev/urandom of=warm bs=16K count={WARM} status=none; truncate -s {HOLES * RECORD_BYTES} hole; "
            f"head -c {TINY * RECORD_BYTES} /dev/zero | tr '\\0' a > tiny; cd /; "
            f"zpool export {POOL}; zpool import -d /dev/shm {POOL}; cat /{POOL}/warm > /dev/null; "
            f"zfs unmount {POOL}; zfs mount {POOL}",
        )
        objset = int(sh(guest, f"zfs get -Hpo value objsetid {POOL}"))
        numbers = map(int, sh(guest, f"cd /{POOL}; stat -c %i cold warm hole tiny").split())
        kinds = (("miss", "dbuf"), ("arc",), ("hole",), ("hole",))
        yield Workload(objset, tuple(zip(numbers, (COLD, WARM, HOLES, TINY), kinds, strict=True)))
    finally:
        sh(guest, f"echo {before} > {PREFETCH}; zpool destroy -f {POOL}; rm -f /dev/shm/{POOL}")


def records_in(text: str) -> Counter[tuple[int, int, int, str]]:
    rows = [line.split(" ") for line in text.splitlines() if line and not line.startswith("#")]
    return Counter((int(row[1]), int(row[2]), int(row[4]), row[6]) for row in rows)


def test_all_scripts_keep_the_records_that_the_hash_says_and_tell_the_same(
    guest: Host, workload: Workload, tmp_path: Path
) -> None:
    for system in STUBS:
        guest.run(("tee", f"/tmp/{system}.d"), stdin=text_for_linux(system))
    sh(guest, "rm -f /tmp/zmprobes.go /tmp/freebsd.out /tmp/illumos.out; mkfifo /tmp/zmprobes.go")
    with ExitStack() as running:
        reader = running.enter_context(guest.start(("python3", "-c", READER)))
        pid = next(reader.lines()).decode().strip()
        running.callback(sh, guest, f"kill {pid} 2>/dev/null || :")  # at which the tracers end
        tracers = [
            running.enter_context(guest.start(("sh", "-c", command)))
            for command in (
                f"zmysql trace record --sample 1/{RATE} --pid {pid} --overwrite -o /tmp/linux.trace",
                f"dtrace -Z -s /tmp/freebsd.d {pid} 300 {RATE} > /tmp/freebsd.out",
                f"dtrace -Z -s /tmp/illumos.d {pid} > /tmp/illumos.out",
            )
        ]
        until = time.monotonic() + 120
        while "recording:" not in tracers[0].stderr():
            assert tracers[0].poll() is None, tracers[0].stderr()
            assert time.monotonic() < until
            time.sleep(0.3)
        began = "grep -q began /tmp/freebsd.out && grep -q began /tmp/illumos.out"
        sh(guest, f"for try in $(seq 120); do {began} && exit 0; sleep 1; done; exit 1")
        sh(guest, "echo > /tmp/zmprobes.go")
        assert [tracer.wait(120) for tracer in tracers] == [0, 0, 0], [tracer.stderr() for tracer in tracers]
    guest.get("/tmp/linux.trace", tmp_path / "linux.trace")
    header = read_header(tmp_path / "linux.trace")
    assert (header.sampling, header.drops, header.ended) == (f"1/{RATE}", 0, "mysqld ended")
    sampled = workload.expected(RATE)
    assert 0.5 < sampled.total() * RATE / workload.expected(1).total() < 1.5
    assert records_in(sh(guest, "zcat /tmp/linux.trace")) == sampled
    assert records_in(sh(guest, "cat /tmp/freebsd.out")) == sampled
    assert records_in(sh(guest, "cat /tmp/illumos.out")) == workload.expected(1)
    assert f"\n# sampling 1/{RATE}\n" in sh(guest, "cat /tmp/freebsd.out")

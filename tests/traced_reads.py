"""A workload in a guest of which each record's reads and writes are known, and what a script must print of it.

The counts are prime, so that no two mistakes make one another up.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.trace.sampling import is_kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zmysql.host import Host, Process

POOL = "zmprobes"
RECORD_BYTES = 16384
PREFETCH = "/sys/module/zfs/parameters/zfs_prefetch_disable"
GO = "/tmp/zmprobes.go"
PATIENCE_S = 120
COUNTS = {"cold": 211, "warm": 223, "hole": 101, "tiny": 103, "straight": 107, "written": 83, "new": 79, "part": 73}
# The classes of all that is done to each record of a file, in any order.
READS = {"cold": ("miss", "dbuf"), "warm": ("arc",), "hole": ("hole",), "tiny": ("hole",)}
DIRECT = {"cold": ("dbuf",), "hole": ("hole",), "tiny": ("hole",), "straight": ("direct", "direct")}
WRITES = {"written": ("write",) * 4, "new": ("write",), "part": ("write",)}
# Opens the files. On a word it reads each record of each, of the first twice, and by Direct I/O, alone and together;
# and it writes records: whole, together, a part of each twice, and a part of those that nobody read.
READER = f"""
import mmap, os
size, counts, at = {RECORD_BYTES}, {COUNTS}, {{}}
for name in counts:
    at[name] = os.open(f"/{POOL}/{{name}}", os.O_RDWR | os.O_CREAT)
straight = {{name: os.open(f"/{POOL}/{{name}}", os.O_RDONLY | os.O_DIRECT) for name in {tuple(DIRECT)}}}
page = mmap.mmap(-1, size)
many = mmap.mmap(-1, counts["straight"] * size)
print(os.getpid(), flush=True)
open("{GO}").read()
times = {{"cold": 2, "straight": 0}}
for name in {(*READS, "straight")}:
    for number in range(counts[name]):
        for _ in range(times.get(name, 1)):
            assert len(os.pread(at[name], size, number * size)) == size
        if name in straight:
            assert os.preadv(straight[name], [page], number * size) == size
assert os.preadv(straight["straight"], [many], 0) == len(many)
data = os.urandom(size)
for name in ("written", "new"):
    for number in range(counts[name]):
        assert os.pwrite(at[name], data, number * size) == size
assert os.pwrite(at["written"], data * counts["written"], 0) == size * counts["written"]
for number in range(counts["written"]):
    for begin in (0, 4096):
        assert os.pwrite(at["written"], data[:4096], number * size + begin) == 4096
for number in range(counts["part"]):
    assert os.pwrite(at["part"], data[:4096], number * size) == 4096
"""

# Reads a file from its start, for the prefetcher to follow.
SCANNED = 1511
SCANNER = f"""
import os
at = os.open("/{POOL}/scanned", os.O_RDONLY)
print(os.getpid(), flush=True)
open("{GO}").read()
while os.read(at, {RECORD_BYTES}):
    pass
"""

Records = Counter[tuple[int, int, int, str]]


def sh(guest: Host, script: str) -> str:
    """Give what a shell script prints in the guest; it ends at the first command that fails."""
    return guest.run(("sh", "-euc", script)).stdout


@dataclass(frozen=True, slots=True)
class Workload:
    """What READER touches: the dataset, and the object number of each file."""

    objset: int
    objects: Mapping[str, int]

    def expected(self, rate: int = 1, *classes: Mapping[str, tuple[str, ...]]) -> Records:
        """Give how often a script prints (objset, object, blkid, class); for reads, if `classes` has nothing else."""
        return Counter(
            (self.objset, self.objects[name], blkid, kind)
            for each in classes or (READS, DIRECT)
            for name, kinds in each.items()
            for blkid in range(COUNTS[name])
            if is_kept(self.objset, self.objects[name], blkid, rate)
            for kind in kinds
        )


@contextmanager
def workload(guest: Host) -> Iterator[Workload]:
    """Give a pool with records that are nowhere, in the ARC, in no block, and in their block pointers."""
    before = sh(guest, f"modprobe zfs; cat {PREFETCH}").strip()
    whole = [name for name in ("cold", "warm", "straight", "written", "part") if name in COUNTS]
    try:
        sh(
            guest,
            f"echo 1 > {PREFETCH}; truncate -s 256M /dev/shm/{POOL}; "
            f"zpool create -f -O atime=off -O recordsize=16K -O compression=lz4 {POOL} /dev/shm/{POOL}; cd /{POOL}; "
            + "".join(f"dd if=/dev/urandom of={name} bs=16K count={COUNTS[name]} status=none; " for name in whole)
            + f"truncate -s {COUNTS['hole'] * RECORD_BYTES} hole; touch new; "
            f"head -c {COUNTS['tiny'] * RECORD_BYTES} /dev/zero | tr '\\0' a > tiny; cd /; "
            f"zpool export {POOL}; zpool import -d /dev/shm {POOL}; cat /{POOL}/warm > /dev/null; "
            f"zfs unmount {POOL}; zfs mount {POOL}",
        )
        objset = int(sh(guest, f"zfs get -Hpo value objsetid {POOL}"))
        numbers = map(int, sh(guest, f"cd /{POOL}; stat -c %i {' '.join(COUNTS)}").split())
        yield Workload(objset, dict(zip(COUNTS, numbers, strict=True)))
    finally:
        sh(guest, f"echo {before} > {PREFETCH}; zpool destroy -f {POOL}; rm -f /dev/shm/{POOL}")


def trace(guest: Host, commands: Mapping[str, str], program: str = READER) -> dict[str, str]:
    """Run a program under tracers, each a command with {pid} and {out} in it, and give what each put out.

    The program prints its process id, and goes on when it can read GO.
    """
    outs = {name: f"/tmp/zmprobes.{name}" for name in commands}
    sh(guest, f"rm -f {GO} {' '.join(outs.values())}; mkfifo {GO}")
    with ExitStack() as running:
        reader = running.enter_context(guest.start(("python3", "-c", program)))
        pid = next(reader.lines()).decode().strip()
        running.callback(sh, guest, f"kill {pid} 2>/dev/null || :")  # at which the tracers end
        tracers = [
            running.enter_context(guest.start(("sh", "-c", command.format(pid=pid, out=outs[name]))))
            for name, command in commands.items()
        ]
        _wait_for(guest, tracers, tuple(outs.values()))
        sh(guest, f"echo > {GO}")
        assert [tracer.wait(PATIENCE_S) for tracer in tracers] == [0] * len(tracers), [t.stderr() for t in tracers]
    return {name: sh(guest, f"cat {out}") for name, out in outs.items()}


def _wait_for(guest: Host, tracers: Sequence[Process], outs: tuple[str, ...]) -> None:
    """Wait until each has printed its first line; `zmysql trace record`, that it records."""
    until = time.monotonic() + PATIENCE_S
    begun = " && ".join(f"grep -qa -e began -e recording: {out}" for out in outs)
    while guest.run(("sh", "-c", begun), check=False).exit_status != 0:
        assert all(tracer.poll() is None for tracer in tracers), [tracer.stderr() for tracer in tracers]
        assert time.monotonic() < until
        time.sleep(0.5)


def records_in(text: str) -> Records:
    """Count the (objset, object, blkid, class) of a script's lines."""
    rows = [line.split(" ") for line in text.splitlines() if line and not line.startswith("#")]
    return Counter((int(row[1]), int(row[2]), int(row[4]), row[6]) for row in rows)

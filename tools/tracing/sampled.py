"""A full trace and a sample of the same run: how far the locality reports of the two are apart."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zmysql.errors import ZmysqlError
from zmysql.host import Local

if TYPE_CHECKING:
    from collections.abc import Callable

    from zmysql.host import Process
    from zmysql.testbed.vm import Guest

POOL = "zmsample"
RECORD_BYTES = 4096
RECORDS = 60_013  # a prime, so that no stride divides it
READS = 150_000
RATE = 64
# Smaller than the file, so that the ARC has something to choose.
_ARC_BYTES = 64 << 20
_PATIENCE_S = 3600.0
# Where on the curve of misses the two are compared: parts of what is read.
_PARTS = (0.05, 0.1, 0.2, 0.4, 0.8)
_READER = f"""
import os, random, sys
file = os.open("/{POOL}/records", os.O_RDONLY)
choose = random.Random(1)
def uniform():
    while True:
        yield choose.randrange({RECORDS})
def zipf():
    ranks = list(range({RECORDS}))
    choose.shuffle(ranks)
    while True:  # the inverse of the sum of 1/n, which is about the logarithm
        yield ranks[min(int(({RECORDS} + 1) ** choose.random()) - 1, {RECORDS} - 1)]
def scans():
    hot, cold = {RECORDS} // 5, 0
    while True:
        for _ in range(64):
            yield hot + cold
            cold = (cold + 1) % ({RECORDS} - hot)
        for _ in range(64):
            yield choose.randrange(hot)
print(os.getpid(), flush=True)
sys.stdin.readline()
blocks = globals()[sys.argv[1]]()
for _ in range({READS}):
    os.pread(file, {RECORD_BYTES}, next(blocks) * {RECORD_BYTES})
"""
WORKLOADS = ("uniform", "zipf", "scans")


@dataclass(frozen=True, slots=True)
class Apart:
    """A figure of the two reports, both in percent."""

    workload: str
    figure: str
    full: float
    sample: float

    @property
    def points(self) -> float:
        """How far the sample's is from the full one, in percentage points."""
        return self.sample - self.full


def compare(guest: Guest, workload: str, folder: Path, say: Callable[[str], None]) -> list[Apart]:
    """Record a run twice at once, and give the figures of both reports.

    Raises ZmysqlError when a tracer lost records, or doesn't begin.
    """
    with guest.start(("python3", "-c", _READER, workload), feed=True) as reader:
        pid = next(reader.lines()).decode().strip()
        with _recording(guest, pid, 1) as full, _recording(guest, pid, RATE) as sample:
            _until_recording(full)
            _until_recording(sample)
            say(f"{workload}: reading {READS} records")
            reader.write(b"go\n")
            for tracer in (full, sample):
                if tracer.wait(_PATIENCE_S):
                    raise ZmysqlError(f"a recording of {workload} failed: {tracer.stderr()}")
    reports = [_report(guest, rate, folder) for rate in (1, RATE)]
    return [
        Apart(workload, name, *(_figures(report, reports[0])[name] for report in reports))
        for name in _figures(reports[0], reports[0])
    ]


def prepare(guest: Guest) -> None:
    """Make the pool, and the file that all workloads read."""
    script = (
        f"zpool list {POOL} >/dev/null 2>&1 && exit 0; "
        f"modprobe zfs; cd /sys/module/zfs/parameters; echo 1 > zfs_prefetch_disable; "
        f"echo {_ARC_BYTES // 2} > zfs_arc_min; echo {_ARC_BYTES} > zfs_arc_max; "
        f"truncate -s 512M /dev/shm/{POOL}; "  # emulated, a read of a disk takes longer than its trace
        f"zpool create -f -O atime=off -O recordsize={RECORD_BYTES} -O compression=off {POOL} /dev/shm/{POOL}; "
        f"dd if=/dev/urandom of=/{POOL}/records bs=1M count={RECORDS * RECORD_BYTES // (1 << 20) + 1} status=none; "
        f"zpool sync {POOL}"
    )
    guest.run(("sh", "-euc", script))


def _recording(guest: Guest, pid: str, rate: int) -> Process:
    where = ("-o", f"/root/{rate}.trace", "--overwrite")
    return guest.start(
        (
            "zmysql",
            "trace",
            "record",
            "--pid",
            pid,
            "--duration",
            f"{_PATIENCE_S:.0f}s",
            "--sample",
            f"1/{rate}",
            *where,
        )
    )


def _until_recording(tracer: Process) -> None:
    while "recording:" not in tracer.stderr():
        if tracer.poll() is not None:
            raise ZmysqlError(f"the tracer doesn't begin: {tracer.stderr()}")
        time.sleep(0.5)


def _report(guest: Guest, rate: int, folder: Path) -> dict[str, Any]:
    path = folder / f"{rate}.trace"
    guest.get(f"/root/{rate}.trace", path)
    report: dict[str, Any] = json.loads(
        Local().run((str(Path(sys.executable).with_name("zmysql")), "locality", "report", "-j", str(path))).stdout
    )
    if report["drops"] != 0:
        raise ZmysqlError(f"{path} has {report['drops']} drops: nothing can be compared")
    return report


def _figures(report: dict[str, Any], full: dict[str, Any]) -> dict[str, float]:
    """Give the figures that are compared, in percent; sizes are the full report's."""
    references, blocks = report["references"], report["distinct_blocks"]
    figures = {
        "reads of records read before": 1 - report["first_reads"] / references,
        "records read once": report["blocks_read_once"] / blocks,
        "records read more than twice": report["blocks_read_more_than_twice"] / blocks,
        "ARC hits, simulated": report["arc_hit_ratio"],
        "ARC and L2ARC hits, simulated": report["arc_and_l2arc_hit_ratio"],
    }
    for part in _PARTS:
        size = part * full["distinct_bytes"]
        figures[f"misses of a cache of {100 * part:.0f} % of the data"] = _miss_ratio(report["mrc"], size)
    return {name: 100 * value for name, value in figures.items()}


def _miss_ratio(curve: list[dict[str, float]], cache_bytes: float) -> float:
    """Give the miss ratio at a size, on a line between the points of the curve."""
    after = next((at for at, point in enumerate(curve) if point["cache_bytes"] >= cache_bytes), len(curve) - 1)
    left, right = curve[max(after - 1, 0)], curve[after]
    width = right["cache_bytes"] - left["cache_bytes"]
    share = min((cache_bytes - left["cache_bytes"]) / width, 1.0) if width else 1.0
    return left["miss_ratio"] + share * (right["miss_ratio"] - left["miss_ratio"])

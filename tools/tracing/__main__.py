"""Measures in the testbed what the scripts cost, and how far the report of a sample is from that of the full trace.

usage: python -m tracing [overhead|sampled] [--only SCRIPT]… [--pairs N] [--seconds S] [--name TESTBED] [--keep]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy.machine import POOLS, SYSBENCH, Machine
from accuracy.workloads import TABLE_ROWS

from tracing.overhead import FOLDER, LONGEST_S, Load, Variant, measure
from tracing.sampled import WORKLOADS, Apart, compare, prepare
from zmysql.errors import ZmysqlError
from zmysql.host import Local
from zmysql.testbed.vm import Testbed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracing.overhead import Cost

ROOT = Path(__file__).parents[2]
LIMIT_RATIO, LIMIT_POINTS = 0.97, 2.0
# The script's own end, should we be gone.
FOR_AN_HOUR = "3600"
VARIANTS = (
    Variant("blkaccess.d 1/64", "blkaccess.d", ("PID", FOR_AN_HOUR, "64")),
    Variant("blkaccess.bt 1/64", "blkaccess.bt", ("PID", FOR_AN_HOUR, "64")),
    Variant("blkaccess.d", "blkaccess.d", ("PID", FOR_AN_HOUR)),
    Variant("blkaccess.bt", "blkaccess.bt", ("PID", FOR_AN_HOUR)),
    Variant("vdevio.d", "vdevio.d", (FOR_AN_HOUR,)),
    Variant("zilcommit.d", "zilcommit.d", (FOR_AN_HOUR,)),
)
LIMITED = frozenset(one.name for one in VARIANTS[:2])
begun = time.monotonic()


def say(text: str) -> None:
    """Print what is going on, with the seconds since the start."""
    print(f"[{time.monotonic() - begun:5.0f} s] {text}", flush=True)


def overhead(name: str, variants: Sequence[Variant], *, pairs: int, seconds: float, keep: bool) -> list[Cost]:
    """Measure each script under sysbench's point selects on a pool, with a buffer pool that holds next to nothing."""
    bed = Testbed(name)
    try:
        machine = Machine(bed, say)
        machine.boot()
        pool = POOLS[16 << 10][0]
        machine.empty(pool, 128 << 20)
        machine.start_mysqld(pool, "5M")
        machine.sh(f"rm -rf {FOLDER}; mkdir {FOLDER}")
        for path in sorted((ROOT / "dscripts").glob("*.*")):
            if path.suffix in (".d", ".bt"):
                machine.guest.put(path, f"{FOLDER}/{path.name}")
        size = ("--tables=1", f"--table-size={TABLE_ROWS}", "--threads=2", f"--time={LONGEST_S}", "--events=0")
        bench = ("sysbench", "oltp_point_select", *SYSBENCH, *size, "--rand-type=uniform", "--report-interval=1", "run")
        with machine.guest.start(bench) as process:
            load = Load(process)
            load.window(30)  # the caches fill
            costs = [measure(machine, load, one, pairs=pairs, seconds=seconds) for one in variants]
            machine.sh("pkill -x sysbench || true")
        return costs
    finally:
        if not keep:
            bed.down()


def sampled(name: str, *, keep: bool) -> list[Apart]:
    """Compare the reports of full traces and samples of the same runs."""
    bed = Testbed(name)
    try:
        if not bed.is_up():
            bed.down()
            bed.up(say, ("hdd-instant:1G",), memory_bytes=2 << 30)
        prepare(bed.host())
        Local().run([*f"{sys.executable} -m pip wheel -q --no-deps --no-build-isolation -w dist".split(), str(ROOT)])
        bed.host().install(max((ROOT / "dist").glob("zmysql-*.whl"), key=lambda path: path.stat().st_mtime))
        with tempfile.TemporaryDirectory() as folder:
            return [apart for load in WORKLOADS for apart in compare(bed.host(), load, Path(folder), say)]
    finally:
        if not keep:
            bed.down()


def overhead_table(costs: list[Cost]) -> str:
    """Give the table for docs/tracing.md."""
    rows = [
        "| script | without, /s | with, /s | left, median | smallest, largest | lines/s |",
        "|---|---|---|---|---|---|",
    ]
    for one in costs:
        mean = [sum(side) / len(side) for side in (one.without, one.traced)]
        left = " | ".join((f"{one.median:.3f}", f"{min(one.ratios):.3f}, {max(one.ratios):.3f}"))
        rows.append(f"| `{one.variant}` | {mean[0]:.1f} | {mean[1]:.1f} | {left} | {one.lines:.1f} |")
    return "\n".join(rows)


def sampled_table(found: list[Apart]) -> str:
    """Give the table for docs/tracing.md."""
    rows = ["| workload | figure | full | 1/64 | points apart |", "|---|---|---|---|---|"]
    rows += [
        f"| {one.workload} | {one.figure} | {one.full:.1f} % | {one.sample:.1f} % | {one.points:+.1f} |"
        for one in found
    ]
    return "\n".join(rows)


def main() -> int:
    """Measure what was asked for; the status is 1 when a figure is beyond its limit."""
    parser = argparse.ArgumentParser(prog="tracing", description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["overhead", "sampled"], help="one of the two")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", action="append", choices=[one.name for one in VARIANTS], help="one script; repeat it")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each window")
    parser.add_argument("--name", default="tracing", help="of the testbed")
    parser.add_argument("--keep", action="store_true", help="leave the testbed up")
    asked = parser.parse_args()
    good = True
    if asked.what in (None, "sampled"):
        found = sampled(f"{asked.name}-s", keep=asked.keep)
        print(sampled_table(found))
        beyond = [one for one in found if abs(one.points) > LIMIT_POINTS]
        print(f"within {LIMIT_POINTS:g} points: {len(found) - len(beyond)} of {len(found)}")
        good = not beyond
    if asked.what in (None, "overhead"):
        variants = [one for one in VARIANTS if asked.only is None or one.name in asked.only]
        costs = overhead(asked.name, variants, pairs=asked.pairs, seconds=asked.seconds, keep=asked.keep)
        print(overhead_table(costs))
        slow = [one.variant for one in costs if one.variant in LIMITED and one.median < LIMIT_RATIO]
        print(f"below {LIMIT_RATIO:g} of the throughput, of those that may not be: {', '.join(slow) or 'none'}")
        good = good and not slow
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ZmysqlError as error:
        sys.exit(f"tracing: {error}")

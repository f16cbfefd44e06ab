"""Sampled miss-ratio curves: against libCacheSim's SHARDS on the same file, against the exact curve, and without end.

Both are compared by wall time, as ours sifts the reads in a second thread, so that needs a quiet machine; the ratio of
the processor's times is in brackets.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from bench.libcachesim import Tools, tools
from bench.process import measured
from bench.rust import example
from bench.traces import REFERENCES, Trace, traces
from zmysql.locality.profile import profile
from zmysql.locality.reads import load
from zmysql.locality.sampled import parse_sample, sampled
from zmysql.trace.format import read_header
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS = 5
RATE, BLOCKS = "0.01", "8192"
LEAST_PER_S, LEAST_RATIO, MOST_ERROR, MOST_BYTES = 1e9, 4, 0.01, 64 << 20
ENDLESS = 1_000_000_000
RECORDED = Path(__file__).parents[2] / "tests" / "data" / "arc"


def run() -> bool:
    """Print the medians; give whether all limits hold."""
    peer, ours = tools(), str(example("shards"))
    held = [limit for trace in traces(REFERENCES) for limit in (_speed(trace, peer, ours), _error(trace, ours))]
    return all([*held, _recorded(), _endless(ours)])


def _speed(trace: Trace, peer: Tools, ours: str) -> bool:
    said = []
    held = True
    for size, params in ((RATE, f"FIX_RATE,{RATE},42"), (BLOCKS, f"FIX_SIZE,{BLOCKS},42")):
        their_argv = (
            str(peer.mrc_profiler), str(trace.oracle), "oracleGeneral", "--algo=LRU", "--profiler=SHARDS",
            f"--profiler-params={params}", f"--size={trace.references // 10}B",
        )  # fmt: skip
        pairs = [
            (measured(their_argv), measured((ours, "oracle", str(trace.oracle), size, str(trace.references // 10))))
            for _ in range(RUNS)
        ]
        ratio = statistics.median(theirs.wall_s / one.wall_s for theirs, one in pairs)
        of_cpu = statistics.median(theirs.cpu_s / one.cpu_s for theirs, one in pairs)
        lines = measured((ours, "memory", str(trace.ids), size, str(RUNS))).output.splitlines()
        per_s = statistics.median(float(line.split()[0]) * 1e6 for line in lines)
        said.append(
            f"{size}: in memory {per_s / 1e6:.0f} M/s, as a process {ratio:.1f} [{of_cpu:.1f}] times mrcProfiler"
        )
        if size == RATE:
            held = per_s >= LEAST_PER_S and ratio >= LEAST_RATIO
    print(
        f"sampled curve, {trace.kind:7} {'; '.join(said)} (limits at {RATE}: {LEAST_PER_S / 1e6:.0f} M/s,"
        f" {LEAST_RATIO} times)"
    )
    return held


def _error(trace: Trace, ours: str) -> bool:
    sizes = [str(trace.distinct * part // 100) for part in range(1, 101)]
    exact = _column(measured((str(example("exact")), "curve", str(trace.oracle), "2", "best", *sizes)).output, 1)
    said = []
    held = True
    for size in ("0.1", RATE, "0.001", BLOCKS):
        output = measured((ours, "oracle", str(trace.oracle), size, *sizes)).output
        offs = [abs(one - right) for one, right in zip(_column(output, 1), exact, strict=True)]
        within = [off <= 2 * error for off, error in zip(offs, _column(output, 2), strict=True)]
        mean = statistics.mean(offs)
        said.append(f"{size}: {mean:.4f}, at most {max(offs):.3f}, {sum(within)} % within twice the standard error")
        held &= size != RATE or mean <= MOST_ERROR
    print(f"sampled curve, {trace.kind:7} mean absolute error {'; '.join(said)} (limit at {RATE}: {MOST_ERROR})")
    return held


def _column(output: str, number: int) -> Sequence[float]:
    return [float(line.split()[number]) for line in output.splitlines()]


def _recorded() -> bool:
    """Look at recorded traces, which are short: a rate has a least number of blocks."""
    held = True
    for path in sorted(RECORDED.glob("*/trace.gz")):
        header = read_header(path)
        reads = load(path, header)
        flat = profile(reads, header, ()).flat_bytes or 1
        sizes = [flat * part // 100 for part in range(1, 101)]
        right = profile(reads, header, sizes)
        found = sampled(path, header, sizes, parse_sample(RATE))
        off = statistics.mean(abs(found.profile.hits[size] - right.hits[size]) / right.references for size in sizes)
        print(
            f"sampled curve, {path.parent.name}: mean absolute error {off:.4f} (limit {MOST_ERROR}) with"
            f" {found.sampled_blocks:,} of {right.distinct_blocks:,} blocks"
        )
        held &= off <= MOST_ERROR
    return held


def _endless(ours: str) -> bool:
    took = measured((ours, "endless", str(ENDLESS), BLOCKS))
    print(
        f"sampled curve of {ENDLESS:,} reads with {BLOCKS} blocks: {took.output.strip()};"
        f" {format_size(took.peak_bytes)} of memory (limit {format_size(MOST_BYTES)})"
    )
    return took.peak_bytes <= MOST_BYTES

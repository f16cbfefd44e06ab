"""Simulated caches against libCacheSim's, in the same run: equal hits, and how many times as fast.

The textbook's ARC and LRU stand in both. libCacheSim's time is that of its whole process; ours is that on a trace which
is in memory with its blocks numbered, as it is for every analysis after the first, and on one core. What OpenZFS's own
ARC costs, which no other simulator has, is printed beside.
"""

from __future__ import annotations

import re
import statistics
import tempfile
from typing import TYPE_CHECKING

from bench.clock import seconds
from bench.libcachesim import tools
from bench.traces import traces
from zmysql.host import Local
from zmysql.locality import _engine
from zmysql.locality.simulation import Case, simulate
from zmysql.trace.format import Header

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.traces import Trace

RUNS = 3
SIZE = 1_000_000
SWEEP = tuple(30_000 * step for step in range(1, 97))
SAMPLE = 0.01
AT_LEAST = {"one size": 4, "96 sizes": 50}
# Hits of libCacheSim 0.3.5's Python binding, which gives them exactly, where the program prints a ratio of four digits.
HITS = {
    ("zipf", "arc"): 16_206_868,
    ("zipf", "lru"): 15_958_767,
    ("uniform", "arc"): 1_947_420,
    ("uniform", "lru"): 1_949_295,
    ("scan", "arc"): 9_524_664,
    ("scan", "lru"): 9_124_940,
}


def run() -> bool:
    """Print a line for each comparison; False where hits differ or a limit is missed."""
    held = [_measure(trace) for trace in traces()]
    return all(held)


def _measure(trace: Trace) -> bool:
    reads = _engine.reads_of(trace.ids.read_bytes())
    held = True
    for algorithm in ("lru", "arc"):
        (hits,) = _engine.classic_hits(reads, algorithm, [SIZE], sample=1.0, threads=2)
        ratio = _peer(trace, algorithm, (SIZE,))
        equal = hits == HITS[trace.kind, algorithm] and abs(1 - hits / trace.references - ratio) < 1e-4  # noqa: PLR2004 - the digits that it prints
        print(
            f"{trace.kind:8} {algorithm.upper()} of {SIZE:,}: {hits:,} hits, {'as' if equal else 'NOT as'} libCacheSim"
        )
        held &= equal
    held &= _compare(
        trace,
        "one size",
        lambda: _engine.classic_hits(reads, "arc", [SIZE], sample=1.0, threads=1),
        lambda: _peer(trace, "arc", (SIZE,)),
    )
    held &= _compare(
        trace,
        "96 sizes",
        lambda: _engine.classic_hits(reads, "arc", list(SWEEP), sample=SAMPLE, threads=1),
        lambda: _peer(trace, "arc", tuple(round(size * SAMPLE) for size in SWEEP), SAMPLE),
    )
    header, case = Header(complete=True), Case(None, SIZE * 16384)
    own = seconds(lambda: simulate(reads, header, [case], threads=1))
    print(f"{trace.kind:8} OpenZFS's ARC of {SIZE:,} records: {trace.references / own / 1e6:.1f} M reads/s")
    return held


def _compare(trace: Trace, what: str, ours: Callable[[], object], theirs: Callable[[], object]) -> bool:
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(RUNS)]
    ratio = statistics.median(peer / own for own, peer in pairs)
    own, peer = (statistics.median(column) for column in zip(*pairs, strict=True))
    least = AT_LEAST[what]
    print(
        f"{trace.kind:8} ARC, {what}: {own:.2f} s, libCacheSim {peer:.2f} s; {ratio:.1f} times as fast"
        f" (at least {least}{'' if ratio >= least else ': MISSED'})"
    )
    return ratio >= least


def _peer(trace: Trace, algorithm: str, sizes: tuple[int, ...], sample: float = 1.0) -> float:
    """Run libCacheSim's simulator on one thread, and give the miss ratio that it prints for the first size."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = ",".join(map(str, sizes))
        options = ("--ignore-obj-size", "1", "--num-thread", "1", "-s", str(sample), "-o", f"{folder}/result")
        argv = (str(tools().cachesim), str(trace.oracle), "oracleGeneral", algorithm.upper(), wanted, *options)
        found = re.search(r"miss ratio ([0-9.]+)", Local().run(argv).stdout)
        return float(found[1]) if found else -1.0

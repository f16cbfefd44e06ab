"""Exact miss-ratio curves and reference counts: our whole process against libCacheSim's, on the same file, in turn.

Both read oracleGeneral records from the page cache, and give the miss ratios of an LRU cache at the same sizes (ours
holds those of all sizes then). On one thread, times are the processor's, which other load on the machine changes least;
wall times are in brackets. Two threads are compared by wall time, so that needs a quiet machine.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.libcachesim import Tools, tools
from bench.process import Took, measured
from bench.rust import example
from bench.traces import KINDS, REFERENCES, Trace, traces
from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS = 5
QUICK_REFERENCES = 1_000_000
LEAST_RATIO, LEAST_SPEEDUP, MOST_BYTES, LEAST_COUNTS_RATIO = 40, 1.4, 24, 15
# traceAnalyzer takes 300 bytes a reference and more: on the whole trace more memory than many machines have.
COUNTED_SHARE = 4
PRINTED = 2e-6  # mrcProfiler prints six digits
GROWTH = (1_000_000, 10_000_000, 100_000_000)


def run() -> bool:
    """Print the medians; give whether all limits hold."""
    return measure(REFERENCES, RUNS)


def measure(references: int, runs: int) -> bool:
    """Do that for traces of this length."""
    peer, ours = tools(), str(example("exact"))
    curves = [_curve(trace, peer, ours, runs) for trace in traces(references)]
    counts = [_counts(trace, peer, ours, runs) for trace in traces(references // COUNTED_SHARE)]
    _growth(ours, references)
    return all(curves) and all(counts)


def _curve(trace: Trace, peer: Tools, ours: str, runs: int) -> bool:
    sizes = [str(max(1, trace.references * share // 200)) for share in range(1, 101)]
    their_argv = (
        str(peer.mrc_profiler), str(trace.oracle), "oracleGeneral", "--algo=LRU", "--profiler=SHARDS",
        "--profiler-params=FIX_RATE,1,42", "--size=" + ",".join(f"{size}B" for size in sizes),
    )  # fmt: skip
    one_argv, two_argv = ((ours, "curve", str(trace.oracle), threads, "best", *sizes) for threads in ("1", "2"))
    plain_argv = (*one_argv[:4], "0", *sizes)
    rounds = []
    for _ in range(runs):
        theirs, one, two, plain = (measured(argv) for argv in (their_argv, one_argv, two_argv, plain_argv))
        _same(_miss_ratios(theirs), [float(line.split()[1]) for line in one.output.splitlines()])
        if not one.output == two.output == plain.output:
            raise ZmysqlError("the engine's answer depends on threads or on the processor's instructions")
        rounds.append((theirs, one, two, plain))
    theirs, one, two, plain = (_median([took[at] for took in rounds]) for at in range(4))
    ratio = statistics.median(theirs.cpu_s / one.cpu_s for theirs, one, _, _ in rounds)
    speedup = statistics.median(one.wall_s / two.wall_s for _, one, two, _ in rounds)
    peak = max(took.peak_bytes for took in (one, two)) / trace.references
    millions = trace.references / 1e6
    print(
        f"exact curve, {trace.kind:7} {millions:g} M references, {trace.distinct / 1e6:.1f} M distinct: "
        f"{millions / one.cpu_s:.1f} M/s [{millions / one.wall_s:.1f}], mrcProfiler {millions / theirs.cpu_s:.2f} "
        f"[{millions / theirs.wall_s:.2f}]: {ratio:.1f} times as fast (limit {LEAST_RATIO}); two threads "
        f"{speedup:.2f} times one (limit {LEAST_SPEEDUP}); portable code {millions / plain.cpu_s:.1f} M/s; "
        f"{peak:.1f} bytes a reference (limit {MOST_BYTES}), mrcProfiler {theirs.peak_bytes / trace.references:.0f}"
    )
    return ratio >= LEAST_RATIO and speedup >= LEAST_SPEEDUP and peak <= MOST_BYTES


def _miss_ratios(took: Took) -> list[float]:
    table = took.output[took.output.index("cache_size") :].splitlines()[1:]
    return [float(line.split()[1]) for line in table if line.strip()]


def _same(theirs: Sequence[float], ours: Sequence[float]) -> None:
    if len(theirs) != len(ours) or any(abs(one - other) > PRINTED for one, other in zip(theirs, ours, strict=True)):
        raise ZmysqlError("mrcProfiler's miss ratios aren't the engine's")


def _counts(trace: Trace, peer: Tools, ours: str, runs: int) -> bool:
    rounds = []
    for _ in range(runs):
        # It writes files into the folder it runs in.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            theirs = measured((str(peer.trace_analyzer), str(trace.oracle), "oracleGeneral", "--common"))
        one = measured((ours, "counts", str(trace.oracle), "1"))
        once, more, _ = (int(word) for word in one.output.split())
        if once + more != trace.distinct:
            raise ZmysqlError("the counts don't come to the number of distinct blocks")
        rounds.append((theirs, one))
    theirs, one = (_median([took[at] for took in rounds]) for at in range(2))
    ratio = statistics.median(theirs.cpu_s / one.cpu_s for theirs, one in rounds)
    millions = trace.references / 1e6
    print(
        f"reference counts, {trace.kind:7} {millions:g} M references: {millions / one.cpu_s:.1f} M/s, "
        f"traceAnalyzer --common {millions / theirs.cpu_s:.2f}: {ratio:.1f} times as fast "
        f"(limit {LEAST_COUNTS_RATIO}); {one.peak_bytes / trace.references:.0f} bytes a reference, "
        f"traceAnalyzer {theirs.peak_bytes / trace.references:.0f}"
    )
    return ratio >= LEAST_COUNTS_RATIO


def _growth(ours: str, references: int) -> list[tuple[str, int, float]]:
    """Print how the time of a reference grows with their number; give (trace, references, seconds of the processor)."""
    found = []
    for kind in KINDS:
        said = []
        for count in (count for count in GROWTH if count <= 5 * references):
            trace = traces(count, (kind,))[0]
            took = _median([measured((ours, "curve", str(trace.oracle), "1", "best", "1")) for _ in range(3)])
            said.append(f"{count / 1e6:g} M {took.cpu_s / count * 1e9:.1f} ns")
            found.append((kind, count, took.cpu_s))
        print(f"exact curve, {kind:7} processor time a reference: {', '.join(said)}")
    return found


def draw_growth(out: Path) -> None:
    """Measure the growth, and draw it on two logarithmic axes, where what is linear is a line at 45 degrees."""
    import altair as alt  # noqa: PLC0415 - for the documentation's picture alone

    rows = [
        {"trace": kind, "references": count, "seconds": seconds}
        for kind, count, seconds in _growth(str(example("exact")), REFERENCES)
    ]
    chart = alt.Chart(alt.InlineData(values=rows), width=420, height=280).mark_line(point=True)
    seconds = alt.Y("seconds:Q", title="seconds of the processor").scale(type="log")
    references = alt.X("references:Q", title="references").scale(type="log").axis(format="~s")
    chart.encode(x=references, y=seconds, color="trace:N").save(str(out))


def _median(took: Sequence[Took]) -> Took:
    return Took(
        statistics.median(one.wall_s for one in took),
        statistics.median(one.cpu_s for one in took),
        max(one.peak_bytes for one in took),
        took[0].output,
    )


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a million references, three runs")
    parser.add_argument("--growth", type=Path, metavar="OUT.svg", help="only how time grows, drawn")
    given = parser.parse_args()
    if given.growth:
        draw_growth(given.growth)
    else:
        measure(*((QUICK_REFERENCES, 3) if given.quick else (REFERENCES, RUNS)))


if __name__ == "__main__":
    _main()

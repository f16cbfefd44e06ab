"""How long a whole report takes, from file to file: every section, candidates and simulation, and the page."""

from __future__ import annotations

import statistics
import sys
import tempfile
from itertools import starmap
from pathlib import Path

from bench.process import measured
from bench.traces import text_trace
from zmysql.units import format_size

ZMYSQL = str(Path(sys.executable).with_name("zmysql"))
# A working set of 25 GiB for each 10 M reads: caches that hold parts of it.
SIZES = ("--arc", "4G", "--l2arc", "16G", "--db-size", "1T")
MOST_S = {10_000_000: 10, 100_000_000: 90}
RUNS = {10_000_000: 3, 100_000_000: 1}


def run() -> bool:
    """Print the medians; give whether all limits hold."""
    return all(list(starmap(_report, MOST_S.items())))


def _report(references: int, most_s: float) -> bool:
    path = str(text_trace("zipf", references))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        argv = (ZMYSQL, "locality", "report", path, "--json", "--html", str(page), "--overwrite", *SIZES)
        took = [measured(argv) for _ in range(RUNS[references])]
        page_bytes = page.stat().st_size
    wall_s = statistics.median(one.wall_s for one in took)
    cpu_s = statistics.median(one.cpu_s for one in took)
    print(
        f"a whole report of {references / 1e6:g} M reads: {wall_s:.1f} s (limit {most_s}), of the processor's time"
        f" {cpu_s:.1f} s, {format_size(took[0].peak_bytes)} of memory, a page of {format_size(page_bytes)}"
    )
    return wall_s <= most_s

"""How fast a trace is read: its text from memory on one core, and a file with all that loading it takes.

Times of the first are the processor's, those of the second wall times, as unpacking runs in a thread of its own.
"""

from __future__ import annotations

import statistics

from bench.clock import seconds
from bench.process import measured
from bench.rust import example
from bench.traces import text_trace
from zmysql.host import Local

TIMES = 10
RUNS = 5
LEAST_BYTES_PER_S = 1e9
REFERENCES = 10_000_000


def run() -> bool:
    """Print the medians; give whether the text is parsed as fast as it should be."""
    held = _parsing()
    _loading()
    return held


def _parsing() -> bool:
    program = str(example("parsing"))
    speeds = []
    for _ in range(RUNS):
        # Making the text isn't to be counted: it is done once in both.
        once, often = measured((program, "0")), measured((program, str(TIMES)))
        speeds.append(TIMES * int(once.output) / (often.cpu_s - once.cpu_s))
    speed = statistics.median(speeds)
    print(f"parsing from memory: {speed / 1e9:.2f} GB/s a core (limit {LEAST_BYTES_PER_S / 1e9:g})")
    return speed >= LEAST_BYTES_PER_S


def _loading() -> None:
    program, path = str(example("loading")), text_trace("zipf", REFERENCES)
    rounds = []
    for _ in range(RUNS):
        gzip = seconds(lambda: Local().run(["sh", "-c", 'exec gzip -dc "$1" >/dev/null', "sh", str(path)]))
        steps = dict(line.split(maxsplit=1) for line in measured((program, str(path))).output.splitlines())
        rounds.append((gzip, *(float(steps[step].split()[0]) for step in ("unpack", "parse", "load"))))
    gzip, unpack, parse, load = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(
        f"a trace of {REFERENCES:,} reads: gzip -dc {gzip:.2f} s, unpacked {unpack:.2f} s, with its lines parsed"
        f" {parse:.2f} s, with its blocks numbered {load:.2f} s"
    )

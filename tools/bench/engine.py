"""What the engine does, as ratios to a limit measured in the same run.

The limit is gzip(1) unpacking the same trace: no reader of the file can be done before its text is there. Runs are
interleaved, and medians are quoted, since machines are noisy.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.clock import seconds
from zmysql.host import Local
from zmysql.locality.profile import profile
from zmysql.locality.reads import load
from zmysql.trace.format import Dataset, Header, read_header
from zmysql.trace.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

REFERENCES = 1_000_000
RUNS = 5
RECORD_BYTES = 16384


def skewed(random_source: random.Random) -> int:
    """Give a block as hot and cold rows are read: Pareto, some hundred thousand distinct."""
    return int(random_source.paretovariate(0.5)) % 4_000_000


def uniform(random_source: random.Random) -> int:
    """Give a block of two million, each as likely: the worst case for every cache, the processor's too."""
    return random_source.randrange(2_000_000)


def write_trace(path: Path, block: Callable[[random.Random], int]) -> Header:
    """Write a trace of a million reads and give its header."""
    source = random.Random(7)  # noqa: S311 - the same trace on every machine, not a secret
    header = Header(
        complete=True, sampling="1/1", records=REFERENCES, drops=0, datasets={1: Dataset("tank", RECORD_BYTES)}
    )
    writer = Writer(path, header)
    for number in range(REFERENCES):
        writer.write(b"%d 1 2 0 %d %d miss\n" % (number * 1000, block(source), RECORD_BYTES))
    writer.close(header)
    return read_header(path)


def run() -> bool:
    """Print a line a trace; there is no limit to miss."""
    with tempfile.TemporaryDirectory() as folder:
        for block in (skewed, uniform):
            path = Path(folder) / f"{block.__name__}.trace.gz"
            header = write_trace(path, block)
            pairs = [
                (
                    seconds(lambda: profile(load(path, header), header, {1 << 30})),  # noqa: B023 - called at once
                    seconds(lambda: Local().run(["sh", "-c", 'exec gzip -dc "$1" >/dev/null', "sh", str(path)])),  # noqa: B023
                )
                for _ in range(RUNS)
            ]
            engine, limit = (statistics.median(column) for column in zip(*pairs, strict=True))
            ratio = statistics.median(ours / theirs for ours, theirs in pairs)
            print(
                f"{block.__name__:8} {REFERENCES:,} reads: exact profile {REFERENCES / engine / 1e6:.1f} M reads/s, "
                f"gzip -dc alone {REFERENCES / limit / 1e6:.1f} M reads/s; time ratio {ratio:.2f}"
            )
    return True

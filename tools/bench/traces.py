"""Three synthetic traces for every measurement of the engine: the same on each machine, kept in the cache.

`python -m bench.traces [--references N]` writes those that aren't there yet and prints their paths.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.rust import ENGINE, example
from zmysql.host import Local
from zmysql.testbed.image import cache_dir, locked
from zmysql.trace.format import Dataset, Header, header_text

if TYPE_CHECKING:
    from pathlib import Path

# For 20 M references: zipf 1.0 has 3.1 M distinct blocks, uniform 8.7 M, scan mixed with reuse 7.0 M.
KINDS = ("zipf", "uniform", "scan")
REFERENCES = 20_000_000
RECORD_BYTES = 16384


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace in the forms that the measured programs read.

    `oracle` is libCacheSim's oracleGeneral: 24 bytes a record (u32 second, u64 id, u32 size = 1, i64 next access = -2,
    which stands for "not known"). `ids` is u64 ids alone, little-endian. Both have the same ids in the same order.
    """

    kind: str
    references: int
    distinct: int
    oracle: Path
    ids: Path


def traces(references: int = REFERENCES, kinds: tuple[str, ...] = KINDS) -> tuple[Trace, ...]:
    """Give the traces, with their numbers of distinct blocks in proportion to that of the references."""
    return tuple(_trace(kind, references) for kind in kinds)


def text_trace(kind: str, references: int) -> Path:
    """Give a trace in zmysql's own format, with blocks of 16 KiB and a read each ten microseconds."""
    return _made(kind, references, "trace.gz")[0]


def _trace(kind: str, references: int) -> Trace:
    oracle, distinct = _made(kind, references, "oracle")
    ids, _ = _made(kind, references, "ids")
    return Trace(kind, references, distinct, oracle, ids)


def _made(kind: str, references: int, form: str) -> tuple[Path, int]:
    """Give the file and how many distinct blocks it has; write it if the cache doesn't have it."""
    recipe = hashlib.sha256((ENGINE / "examples" / "traces.rs").read_bytes()).hexdigest()[:12]
    path = cache_dir() / "bench" / f"traces-{recipe}" / f"{kind}-{references}.{form}"
    about = path.with_name(path.name + ".json")
    with locked(path.with_name(path.name + ".lock")):
        if not about.exists():
            print(f"  writing {path}", file=sys.stderr)
            header = Header(
                complete=True, sampling="1/1", records=references, drops=0, datasets={1: Dataset("tank", RECORD_BYTES)}
            )
            argv = (str(example("traces")), kind, str(references), form, str(path))
            about.write_text(Local().run(argv, stdin=header_text(header)).stdout)
    return path, json.loads(about.read_text())["distinct"]


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--references", type=int, default=REFERENCES)
    for trace in traces(parser.parse_args().references):
        print(f"{trace.kind}: {trace.distinct:,} distinct\n  {trace.oracle}\n  {trace.ids}")


if __name__ == "__main__":
    _main()

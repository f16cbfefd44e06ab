"""Keeps a capture as data of the tests: small, and with all that its comparison needs."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Times to a tenth of a millisecond, of which nothing depends: nanoseconds are most of a compressed trace.
TICK_NS = 100_000


def keep(capture: Path, folder: Path) -> None:
    """Write a capture into `folder` with the first and the last sample of arcstats, and rounded times."""
    folder.mkdir(parents=True, exist_ok=True)
    context = json.loads((capture / "context.json").read_text())
    samples = context["samples"]
    context["samples"] = [
        {"since_1970_ns": sample["since_1970_ns"], "arcstats": sample["arcstats"]}
        for sample in (samples[0], samples[-1])
    ]
    (folder / "context.json").write_text(json.dumps(context, indent=1) + "\n")
    with gzip.open(capture / "trace.gz", "rt") as lines:
        text = "".join(line if line.startswith("#") else _rounded(line) for line in lines)
    (folder / "trace.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _rounded(line: str) -> str:
    time_ns, _, rest = line.partition(" ")
    return f"{int(time_ns) // TICK_NS * TICK_NS} {rest}"

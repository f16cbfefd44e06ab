"""Runs in the guest: prints ZFS's counters every other second, and once more when its standard input ends.

usage: python3 sampler.py SECONDS KSTAT…
"""

from __future__ import annotations

import json
import select
import sys
import time
from pathlib import Path


def counters(path: str) -> dict[str, int]:
    """Give the numbers of a kstat: lines of name, type and value."""
    rows = (line.split() for line in Path(path).read_text(encoding="ascii").splitlines()[2:])
    return {row[0]: int(row[2]) for row in rows if row[2].lstrip("-").isdigit()}


while True:
    sample = {Path(path).name: counters(path) for path in sys.argv[2:]}
    print(json.dumps({"since_1970_ns": time.time_ns(), **sample}), flush=True)
    if select.select([sys.stdin], [], [], 0)[0]:
        break
    select.select([sys.stdin], [], [], float(sys.argv[1]))

"""Runs every measurement; the exit status is 1 when a limit is missed.

usage: python -m bench [engine] [exact] [discovery] [creating] [simulation] [parsing] [shards] [report]
"""

from __future__ import annotations

import sys

from bench import creating, discovery, engine, exact, parsing, report, shards, simulation
from zmysql.errors import ZmysqlError

ALL = {
    "engine": engine.run,
    "exact": exact.run,
    "discovery": discovery.run,
    "creating": creating.run,
    "simulation": simulation.run,
    "parsing": parsing.run,
    "shards": shards.run,
    "report": report.run,
}

if __name__ == "__main__":
    try:
        held = [ALL[name]() for name in sys.argv[1:] or ALL]
    except ZmysqlError as error:
        print(f"zmysql: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    sys.exit(0 if all(held) else 1)

"""Runs workloads against the real ARC and simulates them; the exit status is 1 when one differs by more than the limit.

Captures stay in --to, so that --from can simulate them again without the testbed.

usage: python -m accuracy [--only NAME]… [--name TESTBED] [--keep] [--to DIR | --from DIR] [--write-docs]
       [--write-tests]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from accuracy.capture import capture
from accuracy.comparison import COLUMNS, LIMIT, WISHED, row
from accuracy.keep import keep
from accuracy.machine import Machine
from accuracy.measured import load_capture
from accuracy.page import page
from accuracy.simulation import compare
from accuracy.workloads import ALL, TABLE_BYTES, TABLES, TESTED
from zmysql.errors import ZmysqlError
from zmysql.testbed.image import cache_dir
from zmysql.testbed.vm import Testbed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accuracy.comparison import Compared
    from accuracy.workloads import Workload

ROOT = Path(__file__).parents[2]
begun = time.monotonic()


def say(text: str) -> None:
    """Print what is going on, with the seconds since the start."""
    print(f"[{time.monotonic() - begun:5.0f} s] {text}", flush=True)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="accuracy", description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=[load.name for load in ALL], help="one workload; repeat it")
    parser.add_argument("--name", default="accuracy", help="of the testbed")
    parser.add_argument("--keep", action="store_true", help="leave the testbed up, with the tables on it")
    parser.add_argument("--to", type=Path, default=cache_dir() / "accuracy", help="where captures go")
    parser.add_argument("--from", dest="captures", type=Path, help="simulate what was captured there; no testbed")
    parser.add_argument("--write-docs", action="store_true", help="write docs/accuracy.md")
    parser.add_argument("--write-tests", action="store_true", help="keep some captures as data of the tests")
    return parser.parse_args()


def record(name: str, loads: Sequence[Workload], folder: Path, *, keep: bool) -> None:
    """Run the workloads in a testbed, and leave what was recorded in a folder."""
    bed = Testbed(name)
    try:
        machine = Machine(bed, say)
        machine.boot()
        for load in loads:
            capture(machine, load, folder / load.name)
    finally:
        if not keep:
            bed.down()


def show(rows: Sequence[Compared]) -> None:
    """Print the table, and how many rows are within the limits."""
    table = Table(*COLUMNS)
    for one in rows:
        table.add_row(*row(one))
    Console(highlight=False, width=None if sys.stdout.isatty() else 220).print(table)
    for points in (LIMIT, WISHED):
        print(f"within {points:g} percentage points: {sum(one.within(points) for one in rows)} of {len(rows)}")
    for one in rows:
        if not one.within(LIMIT):
            print(f"{one.capture.workload.name} is off by more than {LIMIT:g} points")


def main() -> int:
    """Capture, unless captures are given, then compare."""
    given = arguments()
    named = {load.name: load for load in ALL}
    loads = [named[name] for name in given.only or named]
    if not given.captures:
        record(given.name, loads, given.to, keep=given.keep)
    folders = [(given.captures or given.to) / load.name for load in loads]
    rows = [compare(load_capture(folder)) for folder in folders]
    show(rows)
    if given.write_docs:
        (ROOT / "docs" / "accuracy.md").write_text(page(rows, TABLES * TABLE_BYTES))
    for load in loads if given.write_tests else ():
        if load.name in TESTED:
            keep((given.captures or given.to) / load.name, ROOT / "tests" / "data" / "arc" / load.name)
    return 0 if all(one.within(LIMIT) for one in rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ZmysqlError as error:
        print(f"zmysql: {error}", file=sys.stderr)
        sys.exit(error.exit_status)

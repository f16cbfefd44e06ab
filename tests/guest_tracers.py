"""Scripts that run at once in the guest around a workload, and the rows that they print."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zmysql.host import Host

# Runs in the guest: one connection, and signals that arrive.
_RUNNER = r"""
import json, signal, subprocess, sys, time
commands, workload = json.load(sys.stdin)
running = {}
for name, command in commands.items():
    out, err = open(f"/tmp/tracer-{name}.out", "w+"), open(f"/tmp/tracer-{name}.err", "w+")
    running[name] = (subprocess.Popen(command, stdout=out, stderr=err), out, err)
def text(file):
    file.seek(0)
    return file.read()
try:
    until = time.monotonic() + 240
    while not all("# began " in text(out) for _, out, _ in running.values()):
        for name, (tracer, _, err) in running.items():
            if tracer.poll() is not None or time.monotonic() > until:
                sys.exit(f"{name} doesn't run: {text(err)}")
        time.sleep(0.2)
    subprocess.run(["sh", "-euc", workload], check=True, stdout=sys.stderr)
    time.sleep(1)
    for tracer, _, _ in running.values():
        tracer.send_signal(signal.SIGINT)
    for tracer, _, _ in running.values():
        tracer.wait(60)
finally:
    for tracer, _, _ in running.values():
        tracer.kill()
json.dump({name: [text(out), text(err)] for name, (_, out, err) in running.items()}, sys.stdout)
"""


def trace(guest: Host, commands: Mapping[str, Sequence[str]], workload: str) -> dict[str, str]:
    """Start the tracers, run the workload when all have begun, end them as Ctrl-C does, and give what they printed.

    Raises AssertionError where a tracer says that it lost something.
    """
    text = guest.run(("python3", "-c", _RUNNER), stdin=json.dumps([commands, workload])).stdout
    printed = json.loads(text)
    for name, (_, error) in printed.items():
        assert "drop" not in error, (name, error)
        assert "Lost" not in error, (name, error)
    return {name: out for name, (out, _) in printed.items()}


def rows_of(text: str) -> list[dict[str, str]]:
    """Give the rows of a script's output by the names of their columns; the last may hold blanks.

    What the tracer draws, and what is for people, begins with a blank, #, @ or [.
    """
    lines = [line for line in text.splitlines() if line]
    named = next(at for at, line in enumerate(lines) if re.match(r"# (?!began |sampling )", line))
    columns = lines[named].removeprefix("# ").split(" ")
    rows = [line.split(" ", len(columns) - 1) for line in lines[named:] if line[0] not in " #@["]
    assert all(len(row) == len(columns) for row in rows), rows
    return [dict(zip(columns, row, strict=True)) for row in rows]


def sums(rows: Iterable[Mapping[str, str]], by: Sequence[str], column: str) -> dict[tuple[str, ...], int]:
    """Sum a column of rows by some others."""
    result: dict[tuple[str, ...], int] = {}
    for row in rows:
        key = tuple(row[name] for name in by)
        result[key] = result.get(key, 0) + int(row[column])
    return result


def near(value: float, other: float, part: float) -> bool:
    """Tell whether two figures differ by no more than a part of the larger."""
    return abs(value - other) <= part * max(value, other)

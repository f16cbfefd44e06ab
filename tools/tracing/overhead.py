"""sysbench with and without a tracer, in turns: the ratio of its throughput, pair by pair."""

from __future__ import annotations

import re
import statistics
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accuracy.machine import Machine

    from zmysql.host import Process

# sysbench's report of a second: `[ 12s ] thds: 2 tps: 187.03 qps: 187.03 (r/w/o: …`.
_SECOND = re.compile(rb"\[ \d+s \] thds: \d+ tps: ([\d.]+)")
_SETTLE_S = 3.0
FOLDER = "/root/dscripts"
_START_S = 300.0
LONGEST_S = 36_000


@dataclass(frozen=True, slots=True)
class Variant:
    """A script, its tracer (d or bt) and its arguments; PID stands for the server's."""

    name: str
    script: str
    arguments: tuple[str, ...]

    def command(self, folder: str, pid: str) -> tuple[str, ...]:
        """Give the argv that runs it."""
        program = ("dtrace", "-s") if self.script.endswith(".d") else ("bpftrace", "-q")
        return (*program, f"{folder}/{self.script}", *(pid if word == "PID" else word for word in self.arguments))


@dataclass(frozen=True, slots=True)
class Cost:
    """Transactions a second without and with a tracer, in pairs of windows; `lines` a second are what it printed."""

    variant: str
    without: tuple[float, ...]
    traced: tuple[float, ...]
    lines: float

    @property
    def ratios(self) -> tuple[float, ...]:
        """What was left of the throughput, by pair."""
        return tuple(one / other for one, other in zip(self.traced, self.without, strict=True))

    @property
    def median(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)


class Load:
    """sysbench at work, and what it did in each second."""

    def __init__(self, bench: Process) -> None:
        """Listen to a sysbench that reports each second."""
        self._bench = bench
        self._seconds: list[tuple[float, float]] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def window(self, seconds: float) -> float:
        """Wait, and give the mean of the transactions a second in that time."""
        since = time.monotonic()
        time.sleep(seconds)
        if self._bench.poll() is not None:
            raise ZmysqlError(f"sysbench ended: {self._bench.stderr()}")
        # A report is of the second before it.
        return statistics.fmean(tps for at, tps in list(self._seconds) if at >= since + 1)

    def _listen(self) -> None:
        for line in self._bench.lines():
            found = _SECOND.match(line)
            if found:
                self._seconds.append((time.monotonic(), float(found[1])))


def measure(machine: Machine, load: Load, variant: Variant, *, pairs: int, seconds: float) -> Cost:
    """Measure so many pairs; which of a pair comes first alternates.

    Raises ZmysqlError when the tracer or sysbench ends.
    """
    pid = machine.sh("pgrep -o -x mysqld").strip()
    without, traced, lines = list[float](), list[float](), 0.0
    for pair in range(pairs):
        if pair % 2 == 0:
            without.append(load.window(seconds))
        rate, printed = _traced(machine, load, variant.command(FOLDER, pid), seconds)
        traced.append(rate)
        lines += printed / pairs
        if pair % 2 == 1:
            without.append(load.window(seconds))
        machine.say(f"{variant.name}: {without[-1]:.1f} and {traced[-1]:.1f} transactions/s")
    return Cost(variant.name, tuple(without), tuple(traced), lines)


def _traced(machine: Machine, load: Load, command: Sequence[str], seconds: float) -> tuple[float, float]:
    """Give the transactions a second under a tracer, and the lines a second that it printed."""
    with machine.guest.start((*("sh", "-c", 'exec "$@" > /root/traced 2>/root/traced.err', "sh"), *command)) as tracer:
        deadline = time.monotonic() + _START_S
        while machine.guest.run(("grep", "-q", "# at", "/root/traced"), check=False).exit_status:
            if tracer.poll() is not None or time.monotonic() > deadline:
                raise ZmysqlError(f"{' '.join(command)} doesn't trace: {machine.sh('cat /root/traced.err')}")
            time.sleep(1)
        time.sleep(_SETTLE_S)
        before = int(machine.sh("wc -l < /root/traced"))
        rate = load.window(seconds)
        after = int(machine.sh("wc -l < /root/traced"))
        machine.sh(f"pkill -INT -x {command[0]} || true")
        tracer.wait(_START_S)
    time.sleep(_SETTLE_S)
    return rate, (after - before) / seconds

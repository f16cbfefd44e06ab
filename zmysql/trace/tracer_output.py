"""What the scripts print, and what dtrace(8) and bpftrace(8) complain of, as values."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter

from zmysql.trace.clock import format_started

# `# began 405618261411, 1795160252142432913 ns since 1970`: the clock of the records, and the time of day.
_BEGAN = re.compile(rb"# began (\d+), (\d+) ns since 1970")
# `# at 405618261411`: the sign of life, so that records are known to be old when no more come.
_AT = re.compile(rb"# at (\d+)")
_EXITED = re.compile(rb"# process \d+ exited")
_DROPS = re.compile(r"^dtrace: (\d+) (?:[a-z]+ )*drops?\b", re.MULTILINE)
# bpftrace says it among the lines of the script.
_LOST = re.compile(rb"(?:\[?WARN(?:ING)?\]?:? )?Lost (\d+) events")
_SECOND_NS = 1_000_000_000
_MILLISECOND_NS = 1_000_000

# How long a record may come after a later one of another CPU: dtrace empties the CPUs' buffers in turn, four times a
# second, and may itself be late.
_REORDER_NS = 2 * _SECOND_NS


@dataclass(frozen=True, slots=True)
class Began:
    """The start of the tracer: on the clock of its records, and the time of day."""

    clock_ns: int
    since_1970_ns: int

    def time_of_day(self, after_ns: int = 0) -> str:
        """Give the start, or what is so long after it, in ISO 8601, UTC, to the ms: recordings are merged by it."""
        return format_started((self.since_1970_ns + after_ns) // _MILLISECOND_NS * _MILLISECOND_NS)


class Comments:
    """Hears what a script says beside its rows, of one tracer or several, one after the other.

    `began` is the start of the first, None until it works; `working` says whether the last one does. `lost` are the
    events that a tracer said, between the lines, that it had lost.
    """

    def __init__(self) -> None:
        """Start with nothing heard."""
        self.began: Began | None = None
        self.working = self.process_exited = False
        self.lost = 0
        self._now_ns = 0
        self._cut = b""

    def feed(self, output: bytes) -> None:
        """Take in a piece of output, which may end within a line."""
        *lines, self._cut = (self._cut + output).split(b"\n")
        for line in lines:
            if line.startswith(b"#"):
                self._comment(line)
            elif lost := _LOST.fullmatch(line):
                self.lost += int(lost[1])
            elif line:  # dtrace prints an empty line at its end
                self._row(line)

    def another(self) -> None:
        """Expect the output of another tracer; what the last one left of a line is no row."""
        self._cut = b""
        self.working = self.process_exited = False

    def _comment(self, line: bytes) -> None:
        began, at = _BEGAN.fullmatch(line), _AT.fullmatch(line)
        if at and self.began:
            self._now_ns = max(self._now_ns, int(at[1]) - self.began.clock_ns)
        elif began:
            self.working = True
            self.began = self.began or Began(int(began[1]), int(began[2]))
        elif _EXITED.fullmatch(line):
            self.process_exited = True

    def _row(self, line: bytes) -> None:
        """Take in a row, without its newline; here it is passed over."""


class Reader(Comments):
    """Turns what blkaccess prints into records of the trace format, in the order of their times.

    Times count from the start of the first tracer on. `addresses` are the (objset, object) of what was taken. `feed`
    raises ValueError on a line that blkaccess doesn't print.
    """

    def __init__(self) -> None:
        """Start with nothing read."""
        super().__init__()
        self.addresses: set[tuple[int, int]] = set()
        self._held: list[tuple[int, str, tuple[int, int]]] = []
        self._taken_ns = self._origin_ns = 0

    def take(self, *, everything: bool = False) -> bytes:
        """Give the records, as lines of the trace format, that no earlier one can follow any more, or all."""
        self._held.sort()
        count = len(self._held)
        if self._held and not everything:
            self._now_ns = max(self._now_ns, self._held[-1][0])
            count = bisect_right(self._held, self._now_ns - _REORDER_NS, key=itemgetter(0))
        taken, self._held = self._held[:count], self._held[count:]
        if taken:
            self._taken_ns = max(self._taken_ns, taken[-1][0])
        self.addresses.update(address for _, _, address in taken)
        return "".join(f"{max(time_ns - self._origin_ns, 0)} {rest}\n" for time_ns, rest, _ in taken).encode()

    @property
    def held(self) -> bool:
        """Whether there are records that weren't taken yet."""
        return bool(self._held)

    def split(self) -> int:
        """Let the times of what is taken from now on count from the last record that was; give that, in ns."""
        self._origin_ns = self._taken_ns
        return self._origin_ns

    def _row(self, line: bytes) -> None:
        time, rest = line.decode().split(" ", 1)
        objset, number, _level, _blkid, _size, _class = rest.split(" ")
        if self.began is None:
            raise ValueError("a record before the start")
        self._held.append((int(time) - self.began.clock_ns, rest, (int(objset), int(number))))


def parse_drops(errors: str) -> int:
    """Give the records that dtrace lost by its own account, from its standard error (`dtrace: N drops on CPU M`)."""
    return sum(int(count) for count in _DROPS.findall(errors))


def complaints(errors: str) -> str:
    """Give what else a tracer says on standard error, in one line."""
    lines = (line.removeprefix("dtrace: ").strip() for line in errors.splitlines() if not _DROPS.match(line))
    return "; ".join(line for line in lines if line)

"""What is read over time: working sets (Denning 1968), and how soon a block is read again.

Time is that of the records as they stand in the file. Where the clock goes backwards, it is taken to stand still until
it has caught up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import UsageError
from zmysql.locality.sampling import real_bytes

if TYPE_CHECKING:
    from zmysql.locality._engine import Reads
    from zmysql.trace.format import Header

_WANTED_WINDOWS = 60
_MOST_WINDOWS = 1_000_000
_SECOND = 1_000_000_000
_MINUTE, _HOUR, _DAY = 60 * _SECOND, 3600 * _SECOND, 86400 * _SECOND
# Lengths that people say: 1, 2 and 5 of each power of ten below a second, then those of the clock.
_NICE_NS = (
    *(digit * 10**power for power in range(9) for digit in (1, 2, 5)),
    *(seconds * _SECOND for seconds in (1, 2, 5, 10, 15, 30)),
    *(minutes * _MINUTE for minutes in (1, 2, 5, 10, 15, 30)),
    *(hours * _HOUR for hours in (1, 2, 3, 6, 12)),
    *(days * _DAY for days in (1, 2, 7)),
)
_CURVE_NS = (
    *(10**power for power in range(6, 9)),
    _SECOND,
    10 * _SECOND,
    _MINUTE,
    10 * _MINUTE,
    _HOUR,
    6 * _HOUR,
    _DAY,
    7 * _DAY,
)
_SHORTEST_IN_SPAN = 10**5  # a shorter window of the curve holds hardly a read
_LONGEST_IN_SPAN = 0.9  # a longer one is nearly the whole trace, which is there anyway


@dataclass(frozen=True, slots=True)
class Window:
    """What was read from `start_ns` (the trace's clock) until the next window.

    `references` are records in the file, `distinct_bytes` the working set in real bytes also where the trace is a
    sample.
    """

    start_ns: int
    references: int
    distinct_bytes: int


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """The working set of a trace over time.

    `windows` follow each other without gaps from the first read on; the last may be cut short. `curve` is (length in
    ns, mean bytes): the working set of a window of that length, averaged over all its places in the trace; the last
    point is the whole trace. `inter_reference` is (from_ns, to_ns, references): the reads of a block that was read
    before, by the time since, in doublings, from_ns included; empty ones at both ends are left out. Bytes are real ones
    also where the trace is a sample; references are the records in the file.
    """

    window_ns: int
    windows: tuple[Window, ...]
    curve: tuple[tuple[int, int], ...]
    inter_reference: tuple[tuple[int, int, int], ...]


def working_set(reads: Reads, header: Header, window_ns: int | None = None) -> WorkingSet:
    """Give the working set in windows of this length, or of a round one that makes about 60.

    Raises UsageError for a length that makes more than a million windows.
    """
    from zmysql.locality import _engine  # noqa: PLC0415 - who has reads has the engine

    span_ns = _engine.span_ns(reads)
    window_ns = nice_window_ns(span_ns) if window_ns is None else window_ns
    if window_ns < 1 or span_ns // window_ns >= _MOST_WINDOWS:
        raise UsageError(
            f"a window of {window_ns} ns is too short for a trace of {span_ns / 1e9:,.1f} s: say a longer one"
        )
    lengths = [length for length in _CURVE_NS if span_ns / _SHORTEST_IN_SPAN <= length <= _LONGEST_IN_SPAN * span_ns]
    found = _engine.working_set(reads, window_ns, lengths)
    return WorkingSet(
        window_ns=window_ns,
        windows=tuple(Window(start, count, real_bytes(header, size)) for start, count, size in found.windows()),
        curve=tuple((length, real_bytes(header, size)) for length, size in found.curve()),
        inter_reference=tuple(found.inter_reference()),
    )


def nice_window_ns(span_ns: int) -> int:
    """Give the shortest length that people say which makes at most 60 windows."""
    least = -(-(span_ns + 1) // _WANTED_WINDOWS)
    return next((nice for nice in _NICE_NS if nice >= least), -(-least // _DAY) * _DAY)

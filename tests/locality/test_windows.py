"""Working sets and times between reads: against the naive reference."""

from __future__ import annotations

from collections import Counter

import pytest
import reference_spatial
from hypothesis import given
from hypothesis import strategies as st
from reads_in_memory import file_reads, loaded
from reference import Read

from zmysql.errors import UsageError
from zmysql.locality import _engine
from zmysql.locality.windows import Window, nice_window_ns, working_set
from zmysql.trace.format import Header

SECOND = 10**9
HEADER = Header(complete=True)


def reads_at(*times_and_pages: tuple[int, int]) -> _engine.Reads:
    return loaded([Read(time, 54, 2, 0, page, 16384, "arc") for time, page in times_and_pages])


# files are written, on a disk that others use too
@given(file_reads(), st.integers(1, 40))
def test_windows_equal_the_reference(reads: list[Read], pieces: int) -> None:
    held = loaded(reads)
    times = reference_spatial.clock(reads)
    span = times[-1] - times[0]
    assert _engine.span_ns(held) == span
    window_ns = span // pieces + 1
    found = _engine.working_set(held, window_ns, [])
    assert found.windows() == reference_spatial.windows(reads, window_ns)
    sizes = {read.block: read.size for read in reference_spatial.settled(reads)}
    assert found.curve() == [(span, sum(sizes.values()))]


@given(file_reads(), st.lists(st.integers(1, 2**64 - 1), max_size=3), st.integers(1, 9))
def test_the_curve_equals_the_reference(reads: list[Read], lengths: list[int], part: int) -> None:
    held = loaded(reads)
    span = _engine.span_ns(held)
    lengths = [*lengths, max(1, span * part // 10)]
    *found, _whole = _engine.working_set(held, span + 1 if span < 2**64 - 1 else span, lengths).curve()
    assert [length for length, _ in found] == [length for length in lengths if length < span]
    for length, mean_bytes in found:
        assert mean_bytes == pytest.approx(reference_spatial.mean_working_set(reads, length), rel=1e-12)


@given(file_reads())
def test_times_between_reads_equal_the_reference(reads: list[Read]) -> None:
    found = _engine.working_set(loaded(reads), 2**63, []).inter_reference()
    gaps = Counter(gap.bit_length() for gap in reference_spatial.inter_reference(reads))
    assert {(0 if not start else start.bit_length()): count for start, _, count in found if count} == gaps
    assert all(start.bit_length() + 1 == end.bit_length() or end == 2**64 - 1 for start, end, _ in found)
    assert [end for _, end, _ in found][:-1] == [start for start, _, _ in found][1:]
    if found:
        assert found[0][2]
        assert found[-1][2]


def test_a_minute_is_seen_in_seconds() -> None:
    found = working_set(
        reads_at((SECOND, 1), (SECOND + 5, 1), (2 * SECOND, 2), (31 * SECOND, 1), (60 * SECOND, 9)), HEADER
    )
    assert found.window_ns == SECOND
    assert len(found.windows) == 60
    assert found.windows[:2] == (Window(SECOND, 2, 16384), Window(2 * SECOND, 1, 16384))
    assert found.windows[29:31] == (Window(30 * SECOND, 0, 0), Window(31 * SECOND, 1, 16384))
    assert [length for length, _ in found.curve][-3:] == [SECOND, 10 * SECOND, 59 * SECOND]
    assert found.curve[-1][1] == 3 * 16384
    assert found.inter_reference[0] == (4, 8, 1)
    assert found.inter_reference[-1] == (2**34, 2**35, 1)


def test_a_clock_that_goes_back_stands_still() -> None:
    found = working_set(reads_at((5, 1), (3, 1), (0, 2), (6, 2)), HEADER, 1)
    assert found.windows == (Window(5, 3, 32768), Window(6, 1, 16384))
    assert found.inter_reference == ((0, 1, 1), (1, 2, 1))


def test_a_sample_gives_real_working_sets() -> None:
    reads = reads_at((0, 1), (1, 2), (2, 1))
    found = working_set(reads, Header(complete=True, sampling="1/100"), 2)
    assert found.windows == (Window(0, 2, 3276800), Window(2, 1, 1638400))
    assert found.curve[-1] == (2, 3276800)


def test_a_single_read_is_one_window() -> None:
    found = working_set(reads_at((7, 1)), HEADER)
    assert found.windows == (Window(7, 1, 16384),)
    assert (found.curve, found.inter_reference) == (((0, 16384),), ())


@pytest.mark.parametrize(
    ("span_ns", "window_ns"),
    [
        (0, 1),
        (59, 1),
        (60, 2),
        (60 * SECOND - 1, SECOND),
        (60 * SECOND, 2 * SECOND),
        (3600 * SECOND, 120 * SECOND),
        (86400 * SECOND, 1800 * SECOND),
        (400 * 86400 * SECOND, 7 * 86400 * SECOND),
        (2**64 - 1, 3559 * 86400 * SECOND),
    ],
)
def test_windows_have_lengths_that_people_say(span_ns: int, window_ns: int) -> None:
    assert nice_window_ns(span_ns) == window_ns


@pytest.mark.parametrize("window_ns", [0, 1])
def test_a_window_that_makes_too_many_is_refused(window_ns: int) -> None:
    with pytest.raises(UsageError, match=r"too short for a trace of 60\.0 s"):
        working_set(reads_at((0, 1), (60 * SECOND, 1)), HEADER, window_ns)

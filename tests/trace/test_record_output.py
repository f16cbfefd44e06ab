"""blkaccess.d's real output and dtrace's real complaints, captured on Debian 13 (see the machine's `about`)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from zmysql.trace.tracer_output import Reader, complaints, parse_drops

MACHINE = Path(__file__).parents[1] / "machines" / "debian13-dtrace2.0"
OUTPUT = (MACHINE / "blkaccess").read_bytes()
# The capture is of a program that read, by 16K: 13 records that were in no cache, 11 of which some were in the L2ARC,
# 7 that were in the ARC, these again, and 5 of a hole.
READ_RECORDS = 13 + 11 + 7 + 7 + 5


def read(output: bytes) -> tuple[Reader, list[bytes]]:
    reader = Reader()
    reader.feed(output)
    return reader, reader.take(everything=True).splitlines()


def test_each_record_is_read_with_its_class_and_a_time_from_the_start() -> None:
    reader, records = read(OUTPUT)
    assert reader.began is not None
    assert reader.began.time_of_day() == "2026-11-20T07:55:26.968Z"
    assert reader.process_exited
    assert records[0] == b"372314813 108 9 0 0 16384 miss"
    classes = Counter(record.split()[-1] for record in records)
    assert classes == {b"miss": 20, b"l2hit": 4, b"arc": 7, b"dbuf": 7, b"hole": 5}
    assert len(records) == READ_RECORDS
    assert reader.addresses == {(108, 9), (108, 10), (108, 11), (108, 12)}


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_output_may_come_in_pieces_of_any_size(size: int) -> None:
    reader = Reader()
    taken = b""
    for at in range(0, len(OUTPUT), size):
        reader.feed(OUTPUT[at : at + size])
        taken += reader.take()
    taken += reader.take(everything=True)
    assert taken.splitlines() == read(OUTPUT)[1]


def test_records_of_several_cpus_come_out_in_the_order_of_their_times() -> None:
    head, *lines = OUTPUT.splitlines(keepends=True)
    lines.sort(key=lambda line: line[::-1])  # any other order
    assert read(head + b"".join(lines))[1] == read(OUTPUT)[1]


def test_a_record_is_held_until_no_earlier_one_can_come() -> None:
    reader = Reader()
    reader.feed(OUTPUT)
    assert reader.take() == b""
    assert reader.began is not None
    reader.feed(b"# at %d\n" % (reader.began.clock_ns + 10 * 10**9))
    assert len(reader.take().splitlines()) == READ_RECORDS


def test_drops_are_what_dtrace_says() -> None:
    text = (MACHINE / "dtrace-drops").read_text()
    assert parse_drops(text) == 104691
    assert parse_drops(text * 2) == 2 * 104691
    assert complaints(text) == ""


def test_a_failure_to_compile_is_a_complaint_and_no_drop() -> None:
    text = (MACHINE / "dtrace-error").read_text()
    assert parse_drops(text) == 0
    assert complaints(text).startswith("failed to compile script")
    assert "db_nolevel is not a member of struct dmu_buf_impl" in complaints(text)


@pytest.mark.parametrize("line", [b"108 9 0 0 16384 miss\n", b"a b c d e f g\n", b"\xff 108 9 0 0 16384 miss\n"])
def test_what_the_script_never_prints_is_an_error(line: bytes) -> None:
    reader = Reader()
    reader.feed(OUTPUT.splitlines(keepends=True)[0])
    with pytest.raises(ValueError):
        reader.feed(line)

"""The kernel's history of reads as a tracer, on real captures of it."""

from __future__ import annotations

from captures import MACHINES

from zmysql.trace.history import History, line_of

READS = MACHINES / "debian13-zfs2.3-reads"
FIRST, SECOND = ((READS / f"zfs-reads-{number}").read_bytes() for number in (1, 2))
READER = 666  # the capture's process


def test_what_was_seen_isn_t_seen_again() -> None:
    whole, parts = History(), History()
    once = list(whole.new(SECOND))
    assert len(once) > 80
    assert [*parts.new(FIRST), *parts.new(SECOND)] == once
    assert list(parts.new(SECOND)) == []
    assert (whole.lost, parts.lost) == (0, 0)


def test_reads_that_the_kernel_forgot_are_counted() -> None:
    lines = SECOND.splitlines(keepends=True)
    history = History()
    list(history.new(b"".join(lines[:11])))  # the heading and ten reads
    list(history.new(lines[0] + b"".join(lines[18:])))
    assert history.lost == 7


def test_a_line_has_blkaccess_columns() -> None:
    reads = list(History().new(SECOND))
    lines = [line_of(read, {READER}, {0x51: 16384}, 1) for read in reads]
    assert lines[0] == "319008491219 81 2 0 17 16384 -"
    assert {line.rpartition(" ")[2] for line in lines if line} == {"arc", "-"}
    assert [line is not None for line in lines] == [read[5] == READER for read in reads]
    assert {line_of(read, {1}, {0x51: 16384}, 1) for read in reads} == {None}
    assert {line_of(read, {READER}, {}, 1) for read in reads} == {None}
    sampled = [line_of(read, {READER}, {0x51: 16384}, 4) for read in reads]
    assert 0 < sum(line is not None for line in sampled) < len(lines)


def test_an_origin_is_a_column_more() -> None:
    text = b"1 2000 0x51 7 0 3 0xa dbuf_read 42 my sqld\n2 2001 0x51 7 0 4 0x2 43 x\n"
    assert [read[5] for read in History().new(text)] == [42, 43]


def test_prefetch_and_metadata_are_no_demand_reads() -> None:
    text = b"1 9 0x51 7 0 3 0x4 1 x\n2 9 0x0 7 0 3 0x2 1 x\n3 9 0x51 0 0 3 0x2 1 x\n4 9 0x51 7 1 3 0x2 1 x\n"
    assert list(History().new(text)) == []

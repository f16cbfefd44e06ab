"""`zmysql trace import --format iosnoop` of what was captured with its formats, and of what it can't be."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from captures import MACHINES
from running import refusal, zmysql
from trace_files import reads_of

from zmysql.trace.format import read_header

if TYPE_CHECKING:
    from pathlib import Path

READS = MACHINES / "debian13-zfs2.3-reads"
HEADING = "  UID   PID D    BLOCK   SIZE       COMM PATHNAME\n"


def rows_of(capture: str) -> list[list[str]]:
    lines = (READS / f"iosnoop-{capture}").read_text().splitlines()
    return [line.split() for line in lines[1:] if line]


# The words D, BLOCK and SIZE of a row, and its start in us, as iosnoop's text says.
@pytest.mark.parametrize(
    ("capture", "columns", "start", "device"),
    [("default", (2, 3, 4), None, "disk"), ("times", (5, 6, 7), 0, "sdb1"), ("dump", (10, 11, 12), 1, "sdb1")],
)
def test_each_read_is_of_its_place_on_the_device(
    tmp_path: Path, capture: str, columns: tuple[int, int, int], start: int | None, device: str
) -> None:
    target = tmp_path / "a.trace"
    done = zmysql("trace", "import", "--format", "iosnoop", READS / f"iosnoop-{capture}", target)
    assert done.exit_status == 0, done
    expected = []
    rows = rows_of(capture)
    for number, row in enumerate(rows):
        direction, block, size = (row[column] for column in columns)
        assert direction == "R"
        first, last = int(block) * 512, int(block) * 512 + int(size) - 1
        time_us = number if start is None else int(row[start]) - int(rows[0][start])
        expected += [(time_us * 1000, blkid) for blkid in range(first // 16384, last // 16384 + 1)]
    reads = reads_of(target)
    assert [(read.time_ns, read.blkid) for read in reads] == expected
    assert len(reads) > len(rows)  # records of 16K at odd places on a disk touch two
    header = read_header(target)
    assert list(header.objects.values()) == [device]
    assert header.drops == 0
    assert ("left out, times" in done.stderr) == (start is None)


def imported(tmp_path: Path, text: str) -> str:
    (tmp_path / "in").write_text(text)
    return refusal("trace", "import", "--format", "iosnoop", tmp_path / "in", tmp_path / "out")


def test_writes_are_left_out_and_drops_counted(tmp_path: Path) -> None:
    text = HEADING + "0 1 R 8 512 dd <none>\n0 1 W 9 512 dd <none>\ndtrace: 17 drops on CPU 0\n" + HEADING
    (tmp_path / "in").write_text(text + "0 1 R 99 512 dd /a b\n")
    done = zmysql("trace", "import", "--format", "iosnoop", tmp_path / "in", tmp_path / "out")
    assert "left out, writes: 1" in done.stderr
    assert [read.blkid for read in reads_of(tmp_path / "out")] == [0, 3]
    assert read_header(tmp_path / "out").drops == 17


def test_a_date_of_four_words_is_one_column(tmp_path: Path) -> None:
    text = "STRTIME              DEVICE  " + HEADING + "2005 Jul 26 00:35:38 cmdk0 0 1 R 64 512 dd <none>\n"
    (tmp_path / "in").write_text(text)
    done = zmysql("trace", "import", "--format", "iosnoop", tmp_path / "in", tmp_path / "out")
    assert done.exit_status == 0, done
    assert [read.blkid for read in reads_of(tmp_path / "out")] == [2]
    assert list(read_header(tmp_path / "out").objects.values()) == ["cmdk0"]


def test_freebsd_s_block_numbers_are_refused(tmp_path: Path) -> None:
    said = imported(tmp_path, HEADING + "0 1 R 0 512 dd <none>\n" * 2)
    assert "all reads at block 0" in said
    assert "blkaccess.freebsd.d" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no read"),
        ("0 1 R 8 512 dd x\n", "line 1: it names no columns"),
        (HEADING + "0 1 W 8 512 dd x\n", "holds no read"),
        (HEADING + "0 1 R x 512 dd x\n", "line 2: BLOCK 'x' is no whole number"),
        (HEADING + "0 1 R 8 -512 dd x\n", "line 2: SIZE '-512' is no whole number"),
        (HEADING + "0 1 X 8 512 dd x\n", "line 2: D is 'X'"),
        (HEADING + "0 1 R 8 2000000000 dd x\n", "line 2: SIZE 2000000000 is more than 1G"),
        (HEADING + "0 1 R\n", "line 2: it has 3 words only"),
    ],
)
def test_what_it_can_t_be_is_named(tmp_path: Path, text: str, message: str) -> None:
    assert message in imported(tmp_path, text)
    assert not (tmp_path / "out").exists()


def test_compressed_text_that_is_cut_off_is_named(tmp_path: Path) -> None:
    packed = gzip.compress((HEADING + "0 1 R 8 512 dd x\n" * 5000).encode())
    (tmp_path / "in").write_bytes(packed[:-20])
    said = refusal("trace", "import", "--format", "iosnoop", tmp_path / "in", tmp_path / "out")
    assert "cut off or damaged" in said

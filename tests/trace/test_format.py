"""The header, and what isn't one."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from zmysql.errors import ZmysqlError
from zmysql.locality.reads import load
from zmysql.trace.format import COLUMNS, Dataset, Header, header_text, read_header

if TYPE_CHECKING:
    from pathlib import Path

HEADER = Header(
    complete=True,
    os="Debian GNU/Linux 13 (trixie)",
    zfs="2.3.9",
    mysql="9.7.0",
    started="2026-11-20T07:00:00Z",
    duration_ns=60_000_000_000,
    sampling="1/100",
    records=2,
    drops=0,
    datasets={54: Dataset("tank/mysql/data", 16384)},
    objects={(54, 128): "/tank/mysql/data/sbtest/sbtest1.ibd", (54, 129): "/tank/mysql/data/ü\n.ibd"},
    host="db1",
    arc_bytes=1 << 30,
    l2arc_bytes=8 << 30,
)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a.trace"
    path.write_bytes(gzip.compress(text.encode()))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ZmysqlError) as caught:
        read_header(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("header", [HEADER, Header(complete=False), replace(HEADER, imported="a.csv", drops=None)])
def test_a_header_is_read_as_it_was_written(tmp_path: Path, header: Header) -> None:
    assert read_header(written(tmp_path, header_text(header) + "5 54 128 0 17 16384 miss\n")) == header


def test_the_text_is_the_documented_one() -> None:
    lines = header_text(HEADER).splitlines()
    assert lines[0] == "# zmysql-trace: 1"
    assert lines[1] == "# complete: true"
    assert lines[-1] == f"# columns: {COLUMNS}"
    assert '# datasets: {"54": {"name": "tank/mysql/data", "recordsize": 16384}}' in lines
    assert all(line.startswith("# ") for line in lines)


def test_a_header_may_be_split_over_members_and_hold_keys_of_a_later_version(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    parts = ["# zmysql-trace: 1\n# compl", 'ete: true\n# weather: "fine"\n', f"# columns: {COLUMNS}\n", "rubbish"]
    path.write_bytes(b"".join(gzip.compress(part.encode()) for part in parts))
    assert read_header(path) == Header(complete=True, sampling_assumed=True)


def zstd(text: bytes) -> bytes:
    """Pack a text as zstd may, without making it smaller (RFC 8878): one block as it is, and the last of its frame."""
    return b"\x28\xb5\x2f\xfd\x00\x58" + (len(text) << 3 | 1).to_bytes(3, "little") + text


def test_a_trace_may_be_zstd_or_text_too(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    text = (header_text(HEADER) + "1 2 3 0 4 512 arc\n").encode()
    for file in (text, zstd(text), zstd(text[:100]) + zstd(text[100:])):
        path.write_bytes(file)
        assert read_header(path) == HEADER
        assert len(load(path, replace(HEADER, records=1))) == 1
    path.write_bytes(zstd(text[:100]))
    assert "cut off within its header" in refusal(path)


def test_what_is_no_trace_is_named(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "missing")
    assert "Is a directory" in refusal(tmp_path)
    empty = tmp_path / "empty"
    empty.touch()
    assert "is empty" in refusal(empty)
    text = tmp_path / "text"
    text.write_text("time,object\n")
    assert "is no gzip or zstd file" in refusal(text)
    assert "is no zmysql trace" in refusal(written(tmp_path, "time,object\n"))
    assert "has trace format 2" in refusal(written(tmp_path, "# zmysql-trace: 2\n"))


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("# complete: true", "# complete: yes", "line 2: the value of complete is no JSON"),
        ("# complete: true", "# complete: 1", "complete must be true or false"),
        ("# complete: true", "complete: true", "line 2: the header must have lines"),
        ('"2.3.9"', "2.3", "zfs must be text"),
        ("# records: 2", "# records: -2", "records must be a whole number"),
        ("# records: 2", "# records: true", "records must be a whole number"),
        ('"1/100"', '"0/100"', "sampling must be"),
        ('"1/100"', '"1%"', "sampling must be"),
        ('"recordsize": 16384', '"size": 16384', "map of datasets"),
        ('"54:128"', '"128"', "map of datasets or objects"),
        ("# objects: {", "# objects: [", "no JSON"),
        ("# objects: {", "# objects: " + "[" * 100_000, "no JSON"),
        ("level blkid", "blkid level", "the columns are"),
        (f"# columns: {COLUMNS}\n", "", "cut off within its header"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, was: str, becomes: str, said: str) -> None:
    text = header_text(HEADER)
    assert was in text
    assert said in refusal(written(tmp_path, text.replace(was, becomes)))


def test_a_header_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(header_text(HEADER).encode())
    path = tmp_path / "a.trace"
    for length in range(len(whole) - 12):  # what ends it may be missing
        path.write_bytes(whole[:length])
        refusal(path)

"""Traces that are cut off, damaged or not what they say: never a wrong answer in silence."""

from __future__ import annotations

import gzip
import random
import sys
import threading
from typing import TYPE_CHECKING

import pytest

import zmysql.locality
from zmysql.errors import ZmysqlError
from zmysql.host import Local
from zmysql.locality.memory import available_bytes, require
from zmysql.locality.profile import FileReads, Profile, profile
from zmysql.locality.reads import load
from zmysql.trace.format import Header, header_text, read_header, records_kept
from zmysql.trace.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path

SIZES = (1 << 20, 1 << 40, 100 << 60)


def judged(path: Path) -> Profile:
    header = read_header(path)
    return profile(load(path, header), header, SIZES)


def refusal(path: Path) -> str:
    with pytest.raises(ZmysqlError) as caught:
        judged(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


def lines_of(count: int) -> list[bytes]:
    chosen = random.Random(7)  # noqa: S311 - reads, not secrets
    return [b"%d 54 %d 0 %d 16384 arc\n" % (at, chosen.randrange(9), chosen.randrange(40)) for at in range(count)]


def recorded(path: Path, *, complete: bool) -> bytes:
    """Write a trace as a recorder does, with flushes in between."""
    with Writer(path, Header(complete=False, os="Debian")) as writer:
        for line in lines_of(150):
            writer.write(line)
            writer._flushed -= 0.1  # time passes
        if complete:
            writer.close(Header(complete=True, os="Debian", drops=0))
    return path.read_bytes()


def test_a_finished_trace_that_is_cut_off_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    whole = recorded(path, complete=True)
    assert judged(path).references == 150
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        refusal(path)


def test_an_unfinished_trace_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    whole = recorded(path, complete=False)
    found = []
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        kept = records_kept(path) if length > 2 else 0
        if kept:
            found.append(judged(path).references)
        else:
            refusal(path)
            found.append(0)
        assert found[-1] == kept
    assert found == sorted(found)
    assert len(set(found)) > 10


def test_a_flipped_bit_never_changes_an_answer_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    whole = recorded(path, complete=True)
    right = judged(path)
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        path.write_bytes(damaged)
        try:
            assert judged(path) == right  # in gzip's own header there are bits that mean nothing
        except ZmysqlError as error:
            assert "\n" not in str(error)  # noqa: PT017 - as above


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "holds no records"),
        (b"1 2 3 0 4 512 arc\n", "holds 1 records where its header says 2"),
        (b"1 2 3 0 4 512 arc\n" * 3, "holds 3 records where its header says 2"),
        (b"1 2 3 0 4 512 arc\n1 2 3 0 4 512\n", "is wrong in line {second}: it has no class"),
        (b"1 2 3 0 4 512 arc\n1 2 3 0 4 512 arc", "cut off after line {first}"),
        (b"\n", 'is wrong in line {first}: time_ns "" is no whole number'),
        (b"1 2 3 0 4 9223372036854775808 arc\n", "size 9223372036854775808 is no size"),
        (b"1 2 3 0 4 0 arc\n", "size 0 is no size"),
        (b"\xff\x00 2 3 0 4 512 arc\n", "is wrong in line {first}"),
    ],
)
def test_a_body_that_cannot_be_is_named(tmp_path: Path, body: bytes, said: str) -> None:
    path = tmp_path / "a.trace"
    records = 2 if body else 0
    header = header_text(Header(complete=True, records=records))
    path.write_bytes(gzip.compress(header.encode() + body))
    first = header.count("\n") + 1
    assert said.format(first=first, second=first + 1) in refusal(path)


def test_the_line_named_is_the_one_that_zcat_shows(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    text = header_text(Header(complete=True)) + "1 2 3 0 4 512 arc\n# a remark\nrubbish\n"
    path.write_bytes(gzip.compress(text.encode()))
    number = text.splitlines().index("rubbish") + 1
    assert f"is wrong in line {number}:" in refusal(path)


UNPRIVILEGED = """
import os, sys
from zmysql.cli.main import main
import zmysql.cli.locality, zmysql.cli.trace  # nobody may not read this folder
os.geteuid() or os.setuid(65534)
main()
"""


def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    recorded(path, complete=True)
    path.chmod(0)
    done = Local().run([sys.executable, "-c", UNPRIVILEGED, "locality", "report", str(path)], check=False)
    assert done.exit_status == 1
    assert "Permission denied" in done.stderr
    assert done.stderr.count("\n") == 1


def test_files_are_sorted_and_named(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    body = "1 5 7 0 0 512 -\n2 5 8 0 0 512 -\n3 5 8 1 0 512 -\n4 5 8 0 0 512 -\n"
    header = Header(complete=True, objects={(5, 8): "/a/b.ibd"})
    path.write_bytes(gzip.compress((header_text(header) + body).encode()))
    assert judged(path).files == (FileReads(5, 8, "/a/b.ibd", 3, 2), FileReads(5, 7, None, 1, 1))


def test_a_sample_sees_caches_scaled(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    text = "".join(f"{at} 5 7 0 {at % 4} 16384 -\n" for at in range(40))
    path.write_bytes(gzip.compress((header_text(Header(complete=True)) + text).encode()))
    header = read_header(path)
    whole = profile(load(path, header), header, [65535, 65536])
    path.write_bytes(gzip.compress((header_text(Header(complete=True, sampling="1/100")) + text).encode()))
    header = read_header(path)
    sample = profile(load(path, header), header, [6553599, 6553600])
    assert list(whole.hits.values()) == list(sample.hits.values()) == [0, 36]
    assert sample.flat_bytes == 6553600
    assert sample.mrc[-1] == (6553600, whole.mrc[-1][1])
    assert sample.references == 40
    # A distance is above the first and at most the second of its range.
    assert whole.reuse_distances == ((0, 65536, 36),)
    assert sample.reuse_distances == ((0, 6553600, 36),)
    assert whole.reuse_distances_blocks == ((0, 4, 36),)
    assert whole.reads_per_block == ((10, 4),)


def test_without_the_engine_it_says_where_to_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.trace"
    recorded(path, complete=True)
    monkeypatch.delattr(zmysql.locality, "_engine")
    monkeypatch.setitem(sys.modules, "zmysql.locality._engine", None)
    with pytest.raises(ZmysqlError, match=r"the engine isn't built here.*copy .*a\.trace to a machine where it is"):
        judged(path)


def test_other_threads_run_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    text = header_text(Header(complete=True)) + "".join(
        f"{at} 5 7 0 {at * 7919 % 99991} 512 -\n" for at in range(200_000)
    )
    path.write_bytes(gzip.compress(text.encode(), compresslevel=1))
    reader = threading.Thread(target=judged, args=(path,))
    reader.start()
    turns = 0
    while reader.is_alive():
        turns += 1
    assert turns > 10


def test_memory_that_is_not_there_is_told_beforehand(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    2097152 kB\n")
    assert available_bytes(meminfo) == 2 << 30
    require(2 << 30, "the figures", meminfo)
    way_out = "`zmysql locality report FILE --sample auto` judges a sample of the blocks, and `zmysql trace cut` takes"
    with pytest.raises(ZmysqlError, match=f"^the figures take 3G of memory, and 2G are free here: {way_out}"):
        require(3 << 30, "the figures", meminfo)


@pytest.mark.parametrize("text", [None, "", "MemTotal:       16000000 kB\n"])
def test_where_the_system_does_not_say_what_is_free_nothing_is_refused(tmp_path: Path, text: str | None) -> None:
    meminfo = tmp_path / "meminfo"
    if text is not None:
        meminfo.write_text(text)
    assert available_bytes(meminfo) is None
    require(1 << 60, "the figures", meminfo)


def test_a_trace_larger_than_the_memory_is_not_begun(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(gzip.compress(header_text(Header(complete=True, records=1 << 50)).encode() + lines_of(1)[0]))
    if available_bytes() is None:
        assert "holds 1 records" in refusal(path)
    else:
        assert "take 13P of memory" in refusal(path)

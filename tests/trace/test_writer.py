"""The writer: what is on disk at every moment, above all when things go wrong."""

from __future__ import annotations

import gzip
import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from zmysql.errors import UsageError, ZmysqlError
from zmysql.host import Local
from zmysql.locality import _engine
from zmysql.trace.format import Header, header_text, read_header, records_kept
from zmysql.trace.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path

LINE = b"5 54 128 0 17 16384 miss\n"


def test_a_closed_trace_has_the_final_header_and_all_records(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    with Writer(path, Header(complete=True, os="before")) as writer:
        provisional = read_header(path)
        for _ in range(1000):
            writer.write(3 * LINE)
        final = writer.close(Header(complete=False, os="after", drops=2))
    assert provisional == Header(complete=False, os="before")
    assert final == read_header(path) == Header(complete=True, os="after", drops=2, records=3000)
    assert gzip.decompress(path.read_bytes()) == header_text(final).encode() + 3000 * LINE
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one_and_the_mode_is_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "a.trace", tmp_path / "link"
    link.symlink_to(target)
    old = os.umask(0o027)
    try:
        with Writer(link, Header(complete=False)) as writer:
            writer.write(LINE)
            writer.close(Header(complete=True))
    finally:
        os.umask(old)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640


def test_leaving_without_close_keeps_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    with Writer(path, Header(complete=False)) as writer:
        writer.write(5 * LINE)
    assert not read_header(path).complete
    assert records_kept(path) == 5


def test_a_discarded_trace_is_gone(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.trace", Header(complete=False)) as writer:
        writer.write(LINE)
        writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_part_of_a_line_is_refused(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.trace", Header(complete=False)) as writer, pytest.raises(ValueError, match="whole lines"):
        writer.write(LINE[:-1])


def test_an_existing_file_is_refused_and_described(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_text("precious")
    for said in (
        "exists: name another file",
        "exists, a recording that was cut off, with 7 records",
        "a trace of 1 rec",
    ):
        with pytest.raises(UsageError, match=said):
            Writer(path, Header(complete=False))
        with Writer(path, Header(complete=False), overwrite=True) as writer:
            if said.startswith("exists:"):
                writer.write(7 * LINE)
            else:
                writer.write(LINE)
                writer.close(Header(complete=False))


def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(UsageError, match="is no file"):
            Writer(path, Header(complete=False), overwrite=True)
    with pytest.raises(ZmysqlError, match="No such file or directory"):
        Writer(tmp_path / "no" / "a.trace", Header(complete=False))
    (tmp_path / "file").touch()
    with pytest.raises(ZmysqlError, match="Not a directory"):
        Writer(tmp_path / "file" / "a.trace", Header(complete=False))


def test_a_trace_that_is_being_recorded_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    with Writer(path, Header(complete=False)) as writer:
        with pytest.raises(UsageError, match="is being recorded"):
            Writer(path, Header(complete=False), overwrite=True)
        writer.write(LINE)
        writer.close(Header(complete=False))
    assert read_header(path).records == 1


def test_what_a_crash_while_closing_left_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".a.trace.new").write_text("half a trace")
    with Writer(tmp_path / "a.trace", Header(complete=False)):
        assert [path.name for path in tmp_path.iterdir()] == ["a.trace"]


def test_an_interrupted_write_ends_the_trace_there(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    writer = Writer(path, Header(complete=False))
    writer.write(2 * LINE)
    time.sleep(1)
    writer.write(LINE)  # flushes
    writer._torn = True  # as KeyboardInterrupt leaves it
    with pytest.raises(ZmysqlError, match="interrupted; 3 records are kept"):
        writer.close(Header(complete=True))


KILLED = """
import sys, time
from pathlib import Path
from zmysql.trace.format import Header
from zmysql.trace.writer import Writer
writer = Writer(Path(sys.argv[1]), Header(complete=False))
while True:
    writer.write(b"5 54 128 0 17 16384 miss\\n" * 10)
    print(writer.records, time.monotonic(), flush=True)
    time.sleep(0.01)
"""


def test_kill_leaves_all_but_the_last_second(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    written = []
    with Local().start([sys.executable, "-c", KILLED, str(path)]) as process:
        for line in process.lines():
            records, at = line.split()
            written.append((int(records), float(at)))
            if at and float(at) - written[0][1] > 2.2:
                process.kill()
                break
        process.wait()
    long_ago = max(records for records, at in written if at < written[-1][1] - 1)
    assert not read_header(path).complete
    kept = len(_engine.load(path, complete=False, records=None))
    assert long_ago <= kept <= written[-1][0] + 10
    assert kept == records_kept(path)


FULL = """
import resource, sys
from pathlib import Path
from random import Random
from zmysql.errors import ZmysqlError
from zmysql.trace.format import Header
from zmysql.trace.writer import Writer
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
random = Random(1)
try:
    writer = Writer(Path(sys.argv[1]), Header(complete=False))
    for _ in range(100):
        lines = "".join(f"5 54 {random.randrange(1 << 60)} 0 17 16384 miss\\n" for _ in range(1000))
        writer.write(lines.encode())
except ZmysqlError as error:
    print(error)
"""


@pytest.mark.parametrize("limit_bytes", [60, 200_000])
def test_a_full_disk_is_said_and_what_was_kept_stays_readable(tmp_path: Path, limit_bytes: int) -> None:
    # A limit on the file's size (setrlimit) stops a write in its middle, as a full disk does.
    path = tmp_path / "a.trace"
    said = Local().run([sys.executable, "-c", FULL, str(path), str(limit_bytes)]).stdout
    assert said.count("\n") == 1
    assert "File too large" in said
    if limit_bytes < 100:  # not even the header fits
        assert list(tmp_path.iterdir()) == []
        return
    kept = len(_engine.load(path, complete=False, records=None))
    assert f"; {kept} records are kept" in said
    assert kept > 10_000


def test_no_room_to_close_leaves_a_recording_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    (tmp_path / ".a.trace.new").mkdir()  # so that the new file can't be made
    with pytest.raises(ZmysqlError, match="can't be written"):
        Writer(path, Header(complete=False))
    (tmp_path / ".a.trace.new").rmdir()
    writer = Writer(path, Header(complete=False))
    writer.write(4 * LINE)
    (tmp_path / ".a.trace.new").mkdir()
    with pytest.raises(ZmysqlError, match="4 records are kept"):
        writer.close(Header(complete=True))
    assert not read_header(path).complete


def test_writing_is_cheap(tmp_path: Path) -> None:
    chunk = b"".join(
        b"%d 54 128 0 %d 16384 miss\n" % (time_ns * 977, time_ns * 7919 % 10007) for time_ns in range(10_000)
    )
    with Writer(tmp_path / "a.trace", Header(complete=False)) as writer:
        started = time.process_time()
        for _ in range(20):
            writer.write(chunk)
        seconds = time.process_time() - started
    assert writer.records / seconds > 200_000

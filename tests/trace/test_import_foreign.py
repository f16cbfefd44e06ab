"""`zmysql trace import` of what real tracers wrote, and of what nobody should have written."""

from __future__ import annotations

import gzip
import struct
from random import Random
from typing import TYPE_CHECKING

import pytest
from captures import MACHINES
from running import refusal, zmysql
from trace_files import reads_of

from zmysql.trace.format import Dataset, read_header

if TYPE_CHECKING:
    from pathlib import Path

READS = MACHINES / "debian13-zfs2.3-reads"
DISK = MACHINES / "cloudphysics-vscsi"
BLOCKS_READ = [int(line) for line in (READS / "blocks-read").read_text().split()]
TABLE = (0x51, 2)  # as zfs-list and inodes say


def imported(source: Path, target: Path, kind: str, *options: str) -> str:
    done = zmysql("trace", "import", "--format", kind, *options, source, target)
    assert done.exit_status == 0, done
    return done.stderr


def is_subsequence(part: list[int], whole: list[int]) -> bool:
    rest = iter(whole)
    return all(one in rest for one in part)


def test_the_kernels_history_has_the_reads_of_a_known_workload(tmp_path: Path) -> None:
    target = tmp_path / "a.trace"
    said = imported(READS / "zfs-reads-2", target, "zfs-reads")
    reads = reads_of(target)
    of_table = [read.blkid for read in reads if (read.objset, read.object) == TABLE]
    # What the dbuf cache held, small as it was, never came to arc_read(), and so isn't there.
    assert is_subsequence(of_table, BLOCKS_READ)
    assert len(of_table) > 80
    assert set(of_table) == set(BLOCKS_READ)
    # A block is on disk before its first read, and in the ARC after it, unless prefetch brought it in.
    first: dict[tuple[int, int, int], str] = {}
    for read in reads:
        first.setdefault((read.objset, read.object, read.blkid), read.kind)
        assert read.kind in ("arc", "-")
    assert sum(kind == "-" for kind in first.values()) > 40
    assert sum(read.kind == "-" for read in reads) == sum(kind == "-" for kind in first.values())
    assert "left out, prefetches: 66" in said
    assert "left out, reads of metadata: 4" in said
    header = read_header(target)
    assert header.datasets == {0x51: Dataset("objset-0x51", 16384)}
    assert (header.drops, header.imported, header.records) == (0, str(READS / "zfs-reads-2"), len(reads))


def test_captures_of_the_history_are_joined(tmp_path: Path) -> None:
    parts = (READS / "zfs-reads-1").read_text(), (READS / "zfs-reads-2").read_text()
    both, last = tmp_path / "both", tmp_path / "last"
    both.write_text("".join(parts))
    said = imported(both, tmp_path / "a.trace", "zfs-reads")
    assert "left out, rows seen before: 63" in said
    imported(READS / "zfs-reads-2", last, "zfs-reads")
    assert reads_of(tmp_path / "a.trace") == reads_of(last)
    # The history was too short for what happened between two captures.
    heading, *rows = parts[1].splitlines(keepends=True)
    both.write_text("".join([heading, *rows[:10], heading, *rows[30:]]))
    assert "20 reads were lost" in imported(both, tmp_path / "b.trace", "zfs-reads")
    assert read_header(tmp_path / "b.trace").drops == 20


def test_blkparses_own_summary_counts_the_same_reads(tmp_path: Path) -> None:
    target = tmp_path / "a.trace"
    said = imported(READS / "blkparse", target, "blkparse", "--recordsize", "512")
    reads = reads_of(target)
    assert "by 63 accesses" in said  # Reads Queued: 63, 1450KiB
    assert len(reads) * 512 // 1024 == 1450
    assert "left out, requests other than reads: 39" in said  # Writes Queued: 37, and two flushes
    assert read_header(target).objects == {(1, 1): "8,0"}
    sectors = [read.blkid for read in reads]
    assert sectors[-32:] == list(range(13513, 13513 + 32))  # the last line of events
    imported(READS / "blkparse", tmp_path / "b.trace", "blkparse")
    assert len({(read.time_ns, read.blkid) for read in reads_of(tmp_path / "b.trace")}) < len(reads)


def test_vscsi_and_oraclegeneral_of_one_trace_agree(tmp_path: Path) -> None:
    disk, requests = tmp_path / "disk.trace", tmp_path / "requests.trace"
    said = imported(DISK / "vscsi", disk, "vscsi", "--recordsize", "512")
    assert "left out, commands other than reads: 203" in said
    assert "by 197 accesses" in said
    imported(DISK / "oracleGeneral", requests, "oracleGeneral")
    # libCacheSim made the second of the first; it kept writes, whole requests, and seconds.
    whole = reads_of(requests)
    assert len(whole) == 400
    first_sectors = {read.blkid: read.size for read in whole}
    sectors = {read.blkid for read in reads_of(disk)}
    started = [sector for sector in sectors if sector - 1 not in sectors]
    assert all(sector in first_sectors for sector in started)
    assert read_header(disk).objects == {(1, 1): str(DISK / "vscsi")}
    assert read_header(requests).datasets == {1: Dataset(str(DISK / "oracleGeneral"), 65536)}


def test_packed_by_gzip_or_zstd_it_is_the_same(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    plain = (DISK / "oracleGeneral").read_bytes()
    imported(DISK / "oracleGeneral", tmp_path / "a.trace", "oracleGeneral")
    for packed in (gzip.compress(plain), pyarrow.compress(plain, codec="zstd", asbytes=True)):
        (tmp_path / "packed").write_bytes(packed)
        imported(tmp_path / "packed", tmp_path / "b.trace", "oracleGeneral", "--overwrite")
        assert reads_of(tmp_path / "b.trace") == reads_of(tmp_path / "a.trace")
        (tmp_path / "packed").write_bytes(packed[:-9])
        message = refusal("trace", "import", "--format", "oracleGeneral", tmp_path / "packed", tmp_path / "c.trace")
        assert "is cut off or damaged after byte" in message
        assert not (tmp_path / "c.trace").exists()


def request(seconds: int, number: int, size: int) -> bytes:
    return struct.pack("<IQIq", seconds, number, size, -1)


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("oracleGeneral", request(1, 1, 512) + b"x", "is wrong at byte 24: the file ends within a record of 24 bytes"),
        ("oracleGeneral", request(1, 1, 512) + request(1, 1, 1 << 31), "at byte 24: an object of 2147483648 bytes"),
        ("oracleGeneral", request(1, 1, 0), "holds no read"),
        ("oracleGeneral", b"", "holds no read"),
        ("vscsi", b"", "at byte 0: no record of vscsiStats begins here"),
        ("vscsi", b"\0" * 4000, "at byte 0: no record of vscsiStats begins here"),
        ("vscsi", (DISK / "vscsi").read_bytes()[:-1], "at byte 12768: the file ends within a record of 32 bytes"),
        ("zfs-reads", b"", "zfs_read_history"),
        ("zfs-reads", (READS / "zfs-reads-1").read_bytes()[:200], "is wrong in line 2: it has no"),
        ("zfs-reads", b"time,object\n1,2\n", "is wrong in line 1: UID 'time,object' is no whole number"),
        ("blkparse", b"", "lines of blkparse begin with a device"),
        ("blkparse", b"8,0 0 1 0.000000000 612 Q R 1 + 18446744073709551616 [a]\n", "line 1: number of sectors"),
        ("blkparse", b"8,0 0 1\n", "is wrong in line 1: it has no time"),
        ("blkparse", b"8,0 " * 200_000, "is wrong in line 1: it is longer than 262144 bytes"),
    ],
)
def test_what_cannot_be_is_named_with_its_place_and_nothing_is_left(
    tmp_path: Path, kind: str, text: bytes, said: str
) -> None:
    source = tmp_path / "in"
    source.write_bytes(text)
    message = refusal("trace", "import", "--format", kind, source, tmp_path / "out.trace")
    assert message.startswith(f"{source} ")
    assert said in message
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("kind", "capture"),
    [
        ("oracleGeneral", DISK / "oracleGeneral"),
        ("vscsi", DISK / "vscsi"),
        ("zfs-reads", READS / "zfs-reads-1"),
        ("blkparse", READS / "blkparse"),
    ],
)
def test_damaged_captures_are_read_or_refused_in_one_line(tmp_path: Path, kind: str, capture: Path) -> None:
    random = Random(1)  # noqa: S311 - the same damage each time
    whole = capture.read_bytes()
    for _ in range(4):
        damaged = bytearray(whole[: random.randrange(len(whole))])
        for _ in range(random.randrange(4)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        source, target = tmp_path / "in", tmp_path / "out.trace"
        source.write_bytes(damaged)
        done = zmysql("trace", "import", "--format", kind, "--overwrite", source, target)
        assert done.exit_status in (0, 1), done
        assert "Traceback" not in done.stderr
        if done.exit_status == 1:
            assert done.stderr.count("\n") == 1
            assert not target.exists()
        else:
            assert read_header(target).records == len(reads_of(target)) > 0
            target.unlink()
        assert list(tmp_path.iterdir()) == [source]

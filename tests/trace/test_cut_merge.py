"""`zmysql trace cut` and `merge`: what comes out, and what its header says."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import refusal, zmysql
from trace_files import HEADER, SECOND_NS, any_records, read, reads_of, write_trace

from zmysql.trace.clock import format_started, parse_started
from zmysql.trace.cut import Part, cut_trace
from zmysql.trace.format import Dataset, Header, header_text, read_header
from zmysql.trace.merge import merge_traces

if TYPE_CHECKING:
    from reference import Read

READS = [
    read(0),
    read(1 * SECOND_NS, blkid=7),
    read(2 * SECOND_NS, number=129),
    read(3 * SECOND_NS, number=130),
    read(4 * SECOND_NS, objset=55, level=1),
    read(5 * SECOND_NS, number=999),
    read(9 * SECOND_NS, blkid=7),
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "a.trace", READS)


def cut(source: Path, *options: str) -> tuple[list[Read], Header]:
    target = source.with_name("part.trace")
    done = zmysql("trace", "cut", "--overwrite", *options, source, target)
    assert done.exit_status == 0, done
    return reads_of(target), read_header(target)


def test_some_time_of_a_trace(source: Path) -> None:
    reads, header = cut(source, "--from", "1s", "--to", "3500ms")
    assert reads == [replace(one, time_ns=one.time_ns - SECOND_NS) for one in READS[1:4]]
    assert (header.complete, header.records, header.duration_ns) == (True, 3, 2_500_000_000)
    assert (header.started, header.ended, header.drops) == ("2026-11-20T07:00:01Z", "duration", 0)
    assert header.datasets == {54: HEADER.datasets[54]}
    assert header.objects == {at: path for at, path in HEADER.objects.items() if at[0] == 54}
    assert (header.host, header.pid, header.sampling) == ("db1", 4711, "1/1")
    _, header = cut(source, "--from", "1500ms")
    assert (header.started, header.duration_ns) == ("2026-11-20T07:00:01.5Z", 8_500_000_000)
    assert cut(source, "--to", "1s")[0] == READS[:1]


def test_some_files_of_a_trace(source: Path) -> None:
    assert cut(source, "--dataset", "tank/mysql/log")[0] == READS[4:5]
    assert cut(source, "--table", "shop.orders")[0] == [READS[0], READS[1], READS[6]]
    both = cut(source, "--table", "shop.items", "--object", "54:999", "--dataset", "tank/mysql/data")
    assert both[0] == [READS[2], READS[3], READS[5]]
    assert both[1].objects == {at: HEADER.objects[at] for at in ((54, 129), (54, 130))}
    assert cut(source, "--object", "/tank/mysql/log/ib_logfile0")[0] == READS[4:5]
    assert cut(source) == (READS, replace(HEADER, records=len(READS)))


def test_drops_of_a_part_are_unknown(tmp_path: Path) -> None:
    source = write_trace(tmp_path / "a.trace", READS, replace(HEADER, drops=3))
    assert cut(source, "--from", "1s")[1].drops is None
    assert cut(source, "--dataset", "tank/mysql/data")[1].drops is None
    assert cut(source)[1].drops == 3
    assert cut(source, "--to", "11s")[1].drops == 3


def test_a_recording_that_was_cut_off_says_so_afterwards(tmp_path: Path) -> None:
    source = tmp_path / "a.trace"
    whole = header_text(replace(HEADER, complete=False, started=None, duration_ns=None, drops=None, ended=None))
    source.write_bytes(gzip.compress((whole + "".join(one.line() for one in READS)).encode())[:-5])
    reads, header = cut(source, "--from", "1s")
    assert reads == [replace(one, time_ns=one.time_ns - SECOND_NS) for one in READS[1 : len(reads) + 1]]
    assert (header.complete, header.records, header.ended) == (True, len(reads), "cut off")
    assert (header.duration_ns, header.started, header.drops) == (reads[-1].time_ns, None, None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--from", "3s", "--to", "2s"), "--to must be later than --from"),
        (("--from", "10s"), "has no record in that part"),
        (("--dataset", "tank"), "has no dataset 'tank', only tank/mysql/data, tank/mysql/log"),
        (("--table", "shop.order"), "names no file of a table 'shop.order'"),
        (("--object", "/tank/mysql/data/shop/order.ibd"), "did you mean /tank/mysql/data/shop/orders.ibd?"),
    ],
)
def test_parts_that_cannot_be(source: Path, options: tuple[str, ...], said: str) -> None:
    assert said in refusal("trace", "cut", *options, source, source.with_name("part.trace"))
    assert list(source.parent.iterdir()) == [source]


def test_a_damaged_trace_gives_nothing(source: Path) -> None:
    whole = source.read_bytes()
    source.write_bytes(whole[:-30])
    target = source.with_name("part.trace")
    for argv in (("cut", source), ("merge", source)):
        assert f"{source} is" in refusal("trace", *argv, target)
        assert list(source.parent.iterdir()) == [source]
    source.write_bytes(whole)
    target.write_text("precious")
    for argv in (("cut", source), ("merge", source)):
        assert "exists" in refusal("trace", *argv, target)
        assert target.read_text() == "precious"


def test_json_says_what_was_made(source: Path) -> None:
    target = source.with_name("part.trace")
    for argv in (("cut", "-j"), ("merge", "--json", "--overwrite")):
        said = json.loads(zmysql("trace", *argv, source, target).stdout)
        assert said["output_version"]["command"] == f"zmysql trace {argv[0]}"
        assert (said["file"], said["records"], said["objects_named"]) == (str(target), len(READS), 4)


@settings(max_examples=40)
@given(any_records(), st.integers(0, 60), st.integers(1, 60))
def test_a_part_holds_the_records_of_its_time(reads: list[Read], start: int, length: int) -> None:
    wanted = [replace(one, time_ns=one.time_ns - start) for one in reads if start <= one.time_ns < start + length]
    if not wanted:
        return
    with TemporaryDirectory() as folder:
        source, target = write_trace(Path(folder) / "a", reads), Path(folder) / "b"
        header = cut_trace(source, target, Part(from_ns=start, to_ns=start + length))
        assert reads_of(target) == wanted
        assert header.objects.keys() == {(one.objset, one.object) for one in wanted} & HEADER.objects.keys()


TIMES = st.lists(st.integers(0, 10 * SECOND_NS), min_size=1, max_size=20).map(sorted)


@settings(max_examples=40)
@given(st.lists(st.tuples(TIMES, st.integers(0, 3)), min_size=1, max_size=4))
def test_records_are_merged_by_their_times(parts: list[tuple[list[int], int]]) -> None:
    with TemporaryDirectory() as folder:
        paths, wanted = [], []
        for number, (times, second) in enumerate(parts):
            reads = [read(time_ns, blkid=number) for time_ns in times]
            header = replace(HEADER, started=f"2026-11-20T07:00:0{second}Z", pid=number, drops=number)
            paths.append(write_trace(Path(folder) / str(number), reads, header))
            wanted += [replace(one, time_ns=one.time_ns + second * SECOND_NS) for one in reads]
        first_ns = min(second for _, second in parts) * SECOND_NS
        header = merge_traces(paths, Path(folder) / "all")
        ordered = sorted(wanted, key=lambda one: one.time_ns)  # stable: of equal times the first trace's comes first
        assert reads_of(Path(folder) / "all") == [replace(one, time_ns=one.time_ns - first_ns) for one in ordered]
        assert header.records == len(wanted)
        assert header.drops == sum(range(len(parts)))
        assert header.duration_ns == (max(second for _, second in parts) + 10) * SECOND_NS - first_ns


def test_the_parts_of_a_trace_make_it_whole_again(source: Path) -> None:
    first, second, whole = (source.with_name(name) for name in ("1.trace", "2.trace", "whole.trace"))
    cut_trace(source, first, Part(to_ns=1_000_000_001))
    cut_trace(source, second, Part(from_ns=1_000_000_001))
    assert merge_traces([second, first], whole) == replace(HEADER, records=len(READS))
    assert reads_of(whole) == READS


OTHERS = [
    (replace(HEADER, host="db2"), "a.trace was recorded on db1 and"),
    (replace(HEADER, host=None), "doesn't say on which host and when it began"),
    (replace(HEADER, started=None), "doesn't say on which host and when it began"),
    (replace(HEADER, started="yesterday"), "doesn't say on which host and when it began"),
    (replace(HEADER, started="2026-02-30T07:00:00Z"), "doesn't say on which host and when it began"),
    (replace(HEADER, sampling="1/64"), "only equal samples can be merged"),
    (HEADER, "traced process 4711 at the same time"),
    (replace(HEADER, pid=2, datasets={54: Dataset("dozer", 16384)}), "dataset 54 is 'dozer' in"),
    (replace(HEADER, pid=2, objects={(54, 128): "/other"}), "object 54:128 is '/other' in"),
]


@pytest.mark.parametrize(("other", "said"), OTHERS)
def test_traces_that_do_not_belong_together(source: Path, other: Header, said: str) -> None:
    second = write_trace(source.with_name("b.trace"), READS, other)
    assert said in refusal("trace", "merge", source, second, source.with_name("c.trace"))
    assert not source.with_name("c.trace").exists()


def test_files_that_cannot_be_merged(source: Path) -> None:
    assert "is named twice" in refusal("trace", "merge", source, source, source.with_name("c.trace"))
    assert "is one of the FILEs itself" in refusal("trace", "merge", "--overwrite", source, source)
    assert "is FILE itself" in refusal("trace", "cut", "--overwrite", source, source)
    assert reads_of(source) == READS
    missing = source.with_name("missing")
    assert f"{missing} can't be read" in refusal("trace", "merge", source, missing, source.with_name("c.trace"))


def test_what_two_recordings_do_not_agree_on_is_unknown(source: Path) -> None:
    later = replace(
        HEADER, started="2026-11-20T08:00:00Z", mysql="9.7.5", drops=None, pid=9, arc_bytes=2 << 30, ended="interrupted"
    )
    second = write_trace(source.with_name("b.trace"), READS, later)
    header = merge_traces([second, source], source.with_name("c.trace"))
    assert (header.mysql, header.drops, header.pid, header.os) == (None, None, None, HEADER.os)
    assert (header.arc_bytes, header.l2arc_bytes, header.ended) == (2 << 30, None, "interrupted")
    assert (header.started, header.duration_ns) == (HEADER.started, 3610 * SECOND_NS)


@pytest.mark.parametrize(
    ("text", "since_1970_ns"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-11-20T07:00:00Z", 1_795_158_000 * SECOND_NS),
        ("2026-11-20T07:00:00.25Z", 1_795_158_000 * SECOND_NS + SECOND_NS // 4),
        ("2026-11-20T07:00:00.000000001Z", 1_795_158_000 * SECOND_NS + 1),
    ],
)
def test_starts_are_read_as_they_are_written(text: str, since_1970_ns: int) -> None:
    assert parse_started(text) == since_1970_ns
    assert format_started(since_1970_ns) == text

"""What is exported and imported again is the same, as far as the format can carry it; two importers of CSV agree."""

from __future__ import annotations

import csv
import io
import struct
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import Read
from trace_files import HEADER, any_records, read, reads_of, write_trace

from zmysql.errors import ZmysqlError
from zmysql.trace.export import export_trace
from zmysql.trace.format import CLASSES, COLUMNS, Dataset, Header, header_text, read_header
from zmysql.trace.importer import Foreign, Found, import_trace, read_by_engine, read_csv
from zmysql.trace.made import make_trace

UNKNOWN = Header(complete=True)


@settings(max_examples=60)
@given(any_records())
def test_parquet_has_every_column(reads: list[Read]) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet  # noqa: PLC0415 - where it is installed

    with TemporaryDirectory() as folder:
        source = write_trace(Path(folder) / "a.trace", reads)
        out = Path(folder) / "a.parquet"
        assert export_trace(source, out, "parquet").records == len(reads)
        table = parquet.read_table(out)
        assert table.schema.metadata[b"zmysql-trace"].decode() == header_text(HEADER)
        columns = [table.column(name).to_pylist() for name in COLUMNS.split()]
        assert [Read(*row) for row in zip(*columns, strict=True)] == reads


@settings(max_examples=40)
@given(any_records())
def test_oraclegeneral_keeps_seconds_sizes_and_which_block_is_read_again(reads: list[Read]) -> None:
    with TemporaryDirectory() as folder:
        source = write_trace(Path(folder) / "a.trace", reads)
        out, again = Path(folder) / "a.oracleGeneral", Path(folder) / "b.trace"
        done = export_trace(source, out, "oracleGeneral")
        assert done.left_out == sum(not one.is_read for one in reads)
        reads = [one for one in reads if one.is_read]
        assert done.records == len(reads)
        assume(reads)
        requests = list(struct.iter_unpack("<IQIq", out.read_bytes()))
        numbers: dict[object, int] = {}
        for at, (one, (seconds, number, size, following)) in enumerate(zip(reads, requests, strict=True)):
            assert seconds == min(one.time_ns // 10**9, 2**32 - 1)
            assert number == numbers.setdefault(one.block, len(numbers) + 1)
            assert size == one.size
            later = (later for later in range(at + 1, len(reads)) if reads[later].block == one.block)
            assert following == next(later, -1)
        import_trace(Foreign(out, "oracleGeneral", recordsize=None), again)
        start = requests[0][0]
        assert reads_of(again) == [
            Read(max(seconds - start, 0) * 10**9, 1, 1, 0, number, size, "-") for seconds, number, size, _ in requests
        ]


SIZE = 16384


@settings(max_examples=60)
@given(
    st.lists(
        st.builds(
            read,
            st.integers(0, 2**62),
            st.sampled_from([54, 55]),
            st.sampled_from([128, 129, 9]),
            st.integers(0, (10**18) // SIZE),
        ),
        min_size=1,
        max_size=30,
    ),
    st.lists(
        st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), min_size=1), min_size=4, max_size=4
    ),
)
def test_csv_keeps_times_objects_and_blocks(reads: list[Read], paths: list[str]) -> None:
    reads[0] = replace(reads[0], time_ns=min(one.time_ns for one in reads))
    addresses = [(54, 128), (54, 129), (55, 128), (55, 129)]
    header = replace(HEADER, objects=dict(zip(addresses, paths, strict=True)))
    with TemporaryDirectory() as folder:
        source = write_trace(Path(folder) / "a.trace", reads, header)
        out, again = Path(folder) / "a.csv", Path(folder) / "b.trace"
        assert export_trace(source, out, "csv").left_out == 0
        import_trace(Foreign(out), again)
        names = read_header(again).objects
        found = [(one.time_ns, names[one.objset, one.object], one.blkid, one.size) for one in reads_of(again)]
        unique = {at: path for at, path in header.objects.items() if paths.count(path) == 1}
        assert found == [
            (
                one.time_ns - reads[0].time_ns,
                unique.get((one.objset, one.object), f"{one.objset}:{one.object}"),
                one.blkid,
                one.size,
            )
            for one in reads
        ]


def test_csv_says_which_reads_it_leaves_out(tmp_path: Path) -> None:
    others = [read(8, kind="prefetch"), read(9, kind="write")]
    reads = [read(5), read(6, level=1), read(7, blkid=2**64 - 1), *others]
    done = export_trace(write_trace(tmp_path / "a.trace", reads), tmp_path / "a.csv", "csv")
    assert (done.records, done.left_out) == (1, 4)
    path = HEADER.objects[54, 128]
    assert (tmp_path / "a.csv").read_text() == f"time,object,offset,size\n5,{path},0,16384\n"


NUMBER = st.one_of(
    st.integers(0, 70_000).map(str),
    st.sampled_from(["0", " 7 ", "", "-1", "1.5", "x", "9" * 19, "9" * 20, "1073741825", "007"]),
)
NAME = st.text(st.sampled_from('ab,"\n é'), max_size=4)
ROW = st.tuples(st.integers(5, 9).map(str) | NUMBER, NAME, NUMBER, st.integers(0, 70_000).map(str) | NUMBER)


@settings(max_examples=200)
@given(st.lists(ROW, max_size=6), st.booleans(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_the_importers_of_csv_agree(rows: list[tuple[str, ...]], heading: bool, end: str, quote: bool) -> None:  # noqa: FBT001 - drawn
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL if quote else csv.QUOTE_MINIMAL)
    if heading:
        writer.writerow(["time", "object", "offset", "size"])
    writer.writerows(rows)
    with TemporaryDirectory() as folder:
        source = Path(folder) / "in"
        source.write_bytes(text.getvalue().encode())
        results = [_imported(reader, Foreign(source), Path(folder) / "out") for reader in (read_csv, read_by_engine)]
        assert results[0] == results[1]


def _imported(reader: object, foreign: Foreign, out: Path) -> tuple[Found, list[Read]] | str:
    try:
        with make_trace(out, overwrite=True) as made:
            found: Found = reader(foreign, made)  # type: ignore[operator]  # one of the two
            made.close(UNKNOWN)
    except ZmysqlError as error:
        return str(error)
    return found, reads_of(out)


def test_a_dataset_and_all_classes_survive_in_the_metadata(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet  # noqa: PLC0415 - where it is installed

    reads = [read(at, kind=kind) for at, kind in enumerate(CLASSES)]
    header = replace(HEADER, datasets={54: Dataset("tänk/\n", 16384)})
    export_trace(write_trace(tmp_path / "a.trace", reads, header), tmp_path / "a.parquet", "parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column("class").to_pylist() == list(CLASSES)
    assert header_text(header).encode() == table.schema.metadata[b"zmysql-trace"]

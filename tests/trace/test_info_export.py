"""`zmysql trace info` and the command line of `trace export`."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from running import refusal, zmysql
from trace_files import HEADER, any_records, read, write_trace

from zmysql.errors import UsageError
from zmysql.host import Local
from zmysql.trace.format import CLASSES
from zmysql.trace.info import read_info
from zmysql.trace.place import new_file
from zmysql.trace.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path

    from reference import Read

READS = [read(5, kind="arc"), read(3, blkid=7), read(9, number=129, size=512), read(10, level=1)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "a.trace", READS, replace(HEADER, records=len(READS), drops=2, sampling="1/64"))


def test_info_as_json(source: Path) -> None:
    for option in ("-j", "--json"):
        said = json.loads(zmysql("trace", "info", option, source).stdout)
        assert said["output_version"] == {"command": "zmysql trace info", "vers_major": 0, "vers_minor": 1}
        assert said["classes"] == {
            "dbuf": 0,
            "arc": 1,
            "l2hit": 0,
            "miss": 3,
            "wait": 0,
            "hole": 0,
            "-": 0,
        } | dict.fromkeys(("direct", "prefetch", "write"), 0)
        assert (said["records"], said["drops"], said["sampling"], said["complete"]) == (4, 2, "1/64", True)
        assert (said["first_ns"], said["last_ns"], said["out_of_order"]) == (3, 10, 1)
        assert said["read_bytes"] == 3 * 16384 + 512
        assert said["datasets"][0] == {"objset": 54, "name": "tank/mysql/data", "recordsize": 16384}
        path = HEADER.objects[54, 128]
        reads = {"references": 3, "read_bytes": 49152, "sequential": 1}
        assert said["objects"][0] == {"objset": 54, "object": 128, "path": path, **reads}
        assert len(said["objects"]) == 2


def test_info_for_scripts_and_for_people(source: Path) -> None:
    lines = zmysql("trace", "info", "-H", source).stdout.splitlines()
    assert "records\t4" in lines
    assert "complete\ttrue" in lines
    assert "dataset\t54\ttank/mysql/data\t16384" in lines
    assert "class\tmiss\t3" in lines
    assert f"object\t54:129\t{HEADER.objects[54, 129]}\t1\t512" in lines
    said = zmysql("trace", "info", source).stdout
    for words in ("4, 48.5K, a sample of 1/64", "2 records", "miss", "75.0 %", "ZFS 2.3.9", "tank/mysql/data (16K"):
        assert words in said
    assert "ask for one of them" in refusal("trace", "info", "-j", "-H", source)


def test_info_of_a_recording_that_was_cut_off(source: Path) -> None:
    write_trace(source, READS, replace(HEADER, complete=False))
    source.write_bytes(source.read_bytes()[:-1])
    assert "cut off" in zmysql("trace", "info", source).stdout
    assert json.loads(zmysql("trace", "info", "-j", source).stdout)["complete"] is False
    assert "No such file" in refusal("trace", "info", source.with_name("missing"))


def test_a_name_does_nothing_to_the_terminal(source: Path) -> None:
    write_trace(source, READS, replace(HEADER, objects={(54, 128): "/a\x1b[2J\n\tb"}, host="\x1b[1m"))
    for option in ((), ("-H",)):
        said = zmysql("trace", "info", *option, source).stdout
        assert "\x1b" not in said
        assert r"/a\x1b[2J\n\tb" in said


@settings(max_examples=40)
@given(any_records())
def test_counts_are_those_of_the_lines(tmp_path_factory: pytest.TempPathFactory, reads: list[Read]) -> None:
    counts = read_info(write_trace(tmp_path_factory.mktemp("info") / "a.trace", reads)).counts
    assert counts
    assert counts.classes == {kind: sum(one.kind == kind for one in reads) for kind in CLASSES}
    reads = [one for one in reads if one.is_read]
    assert counts.read_bytes == sum(one.size for one in reads)
    found = {(one.objset, one.object): (one.references, one.read_bytes) for one in counts.objects}
    for address, counted in found.items():
        sizes = [one.size for one in reads if (one.objset, one.object) == address]
        assert counted == (len(sizes), sum(sizes))
    assert sum(references for references, _ in found.values()) == len(reads)
    assert [one.references for one in counts.objects] == sorted((r for r, _ in found.values()), reverse=True)


WITHOUT = """
import sys
sys.modules["zmysql.locality._engine"] = None
from zmysql.cli.main import main
main()
"""


def test_without_the_engine_the_header_is_shown_and_csv_imported(source: Path) -> None:
    def run(*argv: object) -> str:
        done = Local().run([sys.executable, "-c", WITHOUT, "trace", *map(str, argv)], check=False)
        return done.stdout + done.stderr

    said = json.loads(run("info", "-j", source))
    assert (said["records"], said["classes"], said["objects"]) == (4, None, None)
    assert "tank/mysql/data" in run("info", source)
    for argv in (("cut", source), ("merge", source), ("export", "--format", "csv", source)):
        assert "the engine isn't built here" in run(*argv, source.with_name("out"))
    rows = source.with_name("a.csv")
    rows.write_text("1,a,0,1\n")
    assert "1 records read by 1 accesses" in run("import", rows, source.with_name("out"))
    assert "the engine isn't built here" in run("import", "--format", "vscsi", rows, source.with_name("out2"))


@pytest.mark.parametrize(("name", "kind"), [("a.csv", "csv"), ("a.oracleGeneral.bin", "oracleGeneral"), ("a.x", "csv")])
def test_export_takes_its_format_from_the_name(source: Path, name: str, kind: str) -> None:
    target = source.with_name(name)
    option = ("--format", kind) if name == "a.x" else ()
    said = json.loads(zmysql("trace", "export", "--json", *option, source, target).stdout)
    assert (said["records"], said["file_bytes"]) == (3 if kind == "csv" else 4, target.stat().st_size)
    assert "exists" in refusal("trace", "export", *option, source, target)
    target.write_text("old")
    assert zmysql("trace", "export", "--overwrite", *option, source, target).exit_status == 0
    assert target.stat().st_size == said["file_bytes"]


def test_exports_that_cannot_be(source: Path) -> None:
    assert "add --format parquet|oracleGeneral|csv" in refusal("trace", "export", source, source.with_name("a.txt"))
    assert "is FILE itself" in refusal("trace", "export", "--overwrite", "--format", "csv", source, source)
    whole = source.read_bytes()
    source.write_bytes(whole[:-20])
    for kind in ("csv", "oracleGeneral", "parquet"):
        target = source.with_name("out")
        target.write_text("precious")
        assert f"{source} is" in refusal("trace", "export", "--overwrite", "--format", kind, source, target)
        assert target.read_text() == "precious"
    assert sorted(path.name for path in source.parent.iterdir()) == ["a.trace", "out"]


def test_without_pyarrow_the_way_out_is_named(source: Path) -> None:
    program = WITHOUT.replace("zmysql.locality._engine", "pyarrow")
    argv = ["trace", "export", str(source), str(source.with_name("a.parquet"))]
    done = Local().run([sys.executable, "-c", program, *argv], check=False)
    assert done.exit_status == 1
    assert "pip install 'zmysql[export]'" in done.stderr
    assert list(source.parent.iterdir()) == [source]


FULL = """
import resource
from zmysql.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
main()
"""


@pytest.mark.parametrize("kind", ["csv", "oracleGeneral", "parquet"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, kind: str) -> None:
    # A limit on the file's size (setrlimit) stops a write in its middle, as a full disk does.
    reads = [read(time_ns * 7919, blkid=time_ns * 104_729 % 1_000_003) for time_ns in range(3000)]
    source, target = write_trace(tmp_path / "a.trace", reads), tmp_path / "out"
    target.write_text("precious")
    argv = ["trace", "export", "--overwrite", "--format", kind, str(source), str(target)]
    done = Local().run([sys.executable, "-c", FULL, *argv], check=False)
    assert done.stderr == f"zmysql: {target} can't be written: File too large\n"
    assert target.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.trace", "out"]


MAIN = "from zmysql.cli.main import main; main()"


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    source, folder = tmp_path / "fifo", tmp_path / "made"
    folder.mkdir()
    os.mkfifo(source)
    pipe = os.open(source, os.O_RDWR)  # so that it doesn't end
    os.write(pipe, b"1,a,0,1\n" * 1000)
    argv = ["trace", "import", str(source), str(folder / "out.trace")]
    with Local().start([sys.executable, "-c", MAIN, *argv]) as process:
        deadline = time.monotonic() + 60
        while not list(folder.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [path.name for path in folder.iterdir()] == [".out.trace.new"]
        time.sleep(1)  # it waits for more rows now
        process.interrupt()
        assert process.wait(60) == 130
        assert process.stderr().strip() == "zmysql: interrupted"
    os.close(pipe)
    assert list(folder.iterdir()) == []


def test_two_that_make_one_file_do_not_meet(tmp_path: Path) -> None:
    with new_file(tmp_path / "a", overwrite=False) as new:
        new.write_text("first")
        message = re.escape("is being made by another zmysql right now")
        with pytest.raises(UsageError, match=message), new_file(tmp_path / "a", overwrite=False):
            pass
    assert (tmp_path / "a").read_text() == "first"
    (tmp_path / ".a.new").write_text("what a kill -9 left, and longer than what comes")
    with new_file(tmp_path / "a", overwrite=True) as new:
        assert new.read_text() == ""
        new.write_text("second")
    assert (tmp_path / "a").read_text() == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_that_comes_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exists"), new_file(tmp_path / "a", overwrite=False):
        (tmp_path / "a").write_text("precious")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "precious")]


def test_what_is_being_recorded_is_not_replaced(tmp_path: Path) -> None:
    with Writer(tmp_path / "a", HEADER):
        with pytest.raises(UsageError, match="is being recorded"), new_file(tmp_path / "a", overwrite=True):
            pass
        assert [path.name for path in tmp_path.iterdir()] == ["a"]

"""`zmysql trace import`."""

from __future__ import annotations

import gzip
import sys
from typing import TYPE_CHECKING

import pytest
from running import refusal, zmysql

from zmysql.host import Local
from zmysql.trace.format import Dataset, read_header

if TYPE_CHECKING:
    from pathlib import Path


def lines_of(path: Path) -> list[str]:
    return [line for line in gzip.decompress(path.read_bytes()).decode().splitlines() if not line.startswith("#")]


def test_an_access_counts_each_record_it_spans(tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.trace"
    source.write_text("100,a,0,1\n250,b,16383,2\n200,a,16384,32768\n300,a,5,0\n")
    argv = ("--format", "csv", "--columns", "time,object,offset,size", "--recordsize", "16K", source, target)
    done = zmysql("trace", "import", *argv)
    assert done.exit_status == 0
    assert "5 records read by 3 accesses" in done.stderr
    assert "accesses of 0 bytes, which read no record: 1" in done.stderr
    assert lines_of(target) == [
        "0 1 1 0 0 16384 -",
        "150 1 2 0 0 16384 -",
        "150 1 2 0 1 16384 -",
        "100 1 1 0 1 16384 -",
        "100 1 1 0 2 16384 -",
    ]
    header = read_header(target)
    assert (header.complete, header.records, header.duration_ns, header.imported) == (True, 5, 200, str(source))
    assert header.objects == {(1, 1): "a", (1, 2): "b"}
    assert header.datasets == {1: Dataset(str(source), 16384)}


def test_columns_may_be_in_any_order_and_be_ignored(tmp_path: Path) -> None:
    text = '-,size,offset,-,object,time\nx,512,1024,y,"a, ""b""",1700000000000000007\n'
    target = tmp_path / "out.trace"
    argv = ("--columns", "-,size,offset,-,object,time", "--recordsize", "512", "-", target)
    assert zmysql("trace", "import", *argv, stdin=text).exit_status == 0
    assert lines_of(target) == ["0 1 1 0 2 512 -"]
    assert read_header(target).objects == {(1, 1): 'a, "b"'}
    assert read_header(target).imported == "standard input"


def test_compressed_input_and_names_in_any_encoding(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out.trace"
    source.write_bytes(gzip.compress(b"\xef\xbb\xbftime,object,offset,size\r\n1,\xff,0,1\r\n\r\n2,\xfe,0,1\r\n"))
    assert zmysql("trace", "import", source, target).exit_status == 0
    assert read_header(target).objects == {(1, 1): "\\xff", (1, 2): "\\xfe"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no read"),
        ("time,object,offset,size\n", "holds no read"),
        ("1,a,0,0\n", "holds no read"),
        ("t,o,off,s\n1,a,0,1\n", "line 1: time 't' is no whole number of nanoseconds"),
        ("1,a,0,1\n1.5,a,0,1\n", "line 2: time '1.5'"),
        ("1,a,0,1\n0,a,0,1\n", "line 2: time 0 is before the first row's"),
        ("1,a,-1,1\n", "line 1: offset '-1'"),
        ("1,a,0," + "9" * 5000 + "\n", "line 1: size '999"),
        ("1,a,0,1073741825\n", "line 1: size 1073741825 is more than 1G"),
        ("1,a,0,1\n\n1,a,0\n", "line 3: it has 3 columns"),
        ("1,a,0,1,x\n", "line 1: it has 5 columns"),
        ("1,a\0,0,1\n2,²,0,²\n", "line "),
        ("1," + "a" * 200_000 + ",0,1\n", "line 1: it is no CSV: field larger than"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_and_nothing_is_left(tmp_path: Path, text: str, said: str) -> None:
    source = tmp_path / "in.csv"
    source.write_text(text)
    message = refusal("trace", "import", source, tmp_path / "out.trace")
    assert message.startswith(str(source))
    assert said in message
    assert list(tmp_path.iterdir()) == [source]


def test_files_that_cannot_be(tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.trace"
    source.write_text("1,a,0,1\n" * 1000)
    assert "No such file" in refusal("trace", "import", tmp_path / "missing", target)
    assert "Is a directory" in refusal("trace", "import", tmp_path, target)
    assert "No such file" in refusal("trace", "import", source, tmp_path / "missing" / "out.trace")
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(source.read_bytes())[:-20])
    assert "is cut off or damaged after line" in refusal("trace", "import", cut, target)
    assert not target.exists()
    target.write_text("precious")
    assert "exists" in refusal("trace", "import", source, target)
    assert target.read_text() == "precious"
    assert "is IN itself" in refusal("trace", "import", "--overwrite", source, source)
    assert zmysql("trace", "import", "--overwrite", source, target).exit_status == 0
    assert read_header(target).records == 1000


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--columns", "time,object,offset"), "must name size once"),
        (("--columns", "time,time,object,offset,size"), "must name time once"),
        (("--columns", "time,object,offset,size,pid"), "'pid' is none of"),
        (("--recordsize", "20K"), "powers of two"),
        (("--recordsize", "32M"), "powers of two"),
        (("--recordsize", "0"), "powers of two"),
        (("--recordsize", "big"), "'big' is no size"),
        (("--format", "tcpdump"), "'tcpdump' is not"),
        (("--format", "blkparse", "--columns", "time,object,offset,size"), "--columns is for CSV"),
        (("--format", "oracleGeneral", "--recordsize", "16K"), "--recordsize is of no use"),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, argv: tuple[str, ...], said: str) -> None:
    assert said in refusal("trace", "import", *argv, "-", tmp_path / "out.trace", stdin="1,a,0,1\n")
    assert list(tmp_path.iterdir()) == []


FULL = """
import resource
from zmysql.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
main()
"""


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    # A limit on the file's size (setrlimit) stops a write in its middle, as a full disk does.
    source, target = tmp_path / "in.csv", tmp_path / "out.trace"
    source.write_text("".join(f"{at},a,{at * 7919 % 99991 * 512},1\n" for at in range(50_000)))
    done = Local().run([sys.executable, "-c", FULL, "trace", "import", str(source), str(target)], check=False)
    assert done.exit_status == 1
    assert done.stderr == f"zmysql: {target} can't be written: File too large\n"
    assert list(tmp_path.iterdir()) == [source]

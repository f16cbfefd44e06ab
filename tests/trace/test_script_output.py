"""What a script that sums up prints, and the file that keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from zmysql.errors import ZmysqlError
from zmysql.trace.script_output import ScriptFile, is_script_file, parse_output, read_script_file

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """# began 372314813, 1795160252142432913 ns since 1970
# sampling 1/64
# objset object reads name
# at 373314813
54 128 17 shop/a b.ibd
54 129 -1 -
# of 18 reads 7 were of records read before.
# latency of commits, ns

           value  ------------- Distribution ------------- count
            1024 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 3

# process 12 exited
"""
FILE = ScriptFile("locality", {"host": "db1", "drops": 0, "objects": {"54:128": "/t/shop/a b.ibd"}}, TEXT)


def test_rows_words_and_histograms_are_told_apart() -> None:
    found = parse_output(TEXT)
    assert found.columns == ("objset", "object", "reads", "name")
    assert found.rows == ((54, 128, 17, "shop/a b.ibd"), (54, 129, -1, "-"))
    assert found.notes == ("of 18 reads 7 were of records read before.",)
    assert found.drawn[0] == "latency of commits, ns"
    assert len(found.drawn) == 3
    assert found.rate == 64


def test_bpftrace_s_histograms_are_drawn_too() -> None:
    found = parse_output("# began 1, 2 ns since 1970\n# a b\n1 x\n# sizes\n@sizes:\n[1K, 2K)  3 |@@@|\n")
    assert found.drawn == ("sizes", "@sizes:", "[1K, 2K)  3 |@@@|")
    assert (found.rows, found.notes, found.rate) == (((1, "x"),), (), 1)


@pytest.mark.parametrize("text", ["1 2\n", "# a b c\n1 2\n"])
def test_a_row_that_doesn_t_fit_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="a row of"):
        parse_output(text)


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(FILE.as_text())
    assert is_script_file(path)
    assert read_script_file(path) == FILE
    assert read_script_file(path).output == parse_output(TEXT)


def test_a_trace_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("# zmysql-trace: 1\n")
    assert not is_script_file(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FILE.as_text().partition("# output")[0], "cut off"),
        (FILE.as_text().replace("script: 1", "script: 2", 1), "is no script's output"),
        (FILE.as_text().replace('"db1"', "db1", 1), "'host' has no JSON value"),
        ("\0\xff", "has no JSON value"),
        ("", "is no script's output"),
    ],
)
def test_what_is_damaged_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a"
    path.write_text(text)
    with pytest.raises(ZmysqlError, match=message):
        read_script_file(path)


def test_a_file_that_isn_t_there_is_named(tmp_path: Path) -> None:
    for read in (is_script_file, read_script_file):
        with pytest.raises(ZmysqlError, match="can't be read"):
            read(tmp_path / "none")

"""A recording in several files: each is a whole trace, and none is lost that should stay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from trace_files import HEADER, reads_of

from zmysql.errors import UsageError
from zmysql.trace.format import read_header
from zmysql.trace.parts import Parts

if TYPE_CHECKING:
    from pathlib import Path

LINE = b"%d 54 128 0 7 16384 miss\n"


def written(path: Path, parts: int, *, keep: int | None = None, overwrite: bool = False) -> list[Path]:
    """Write so many parts of two records each."""
    with Parts(path, HEADER, overwrite=overwrite, part_bytes=1, keep=keep) as made:
        for number in range(parts):
            made.write(LINE % (2 * number) + LINE % (2 * number + 1))
            assert made.full
            assert made.records == 2 * number + 2
            if number < parts - 1:
                made.begin(replace(HEADER, ended=f"part {number}"), HEADER)
        made.close(HEADER)
        return made.files


def test_each_part_is_a_whole_trace(tmp_path: Path) -> None:
    files = written(tmp_path / "a.trace", 3)
    assert [file.name for file in files] == ["a.trace", "a.trace.2", "a.trace.3"]
    for number, file in enumerate(files):
        assert [read.time_ns for read in reads_of(file)] == [2 * number, 2 * number + 1]
        header = read_header(file)
        assert (header.complete, header.records) == (True, 2)
    assert read_header(files[0]).ended == "part 0"


def test_the_last_ones_are_kept(tmp_path: Path) -> None:
    files = written(tmp_path / "a.trace", 12, keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.trace.11", "a.trace.12"]
    assert [file.name for file in files] == ["a.trace.11", "a.trace.12"]


@pytest.mark.parametrize("name", ["a.trace", "a[1]*?.trace", "a b.trace"])
def test_an_earlier_recording_is_in_the_way_with_any_of_its_parts(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    (tmp_path / "a1x.trace.2").touch()  # what an unquoted pattern would take for a part
    (tmp_path / f"{name}.note").touch()
    written(path, 11)
    path.unlink()
    with pytest.raises(UsageError, match="is a part of an earlier recording"):
        written(path, 1)
    written(path, 2, overwrite=True)
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(["a1x.trace.2", f"{name}.note", name, f"{name}.2"])


def test_without_a_size_there_is_one_file(tmp_path: Path) -> None:
    with Parts(tmp_path / "a.trace", HEADER, overwrite=False) as made:
        made.write(LINE % 1)
        assert not made.full
        made.close(HEADER)
    assert [path.name for path in tmp_path.iterdir()] == ["a.trace"]

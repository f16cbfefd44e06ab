"""`--html` and `--png`: what is written, what is refused, and what is needed for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from running import refusal, zmysql

from zmysql.host import Local

TRACE = Path(__file__).parents[1] / "data/sysbench-random-points/trace.gz"
PNG = b"\x89PNG\r\n\x1a\n"
PICTURES = {"miss-ratio-curve.png", "served-from.png"}


def without(module: str, *argv: object) -> tuple[int, str]:
    """Run zmysql where a package isn't installed."""
    program = f"import sys; sys.modules[{module!r}] = None; from zmysql.cli.main import main; main()"
    done = Local().run([sys.executable, "-c", program, *map(str, argv)], check=False)
    assert done.stdout == ""
    return done.exit_status, done.stderr


def test_a_report_is_written_beside_the_one_on_the_terminal(tmp_path: Path) -> None:
    one, other, pictures = tmp_path / "one.html", tmp_path / "other.html", tmp_path / "slides/today"
    done = zmysql("locality", "report", TRACE, "--html", one, "--png", pictures)
    assert (done.exit_status, done.stderr) == (0, "")
    assert done.stdout == zmysql("locality", "report", TRACE).stdout
    html = one.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    for words in ("zmysql-testbed", "2026-11-20", "2.3.9-0+deb13u1", "mysqld 9.7.4-2", "tank/mysql/data (16K records)"):
        assert words in html
    assert {picture.name for picture in pictures.iterdir()} >= PICTURES
    assert all(picture.read_bytes().startswith(PNG) for picture in pictures.iterdir())
    assert zmysql("locality", "report", TRACE, "-j", "--html", other).exit_status == 0
    assert other.read_bytes() == one.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"one.html", "other.html", "slides"}


def test_what_is_there_is_kept_unless_it_may_go(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert refusal("locality", "report", "missing.trace", "--html", page) == (
        f"{page} exists: name another file, or let it go with --overwrite"
    )
    assert page.read_text() == "mine"
    link = tmp_path / "link.html"
    link.symlink_to(page)
    assert zmysql("locality", "report", TRACE, "--html", link, "--overwrite").exit_status == 0
    assert link.is_symlink()
    assert page.stat().st_size > 500_000


def test_pictures_that_are_there_are_kept_unless_they_may_go(tmp_path: Path) -> None:
    picture = tmp_path / "miss-ratio-curve.png"
    picture.write_text("mine")
    assert f"{tmp_path} holds pictures already" in refusal("locality", "report", "missing.trace", "--png", tmp_path)
    assert picture.read_text() == "mine"
    assert zmysql("locality", "report", TRACE, "--png", tmp_path, "--overwrite").exit_status == 0
    assert picture.read_bytes().startswith(PNG)


def test_places_where_nothing_can_be_written(tmp_path: Path) -> None:
    assert "exists and is no file" in refusal("locality", "report", TRACE, "--html", tmp_path)
    assert f"{tmp_path}/a is no directory" in refusal("locality", "report", TRACE, "--html", tmp_path / "a/b")
    (tmp_path / "file").touch()
    assert "is no directory" in refusal("locality", "report", TRACE, "--png", tmp_path / "file")
    assert "can't be made: Not a directory" in refusal("locality", "report", TRACE, "--png", tmp_path / "file/deeper")


@pytest.mark.parametrize("module", ["altair", "vl_convert", "jinja2"])
@pytest.mark.parametrize("option", ["--html", "--png"])
def test_without_the_packages_it_says_how_to_get_them(tmp_path: Path, module: str, option: str) -> None:
    assert without(module, "locality", "report", TRACE, option, tmp_path / "out") == (
        1,
        f"zmysql: {option} needs the packages altair and vl-convert-python: pip install 'zmysql[report]'\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_other_commands_import_none_of_it() -> None:
    program = "import zmysql.cli.main, sys; print([m for m in ('altair', 'vl_convert', 'jinja2') if m in sys.modules])"
    assert Local().run([sys.executable, "-c", program]).stdout == "[]\n"

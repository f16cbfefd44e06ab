"""Writes the page and the pictures; what they need is imported only when somebody wants them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zmysql.errors import UsageError, ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Mapping


def refuse_early(html: Path | None, png: Path | None, *, overwrite: bool) -> None:
    """Find out before the work is done that its result couldn't be written.

    Raises UsageError where the page's file or pictures are there already, unless `overwrite` says that they may go, and
    ZmysqlError where the packages that draw the charts aren't installed.
    """
    for option, path in (("--html", html), ("--png", png)):
        if path is not None:
            _need_packages(option)
    if html is not None:
        _refuse_file(html, overwrite=overwrite)
    if png is not None and png.exists() and not png.is_dir():
        raise UsageError(f"{png} exists and is no directory: name another for --png")
    if png is not None and not overwrite and any(png.glob("*.png")):
        raise UsageError(f"{png} holds pictures already: name another directory, or let them go with --overwrite")


def write(report: Mapping[str, Any], html: Path | None, png: Path | None, *, overwrite: bool) -> None:
    """Write the page, and each figure as a picture, of the dict of `zmysql locality report -j`.

    Each file appears whole or not at all. Raises UsageError where a file is there already and may not go, and
    ZmysqlError where one can't be written.
    """
    if html is not None:
        from zmysql.report.page.page import render  # noqa: PLC0415 - takes half a second, and packages that may be absent

        _put(html, render(report).encode(), overwrite=overwrite)
    if png is not None:
        from zmysql.report.page.pictures import pictures  # noqa: PLC0415 - the same

        try:
            png.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ZmysqlError(f"{png} can't be made: {error.strerror}; name another place") from None
        for name, content in pictures(report):
            _put(png / name, content, overwrite=overwrite)


def _need_packages(option: str) -> None:
    try:
        import altair  # noqa: F401, ICN001, PLC0415 - only whether it is there
        import vl_convert  # noqa: F401, PLC0415 - the same
    except ImportError:
        raise ZmysqlError(
            f"{option} needs the packages altair and vl-convert-python: pip install 'zmysql[report]'"
        ) from None


def _put(path: Path, content: bytes, *, overwrite: bool) -> None:
    """Write a file beside its place, and move it there."""
    _refuse_file(path, overwrite=overwrite)
    path = Path(os.path.realpath(path))  # a link stays a link
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise ZmysqlError(f"{path} can't be written: {error.strerror}; name another place") from None


def _refuse_file(path: Path, *, overwrite: bool) -> None:
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} is no directory: make it first, or name another place for {path.name}")
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} exists and is no file: name another")
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists: name another file, or let it go with --overwrite")

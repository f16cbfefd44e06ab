"""Writes a trace in the formats of others."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zmysql.errors import UsageError
from zmysql.trace.engine import engine_for
from zmysql.trace.export_parquet import open_parquet
from zmysql.trace.format import Header, read_header
from zmysql.trace.place import new_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# The endings of file names that say which one is meant.
FORMATS = {"parquet": ".parquet", "oracleGeneral": ".oracleGeneral", "csv": ".csv"}

_ROWS_AT_ONCE = 1 << 19  # a row group of Parquet, and 19 MiB of columns


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: `left_out` are records that the format has no words for."""

    records: int
    left_out: int
    file_bytes: int


def format_by_name(target: Path) -> str:
    """Give the format that a file's name says.

    Raises UsageError where it says none.
    """
    for kind, ending in FORMATS.items():
        if target.name.lower().endswith((ending.lower(), f"{ending.lower()}.bin")):
            return kind
    raise UsageError(f"{target} doesn't say which format is meant: add --format {'|'.join(FORMATS)}")


def export_trace(
    source: Path,
    target: Path,
    kind: str,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Exported:
    """Write a trace as `kind`; memory doesn't grow with its length, for oracleGeneral it does with its blocks.

    Raises UsageError where `target` is taken, and ZmysqlError where the trace can't be read or the file can't be
    written; `target` is then what it was before.
    """
    header = read_header(source)
    if target.exists() and target.samefile(source):
        raise UsageError(f"{target} is FILE itself: name another file")
    export = {"parquet": _parquet, "oracleGeneral": _oracle, "csv": _csv}[kind]
    with new_file(target, overwrite=overwrite) as new, engine_for("trace export", source) as engine:
        records, left_out = export(engine, source, header, new, progress)
        return Exported(records, left_out, new.stat().st_size)


def _parquet(
    engine: Any,  # noqa: ANN401 - a module
    source: Path,
    header: Header,
    new: Path,
    progress: Callable[[int], None],
) -> tuple[int, int]:
    done = 0
    with open_parquet(new, header) as write:

        def take(rows: int, columns: list[bytes]) -> None:
            nonlocal done
            write(rows, columns)
            done += rows
            progress(done)

        engine.read_columns(source, complete=header.complete, records=header.records, at_once=_ROWS_AT_ONCE, sink=take)
    return done, 0


def _oracle(
    engine: Any,  # noqa: ANN401 - a module
    source: Path,
    header: Header,
    new: Path,
    _progress: Callable[[int], None],
) -> tuple[int, int]:
    try:
        requests, _, left_out = engine.export_oracle(source, new, complete=header.complete, records=header.records)
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0)) from None  # in the words that Python has for it
    return requests, left_out


def _csv(
    engine: Any,  # noqa: ANN401 - a module
    source: Path,
    header: Header,
    new: Path,
    progress: Callable[[int], None],
) -> tuple[int, int]:
    # Two files may have had one path, one after the other: then each goes by its number.
    holders = Counter(header.objects.values())
    names = [(address, path) for address, path in header.objects.items() if holders[path] == 1]
    done = 0
    with new.open("r+b") as out:

        def take(text: bytes, rows: int) -> None:
            nonlocal done
            out.write(text)
            done += rows
            progress(done)

        rows, left_out = engine.export_csv(
            source, complete=header.complete, records=header.records, names=names, sink=take
        )
    return rows, left_out

"""Brings in foreign traces: CSV with a time, an object, an offset and a size in each row."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, ZmysqlError
from zmysql.trace.format import Dataset, Header
from zmysql.trace.writer import Writer
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

NEEDED = ("time", "object", "offset", "size")
IGNORED = "-"
OBJSET = 1  # all that is imported lies in one dataset

_MIN_RECORDSIZE, _MAX_RECORDSIZE = 512, 16 << 20  # SPA_MINBLOCKSIZE, SPA_MAXBLOCKSIZE
_MAX_ACCESS_BYTES = 1 << 30  # larger is a wrong column, not a read
_NUMBER = re.compile(r"[0-9]{1,19}")  # below 2^64; nanoseconds since 1970 have 19 digits
_BATCH_LINES = 4096


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import made: accesses are rows, records are those that they read."""

    header: Header
    accesses: int
    empty_accesses: int


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where each value stands in a row."""

    names: tuple[str, ...]
    time: int
    object: int
    offset: int
    size: int


def import_csv(
    source: Path,
    target: Path,
    columns: Sequence[str],
    recordsize: int,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Imported:
    """Write the accesses of a CSV file as a trace of records of `recordsize` bytes.

    `columns` names the columns in their order: time (ns), object (any text), offset and size (bytes), and - for those
    to be ignored. A first row with exactly these names is taken as a header. An access that spans several records
    reads each; one of size 0 reads none. Times become relative to the first row's. The source may be gzip, and - is
    standard input. `progress` hears the records written so far.

    Raises UsageError for columns or a record size that can't be, ZmysqlError with file and line for a row that can't
    be read; nothing is left of the target then.
    """
    where = _columns(columns)
    if not _MIN_RECORDSIZE <= recordsize <= _MAX_RECORDSIZE or recordsize & (recordsize - 1):
        raise UsageError(f"a recordsize of {format_size(recordsize)} can't be: ZFS has powers of two from 512 to 16M")
    if overwrite and target.exists() and source.exists() and target.samefile(source):
        raise UsageError(f"{target} is IN itself: name another file")
    name = "standard input" if str(source) == "-" else str(source)
    dataset = Dataset(name, recordsize)
    header = Header(complete=False, datasets={OBJSET: dataset}, imported=name)
    with _text(source, name) as text, Writer(target, header, overwrite=overwrite, keep=False) as writer:
        rows = _Rows(text, name, where)
        for lines in rows.lines(recordsize):
            writer.write(lines)
            progress(writer.records)
        if not writer.records:
            raise ZmysqlError(f"{name} holds no read: there is nothing to import")
        objects = {(OBJSET, number): path for path, number in rows.objects.items()}
        final = replace(header, duration_ns=rows.last_ns, objects=objects)
        return Imported(writer.close(final), rows.accesses, rows.empty_accesses)


class _Rows:
    """Reads rows, numbers the objects, and remembers what the header wants to know."""

    def __init__(self, text: io.TextIOBase, name: str, where: _Columns) -> None:
        self._reader = csv.reader(text)
        self._name = name
        self._where = where
        self.objects: dict[str, int] = {}
        self.accesses = 0
        self.empty_accesses = 0
        self.last_ns = 0

    def lines(self, recordsize: int) -> Iterator[bytes]:
        """Yield the lines of a trace, many at once."""
        lines: list[str] = []
        for time_ns, number, offset, size in self._accesses():
            start = f"{time_ns} {OBJSET} {number} 0 "
            end = f" {recordsize} -\n"
            for blkid in range(offset // recordsize, (offset + size - 1) // recordsize + 1):
                lines.append(f"{start}{blkid}{end}")
                if len(lines) >= _BATCH_LINES:
                    yield "".join(lines).encode()
                    lines.clear()
        if lines:
            yield "".join(lines).encode()

    def _accesses(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield (time since the first row, number of the object, offset, size) of accesses that read something."""
        started_ns: int | None = None
        where = self._where
        for row in self._rows():
            time_ns = self._number(row[where.time], "time", "nanoseconds")
            offset = self._number(row[where.offset], "offset", "bytes")
            size = self._number(row[where.size], "size", "bytes")
            if size > _MAX_ACCESS_BYTES:
                raise self._wrong(f"size {size} is more than 1G: are the columns in this order?")
            if started_ns is None:
                started_ns = time_ns
            elif time_ns < started_ns:
                raise self._wrong(f"time {time_ns} is before the first row's: sort the rows by time")
            self.accesses += 1
            self.last_ns = max(self.last_ns, time_ns - started_ns)
            if size == 0:
                self.empty_accesses += 1
                continue
            number = self.objects.setdefault(row[where.object], len(self.objects) + 1)
            yield time_ns - started_ns, number, offset, size

    def _rows(self) -> Iterator[list[str]]:
        names = self._where.names
        try:
            first = next(self._reader, [])
            if [value.strip() for value in first] == list(names):
                first = []
            for row in chain([first], self._reader):
                if not row:
                    continue
                if len(row) != len(names):
                    raise self._wrong(f"it has {len(row)} columns, and --columns names {len(names)}: ignore one with -")
                yield row
        except csv.Error as error:
            raise self._wrong(f"it is no CSV: {error}") from None
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise self._wrong("the gzip data end or are damaged after it: copy the file again") from None
        except OSError as error:
            raise ZmysqlError(f"{self._name} can't be read: {error.strerror}") from None

    def _number(self, text: str, column: str, unit: str) -> int:
        digits = text.strip()
        if not _NUMBER.fullmatch(digits):
            order = ",".join(self._where.names)
            raise self._wrong(f"{column} {text[:40]!r} is no whole number of {unit}; --columns is {order}")
        return int(digits)

    def _wrong(self, why: str) -> ZmysqlError:
        return ZmysqlError(f"{self._name}, line {self._reader.line_num}: {why}")


def _columns(names: Sequence[str]) -> _Columns:
    for name in NEEDED:
        if names.count(name) != 1:
            raise UsageError(f"the columns must name {name} once: such as time,object,offset,size, and - for others")
    unknown = [name for name in names if name not in (*NEEDED, IGNORED)]
    if unknown:
        raise UsageError(f"column {unknown[0]!r} is none of {', '.join(NEEDED)}: call it - to ignore it")
    return _Columns(tuple(names), *(names.index(name) for name in NEEDED))


@contextmanager
def _text(source: Path, name: str) -> Iterator[io.TextIOBase]:
    """Open a CSV file, standard input or either of them compressed."""
    try:
        raw = os.fdopen(sys.stdin.fileno(), "rb", closefd=False) if str(source) == "-" else source.open("rb")
        zipped = raw.peek(2)[:2] == b"\x1f\x8b"
    except OSError as error:
        raise ZmysqlError(f"{name} can't be read: {error.strerror}") from None
    with raw:
        plain = gzip.GzipFile(fileobj=raw) if zipped else raw
        # Object names may be in any encoding; two that differ must stay two.
        yield io.TextIOWrapper(plain, "utf-8-sig", errors="backslashreplace", newline="")

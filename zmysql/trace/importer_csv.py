"""Reads a CSV file without the engine: the same records, ten times slower, on a host that has no Rust."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import sys
import zlib
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OBJSET = 1  # all that is imported lies in one dataset

_MAX_ACCESS_BYTES = 1 << 30  # larger is a wrong column, not a read
_NUMBER = re.compile(r"[0-9]{1,19}")  # below 2^64; nanoseconds since 1970 have 19 digits
_BATCH_LINES = 16384


class CsvRows:
    """Reads rows, numbers the objects, and remembers what the header wants to know."""

    def __init__(self, text: io.TextIOBase, name: str, columns: Sequence[str]) -> None:
        """Take a text, the name it has in messages, and the names of its columns."""
        self._reader = csv.reader(unbroken(text, name))
        self._name = name
        self._columns = columns
        self.objects: dict[str, int] = {}
        self.accesses = 0
        self.empty_accesses = 0
        self.last_ns = 0

    def lines(self, recordsize: int) -> Iterator[bytes]:
        """Yield the lines of a trace, many at once.

        Raises ZmysqlError, with file and line, for a row that can't be read, and where there is no read.
        """
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
        if self.accesses == 0:
            raise ZmysqlError(
                f"{self._name} holds no read: there is nothing to import; rows with a size above 0 are reads"
            )

    def _accesses(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield (time since the first row, number of the object, offset, size) of accesses that read something."""
        started_ns: int | None = None
        time_at, object_at, offset_at, size_at = map(self._columns.index, ("time", "object", "offset", "size"))
        for row in self._rows():
            time_ns = self._number(row[time_at], "time", "nanoseconds")
            offset = self._number(row[offset_at], "offset", "bytes")
            size = self._number(row[size_at], "size", "bytes")
            if started_ns is None:
                started_ns = time_ns
            elif time_ns < started_ns:
                raise self._wrong(f"time {time_ns} is before the first row's: sort the rows by time")
            if size > _MAX_ACCESS_BYTES:
                raise self._wrong(f"size {size} is more than 1G: are the columns in this order?")
            self.last_ns = max(self.last_ns, time_ns - started_ns)
            if size == 0:
                self.empty_accesses += 1
                continue
            self.accesses += 1
            number = self.objects.setdefault(row[object_at], len(self.objects) + 1)
            yield time_ns - started_ns, number, offset, size

    def _rows(self) -> Iterator[list[str]]:
        names = list(self._columns)
        try:
            first = next(self._reader, [])
            if [value.strip() for value in first] == names:
                first = []
            for row in chain([first], self._reader):
                if not row:
                    continue
                if len(row) != len(names):
                    raise self._wrong(f"it has {len(row)} columns, and --columns names {len(names)}: ignore one with -")
                yield row
        except csv.Error as error:
            raise self._wrong(f"it is no CSV: {error}") from None

    def _number(self, text: str, column: str, unit: str) -> int:
        digits = text.strip()
        if not _NUMBER.fullmatch(digits):
            order = ",".join(self._columns)
            raise self._wrong(f"{column} {text[:40]!r} is no whole number of {unit}; --columns is {order}")
        return int(digits)

    def _wrong(self, why: str) -> ZmysqlError:
        return ZmysqlError(f"{self._name} is wrong in line {self._reader.line_num}: {why}")


def unbroken(text: io.TextIOBase, name: str) -> Iterator[str]:
    """Yield the lines of a text, newlines included.

    Raises ZmysqlError with the place where it can't be read, or its compressed data are damaged.
    """
    number = 0
    try:
        for number, line in enumerate(text, 1):  # noqa: B007 - for the message
            yield line
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ZmysqlError(
            f"{name} is cut off or damaged after line {number}: its compressed data end there; copy it again"
        ) from None
    except OSError as error:
        raise ZmysqlError(f"{name} can't be read: {error.strerror}") from None


@contextmanager
def open_text(source: Path, name: str) -> Iterator[io.TextIOBase]:
    """Open a CSV file, standard input (-), or either of them compressed by gzip."""
    try:
        raw = os.fdopen(sys.stdin.fileno(), "rb", closefd=False) if source == Path("-") else source.open("rb")
        zipped = raw.peek(2)[:2] == b"\x1f\x8b"
    except OSError as error:
        raise ZmysqlError(f"{name} can't be read: {error.strerror}") from None
    with raw:
        plain = gzip.GzipFile(fileobj=raw) if zipped else raw
        # Object names may be in any encoding; two that differ must stay two.
        yield io.TextIOWrapper(plain, "utf-8-sig", errors="backslashreplace", newline="")

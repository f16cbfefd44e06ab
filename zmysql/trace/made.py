"""Traces that are made of others: imported, cut, merged. They appear whole, or not at all."""

from __future__ import annotations

import shutil
import tempfile
import zlib
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.trace.format import GZIP, Header
from zmysql.trace.place import new_file
from zmysql.trace.writer import member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO

_LEVEL = 1
_COPY_BYTES = 1 << 20


class Made:
    """A trace in the making: its body comes first, since only then its header is known.

    The body lies in a file without a name, so that nothing of it is left whatever happens.
    """

    def __init__(self, new: Path, body: IO[bytes], progress: Callable[[int], None]) -> None:
        """Take the path to write it to, an empty file for the body, and who hears the records so far."""
        self.records = 0
        self.header: Header | None = None
        self._new = new
        self._body = body
        self._progress = progress

    def append(self, packed: bytes, records: int) -> None:
        """Append a gzip member of whole lines in the format's columns."""
        self._body.write(packed)
        self.records += records
        self._progress(self.records)

    def write(self, lines: bytes) -> None:
        """Append whole lines in the format's columns."""
        compressor = zlib.compressobj(_LEVEL, wbits=GZIP)
        self.append(compressor.compress(lines) + compressor.flush(), lines.count(b"\n"))

    def close(self, header: Header) -> Header:
        """Put the header in front, and give it as it is then: complete, and with the number of records."""
        self.header = replace(header, complete=True, records=self.records)
        with self._new.open("r+b") as out:
            out.write(member(self.header))
            self._body.seek(0)
            shutil.copyfileobj(self._body, out, _COPY_BYTES)
        return self.header


@contextmanager
def make_trace(path: Path, *, overwrite: bool, progress: Callable[[int], None] = lambda _: None) -> Iterator[Made]:
    """Give a trace to be made, which takes its place when it was closed and the block ends well.

    Raises UsageError where `path` is taken, and ZmysqlError where it can't be written.
    """
    with new_file(path, overwrite=overwrite) as new, tempfile.TemporaryFile(dir=new.parent) as body:
        made = Made(new, body, progress)
        yield made
        if made.header is None:
            raise ZmysqlError(f"{path} isn't made: nothing was to be written")

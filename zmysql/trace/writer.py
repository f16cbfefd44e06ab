"""Writes a trace so that a crash, a full disk or kill -9 leaves one that `zmysql locality report` reads as it is."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from zmysql.errors import UsageError, ZmysqlError
from zmysql.trace.format import GZIP, Header, header_text, records_kept
from zmysql.trace.place import beside, check_free, make_durable, occupied

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from types import TracebackType

T = TypeVar("T")

_FLUSH_SECONDS = 0.9  # a second at most, the way to the disk included
_LEVEL = 1  # zlib's fastest: the database host has better things to do


class Writer:
    """A trace that is being written.

    A provisional header with `complete: false` is on disk from the start, the records follow in a gzip member of their
    own, and what was written is flushed once a second: after kill -9 at most the last second is missing. `close`
    puts the final header in front of the same compressed bytes, in a new file that replaces this one at once.
    Leaving the context without `close` keeps what was written, as a recording that was cut off.
    """

    def __init__(self, path: Path, header: Header, *, overwrite: bool = False) -> None:
        """Create the file.

        Raises UsageError where there is one already, unless it is a file and `overwrite` says that it may go, and
        ZmysqlError where it can't be written.
        """
        self.path = Path(os.path.realpath(path))  # a link stays a link
        self.records = 0
        self._settled = False
        self._file = _create(self.path, overwrite=overwrite)
        self._body = zlib.compressobj(_LEVEL, wbits=GZIP)
        self._flushed = time.monotonic()
        self._unflushed = False
        self._torn = False
        try:
            self._put(member, replace(header, complete=False, records=None))
        except ZmysqlError:
            self.discard()
            raise
        self._body_offset = self._file.tell()

    def write(self, lines: bytes) -> None:
        """Append records: whole lines in the format's columns, each with its newline.

        An exception from outside within this call, such as KeyboardInterrupt, ends the trace there; who wants to close
        it properly after Ctrl-C takes the signal with a handler of their own.
        Raises ZmysqlError when the disk is full; what was written before stays readable.
        """
        if not lines.endswith(b"\n"):
            raise ValueError("only whole lines can be written")
        self._put(self._body.compress, lines)
        self.records += lines.count(b"\n")
        self._unflushed = True
        self.tick()

    def tick(self) -> None:
        """Flush what is due; to be called at least once a second while no records come."""
        now = time.monotonic()
        if self._unflushed and now - self._flushed >= _FLUSH_SECONDS:
            self._put(self._body.flush, zlib.Z_SYNC_FLUSH)
            self._flushed, self._unflushed = now, False

    @property
    def size_bytes(self) -> int:
        """What the file has now, without what is still being compressed."""
        return self._file.tell()

    def close(self, header: Header) -> Header:
        """Finish the trace with its final header, and give that: it says complete and the number of records.

        Raises ZmysqlError when there is no room for it; the trace then stays as one that was cut off.
        """
        final = replace(header, complete=True, records=self.records)
        self._put(self._body.flush, zlib.Z_FINISH)
        try:
            self._replace(member(final))
        except OSError as error:
            raise self._failed(error.strerror) from None
        finally:
            self._file.close()
        self._settled = True
        return final

    def discard(self) -> None:
        """Remove what was written."""
        self._settled = True
        self._file.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._settled:
            return
        if not self._file.closed:
            with suppress(ZmysqlError):
                self._put(self._body.flush, zlib.Z_FINISH)
            self._file.close()

    def _put(self, compress: Callable[[T], bytes], what: T) -> None:
        """Compress and write. After one that was interrupted nothing more can follow in the compressed data."""
        if self._torn:
            raise self._failed("a write was interrupted")
        self._torn = True
        view = memoryview(compress(what))
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            self._file.close()
            raise self._failed(error.strerror) from None
        self._torn = False

    def _replace(self, header: bytes) -> None:
        """Put a header and the body as it is into a new file, which takes this one's place whole or not at all."""
        new = beside(self.path)
        new.unlink(missing_ok=True)  # a crash within this function left it
        try:
            with new.open("xb") as out:
                os.fchmod(out.fileno(), stat.S_IMODE(os.fstat(self._file.fileno()).st_mode))
                out.write(header)
                self._file.seek(self._body_offset)
                shutil.copyfileobj(self._file, out, 1 << 20)
                out.flush()
                os.fsync(out.fileno())
            new.replace(self.path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        make_durable(self.path)

    def _failed(self, why: str | None) -> ZmysqlError:
        records = records_kept(self.path)
        kept = f"; {records} records are kept, and `zmysql locality report` reads them" if records else ""
        return ZmysqlError(f"{self.path} can't be written: {why}{kept}")


def _create(path: Path, *, overwrite: bool) -> FileIO:
    try:
        if overwrite:
            check_free(path, overwrite=True)
            path.unlink(missing_ok=True)
        beside(path).unlink(missing_ok=True)
        file = path.open("x+b", buffering=0)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileExistsError:
        raise UsageError(occupied(path)) from None
    except OSError as error:
        raise ZmysqlError(f"{path} can't be written: {error.strerror}; name another place") from None
    return file


def member(header: Header) -> bytes:
    """Give a header as a gzip member of its own, so that another can take its place."""
    compressor = zlib.compressobj(wbits=GZIP)
    return compressor.compress(header_text(header).encode()) + compressor.flush()

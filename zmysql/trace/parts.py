"""A recording in one file, or in several of which each is a trace: FILE, FILE.2, FILE.3 and so on."""

from __future__ import annotations

import glob
from typing import TYPE_CHECKING, Self

from zmysql.errors import UsageError
from zmysql.trace.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from zmysql.trace.format import Header


class Parts:
    """The files of a recording that is being made.

    With `part_bytes` a file is `full` at that size, and `begin` begins the next; with `keep` only so many of the last
    ones stay. `files` are those that are there, `records` those of all parts, also of the removed ones.
    """

    def __init__(
        self, path: Path, header: Header, *, overwrite: bool, part_bytes: int | None = None, keep: int | None = None
    ) -> None:
        """Create the first file.

        Raises UsageError where there is one already, or a later part of an earlier recording, unless `overwrite` says
        that they may go, and ZmysqlError where the file can't be written.
        """
        self._path, self._part_bytes, self._keep = path, part_bytes, keep
        self._number = 1
        self._records = 0
        old = _later_parts(path) if part_bytes is not None else []
        if old and not overwrite:
            raise UsageError(
                f"{old[0]} is a part of an earlier recording: name another file, or replace with --overwrite"
            )
        self._writer = Writer(path, header, overwrite=overwrite)
        for part in old:
            part.unlink(missing_ok=True)
        self.files = [path]

    @property
    def records(self) -> int:
        """How many records were written to all parts."""
        return self._records + self._writer.records

    @property
    def full(self) -> bool:
        """Whether the file is as large as one is to be."""
        return self._part_bytes is not None and self._writer.size_bytes >= self._part_bytes

    def write(self, lines: bytes) -> None:
        """Append records to the file; see Writer.write."""
        self._writer.write(lines)

    def tick(self) -> None:
        """Flush what is due; to be called at least once a second while no records come."""
        self._writer.tick()

    def begin(self, final: Header, header: Header) -> None:
        """Finish the file with its final header, begin the next one, and remove what is beyond those to keep.

        The next one is there before anything is removed: a disk that is full costs no part.
        """
        self._writer.close(final)
        self._records += self._writer.records
        self._number += 1
        path = self._path.with_name(f"{self._path.name}.{self._number}")
        self._writer = Writer(path, header)
        self.files.append(path)
        while self._keep is not None and len(self.files) > self._keep:
            self.files.pop(0).unlink(missing_ok=True)

    def close(self, header: Header) -> Header:
        """Finish the last file with its final header; give that."""
        return self._writer.close(header)

    def discard(self) -> None:
        """Remove the file that is being written."""
        self._writer.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._writer.__exit__(kind, error, at)


def _later_parts(path: Path) -> list[Path]:
    """Give the parts after the first one that an earlier recording left, in their order."""
    found = {part.name.removeprefix(f"{path.name}."): part for part in path.parent.glob(f"{glob.escape(path.name)}.*")}
    return [part for number, part in sorted(found.items(), key=lambda one: (len(one[0]), one[0])) if number.isdigit()]

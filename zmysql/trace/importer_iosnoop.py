"""Reads what the DTraceToolkit's iosnoop printed, with any of its options that a reader can tell apart.

The columns are named in its first line (opendtrace/toolkit, iosnoop of 2011). It sees the I/O of disks, below all
caches: the places are on a device, and a judgement of such a trace is one of a cache there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.trace.importer_csv import OBJSET, unbroken

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

_SECTOR_BYTES = 512  # DEV_BSIZE: the unit of b_blkno, whatever the disk's own sectors are
_BATCH_LINES = 16384
_US_NS = 1000
_MAX_ACCESS_BYTES = 1 << 30
_NEEDED = ("D", "BLOCK", "SIZE")
# STRTIME is a date of four words, such as `2005 Jul 26 00:35:38`.
_WORDS = {"STRTIME": 4}
_DROPS = re.compile(r"dtrace: (\d+) (?:[a-z]+ )*drops?\b")
_READ, _WRITE = "R", "W"


class Iosnoop:
    """Reads the rows, numbers the devices, and remembers what the header wants to know."""

    def __init__(self, text: io.TextIOBase, name: str) -> None:
        """Take a text, and the name that it has in messages."""
        self._text, self._name = text, name
        self._number = 0
        self._at: dict[str, int] = {}
        self._started_us: int | None = None
        self.objects: dict[str, int] = {}
        self.accesses = self.empty_accesses = self.writes = self.last_ns = self.drops = 0
        self._elsewhere = False

    @property
    def timed(self) -> bool:
        """Whether iosnoop was told to print times (-s or -t, -A)."""
        return "STIME" in self._at or "TIME" in self._at

    def lines(self, recordsize: int) -> Iterator[bytes]:
        """Yield the lines of a trace, many at once: each read of a record's place on a device.

        Raises ZmysqlError, with file and line, for a row that can't be read, and where there is nothing to import.
        """
        lines: list[str] = []
        for time_ns, number, offset, size in self._reads():
            for blkid in range(offset // recordsize, (offset + size - 1) // recordsize + 1):
                lines.append(f"{time_ns} {OBJSET} {number} 0 {blkid} {recordsize} -\n")
                if len(lines) >= _BATCH_LINES:
                    yield "".join(lines).encode()
                    lines.clear()
        if lines:
            yield "".join(lines).encode()
        if self.accesses == 0:
            raise ZmysqlError(
                f"{self._name} holds no read: there is nothing to import; rows with an R under D are reads"
            )
        if self.accesses > 1 and not self._elsewhere:
            raise ZmysqlError(
                f"{self._name} has all reads at block 0, since FreeBSD's io provider gives no block numbers: record "
                "there with dscripts/blkaccess.freebsd.d"
            )

    def _reads(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield (time since the first read, number of the device, offset, size) of the reads."""
        for words in self._rows():
            direction = words[self._at["D"]]
            block, size = self._count(words, "BLOCK"), self._count(words, "SIZE")
            if direction not in (_READ, _WRITE):
                raise self._wrong(f"D is {direction[:20]!r}, and must be R or W")
            if size > _MAX_ACCESS_BYTES:
                raise self._wrong(f"SIZE {size} is more than 1G")
            if direction == _WRITE:
                self.writes += 1
            elif size == 0:
                self.empty_accesses += 1
            else:
                self.accesses += 1
                self._elsewhere |= block != 0
                time_ns = self._time_ns(words)
                self.last_ns = max(self.last_ns, time_ns)
                device = self.objects.setdefault(self._device(words), len(self.objects) + 1)
                yield time_ns, device, block * _SECTOR_BYTES, size

    def _rows(self) -> Iterator[list[str]]:
        """Yield the words of each row; what names the columns may come again, from several recordings in one file."""
        for line in unbroken(self._text, self._name):
            self._number += 1
            words = line.split()
            drops = _DROPS.match(line)
            if drops:
                self.drops += int(drops[1])
            elif set(_NEEDED) <= set(words):
                self._at = _columns(words)
            elif words and not self._at:
                raise self._wrong("it names no columns D, BLOCK and SIZE: is this what iosnoop printed?")
            elif words:
                if len(words) <= max(self._at[name] for name in _NEEDED):
                    raise self._wrong(f"it has {len(words)} words only")
                yield words

    def _time_ns(self, words: list[str]) -> int:
        """Give the time since the first read; where none was printed, each read takes a microsecond."""
        name = next((name for name in ("STIME", "TIME") if name in self._at), None)
        time_us = self._count(words, name) if name else self.accesses
        if self._started_us is None:
            self._started_us = time_us
        # Rows are in the order of their ends: one that began before the first may come later.
        return max(time_us - self._started_us, 0) * _US_NS

    def _device(self, words: list[str]) -> str:
        if "DEVICE" in self._at:
            return words[self._at["DEVICE"]]
        if "MAJ" in self._at:
            return f"device {words[self._at['MAJ']]}:{words[self._at['MIN']]}"
        return "disk"

    def _count(self, words: list[str], name: str) -> int:
        word = words[self._at[name]]
        if not (word.isascii() and word.isdigit() and len(word) < 20):  # noqa: PLR2004 - digits of 2^64
            raise self._wrong(f"{name} {word[:40]!r} is no whole number")
        return int(word)

    def _wrong(self, why: str) -> ZmysqlError:
        return ZmysqlError(f"{self._name} is wrong in line {self._number}: {why}")


def _columns(words: list[str]) -> dict[str, int]:
    """Give at which word each column begins, by its name without the unit."""
    at: dict[str, int] = {}
    place = 0
    for word in words:
        name = word.partition("(")[0]
        at[name] = place
        place += _WORDS.get(name, 1)
    return at

"""The Rust engine (engine/): reads a trace, and computes exact LRU reuse distances. It releases the GIL."""

# ruff: noqa: PYI021 - this is where the engine is documented

from os import PathLike
from typing import final

class TraceUnreadable(Exception):
    """A trace that can't be read; the message goes on after the file's name, with the line and the way out."""

@final
class Profile:
    """The figures of a trace; each is exact.

    The reuse distance of a read is the sum of the sizes, in bytes, of the distinct blocks read since the last read of
    the same block, that block included. An LRU cache of C bytes that starts empty hits exactly the reads with a
    distance of at most C. A block counts with the largest size it was read with so far.
    """

    @property
    def references(self) -> int:
        """Reads of a block."""

    @property
    def distinct_blocks(self) -> int:
        """Blocks, by (objset, object, level, blkid); also the number of first reads (compulsory misses)."""

    @property
    def distinct_bytes(self) -> int:
        """The sum of the sizes of the distinct blocks."""

    @property
    def blocks_read_once(self) -> int:
        """Distinct blocks with one read."""

    @property
    def blocks_read_more_than_once(self) -> int:
        """Distinct blocks with two reads or more."""

    @property
    def blocks_read_more_than_twice(self) -> int:
        """Distinct blocks with three reads or more."""

    @property
    def span_ns(self) -> int:
        """Nanoseconds from the earliest record to the latest."""

    @property
    def out_of_order(self) -> int:
        """Records with an earlier time than the record before them; they are counted in the file's order."""

    @property
    def flat_bytes(self) -> int | None:
        """The smallest LRU cache, in bytes, that misses first reads only; None where no block is read twice."""

    def classes(self) -> list[tuple[str, int]]:
        """Give (class, reads) in the order dbuf, arc, l2hit, miss, wait, hole, -."""

    def objects(self) -> list[tuple[int, int, int, int, int]]:
        """Give (objset, object, level, reads, distinct blocks), in the order of their first reads."""

    def hits(self, cache_bytes: list[int]) -> list[int]:
        """Give the hits of an LRU cache of each size in bytes (0 to 2^64 - 1)."""

    def mrc(self) -> list[tuple[int, float]]:
        """Give the miss-ratio curve as (cache bytes, miss ratio), sizes rising.

        From an empty cache, over eight sizes for each doubling, to the size from which the curve is flat.
        """

def profile(path: str | PathLike[str], *, complete: bool, records: int | None) -> Profile:
    """Read a trace in one pass, with memory in proportion to its distinct blocks.

    `complete` and `records` are what the trace's header says. A trace that isn't complete is read up to its last whole
    line. Raises TraceUnreadable, and KeyboardInterrupt on Ctrl-C.
    """

@final
class Reads:
    """A trace in memory, for the analyses that look at it more than once."""

    def __len__(self) -> int:
        """Give the number of reads."""

    def objects(self) -> list[tuple[int, int, int]]:
        """Give (objset, object, level), numbered by their first read."""

def load(path: PathLike[str], *, complete: bool, records: int | None) -> Reads:
    """Read a trace file into memory: 13 bytes a read and 16 a distinct block.

    Raises TraceUnreadable, whose text follows the file's name.
    """

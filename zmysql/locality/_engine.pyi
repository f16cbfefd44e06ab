"""The Rust engine (engine/): reads a trace, and computes exact LRU reuse distances. It releases the GIL."""

# ruff: noqa: PYI021 - this is where the engine is documented

from collections.abc import Callable
from os import PathLike
from typing import Any, TypedDict, final, type_check_only

from zmysql.locality.parameters import Parameters
from zmysql.locality.simulation import Replay

class TraceUnreadable(Exception):
    """A trace that can't be read; the message goes on after the file's name, with the line and the way out."""

@final
class Profile:
    """The figures of a trace; each is exact.

    The reuse distance of a read is the sum of the sizes, in bytes, of the distinct blocks read since the last read of
    the same block, that block included (or their number, where `blocks` is asked for). An LRU cache of C bytes that
    starts empty hits exactly the reads with a distance of at most C. A block has the largest size it is read with in
    the whole trace.
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

    def reads_per_block(self) -> list[tuple[int, int]]:
        """Give (times, blocks that were read so many times), times rising, where there are such blocks."""

    def hits(self, cache_sizes: list[int], *, blocks: bool = False) -> list[int]:
        """Give the hits of an LRU cache of each size in bytes (0 to 2^64 - 1), or in blocks."""

    def mrc(self, *, blocks: bool = False) -> list[tuple[int, float]]:
        """Give the miss-ratio curve as (cache bytes, miss ratio), or (blocks, miss ratio), sizes rising.

        From an empty cache, over eight sizes for each doubling, to the size from which the curve is flat.
        """

    def reuse_distances(self, *, blocks: bool = False) -> list[tuple[int, int, int]]:
        """Give (from, to, reads with a distance above `from` and at most `to`) between the sizes of `mrc`.

        In bytes, or in blocks. Ranges without reads are left out; first reads have no distance.
        """

def profile(reads: Reads, *, threads: int | None = None) -> Profile:
    """Find the exact figures of a trace, on so many threads (default: all processors).

    The memory that it takes is what `profile_needs_bytes` says. Raises OverflowError for 2^32 - 1 reads or more.
    """

def profile_needs_bytes(reads: Reads, *, threads: int | None = None) -> int:
    """Give the memory in bytes that `profile` takes at most, on top of the reads."""

@final
class Reads:
    """A trace in memory, for the analyses that look at it more than once."""

    def __len__(self) -> int:
        """Give the number of reads."""

    def objects(self) -> list[tuple[int, int, int]]:
        """Give (objset, object, level), numbered by their first read."""

def load(path: PathLike[str], *, complete: bool, records: int | None, one_in: int = 1) -> Reads:
    """Read a trace file into memory: 13 bytes a read and 16 a distinct block.

    Of one in so many blocks all reads are kept, and none of the others; which blocks, the hash of `survey` decides.
    There may be none. Raises TraceUnreadable, whose text follows the file's name.
    """

def header(path: PathLike[str], most_bytes: int) -> bytes:
    """Give the comments that a trace begins with, as far as they can be had, and up to so many bytes of text.

    The trace may be gzip, zstd or text. Raises TraceUnreadable where it is none of these or can't be opened.
    """

@final
class Regrouped:
    """The figures of a trace regrouped into records of one size, with one LRU cache. Each is exact.

    Misses are those of a cache that starts empty and holds whole records.
    """

    @property
    def recordsize(self) -> int:
        """Bytes that records have at least."""

    @property
    def distinct_records(self) -> int:
        """Records of which something was read."""

    @property
    def distinct_bytes(self) -> int:
        """The sum of their sizes."""

    @property
    def wanted_bytes(self) -> int:
        """The sum of the sizes of all reads, as they are in the trace."""

    @property
    def misses(self) -> int:
        """Reads that the cache misses."""

    @property
    def missed_bytes(self) -> int:
        """The sum of the sizes of the records that are read for them."""

    @property
    def first_read_hits(self) -> int:
        """Hits of a block of the trace that was never read before."""

    @property
    def neighbour_hits(self) -> int:
        """Hits of a block that came along with another, the first since."""

    @property
    def neighbour_hit_bytes(self) -> int:
        """The sum of the sizes of those blocks."""

    @property
    def neighbour_bytes(self) -> int:
        """The bytes that came along: of each missed record all but the block that was wanted."""

def own_recordsize(reads: Reads, recordsizes: list[tuple[int, int]]) -> int | None:
    """Give the record size of the files with the most reads; None where no file has records that could be grouped.

    `recordsizes` are (objset, bytes) of datasets, where they are known: a file of one smaller block can't be grouped.
    """

def recordsizes(
    reads: Reads, recordsizes: list[tuple[int, int]], sizes: list[int], cache_bytes: int, threads: int | None
) -> list[Regrouped]:
    """Regroup the trace's reads into records of at least each size, a power of two, in that order.

    Raises ValueError for another size, TraceUnreadable for a trace of 2^32 reads or more, and KeyboardInterrupt.
    """

@final
class WorkingSet:
    """Distinct bytes over time. The clock never goes back: until it has caught up, it stands still."""

    def windows(self) -> list[tuple[int, int, int]]:
        """Give (start_ns, reads, distinct bytes) of windows that follow each other from the first read on."""

    def curve(self) -> list[tuple[int, float]]:
        """Give (length in ns, mean distinct bytes), the whole trace last.

        The mean is over all windows of that length that lie within the trace, their starts excluded.
        """

    def inter_reference(self) -> list[tuple[int, int, int]]:
        """Give (from_ns, to_ns, reads): the time since the last read of the same block, in doublings."""

def span_ns(reads: Reads) -> int:
    """Give the nanoseconds from the first read to the latest."""

def working_set(reads: Reads, window_ns: int, lengths_ns: list[int]) -> WorkingSet:
    """Give the distinct bytes in windows of `window_ns`, and on average in windows of each length below the span.

    Raises ValueError for a window of 0.
    """

@final
class ObjectFigures:
    """The figures of an object, all its levels together."""

    @property
    def objset(self) -> int:
        """The dataset."""

    @property
    def object(self) -> int:
        """The file in it."""

    @property
    def references(self) -> int:
        """Reads of its blocks."""

    @property
    def distinct_blocks(self) -> int:
        """Blocks that were read."""

    @property
    def distinct_bytes(self) -> int:
        """The sum of their sizes."""

    @property
    def misses(self) -> int:
        """Its misses in an LRU cache that all objects share."""

    def mrc(self) -> list[tuple[int, float]]:
        """Give the miss-ratio curve of an LRU cache that it had for itself, as Profile.mrc does; empty if not asked."""

def objects(reads: Reads, cache_bytes: int, curves: int, threads: int | None) -> list[ObjectFigures]:
    """Give the objects, the most read first, with curves for the first `curves` of them.

    Raises TraceUnreadable for a trace of 2^32 reads or more.
    """

@final
class Survey:
    """The figures of a trace that was read once, with a sample of its blocks: SHARDS (FAST '15), corrected.

    Estimates are (value, standard error). Sizes are in bytes of the file's blocks, also where the recorder kept a
    sample of them.
    """

    @property
    def rate(self) -> float:
        """The share of the file's blocks that is in the sample."""

    @property
    def references(self) -> int:
        """Reads of a block, counted."""

    @property
    def sampled_references(self) -> int:
        """Those of blocks in the sample, or in it at the time."""

    @property
    def sampled_blocks(self) -> int:
        """Blocks in the sample."""

    @property
    def resolved_bytes(self) -> int:
        """The size of a cache below which the sample says hardly anything; 0 where all blocks are in it."""

    @property
    def flat_bytes(self) -> int | None:
        """The longest distance in the sample, in bytes; None where no block of it is read twice."""

    @property
    def span_ns(self) -> int:
        """Nanoseconds from the earliest record to the latest."""

    @property
    def out_of_order(self) -> int:
        """Records with an earlier time than the record before them."""

    def classes(self) -> list[tuple[str, int]]:
        """Give (class, reads), counted, in the order dbuf, arc, l2hit, miss, wait, hole, -."""

    def objects(self) -> list[tuple[int, int, int, int, int]]:
        """Give (objset, object, level, reads, blocks in the sample), in the order of their first reads."""

    def distinct_bytes(self) -> tuple[float, float]:
        """Estimate the sum of the sizes of the distinct blocks."""

    def blocks_read(self, least_times: int, most_times: int = ...) -> tuple[float, float]:
        """Estimate how many distinct blocks are read at least, and at most, so often."""

    def reads_per_block(self) -> list[tuple[int, int]]:
        """Give (times, blocks in the sample that were read so often), the times rising."""

    def sizes(self) -> list[int]:
        """Give sizes at which to look: 0, eight for each doubling from `resolved_bytes` on, and `flat_bytes`."""

    def miss_ratios(self, cache_bytes: list[int], *, rate: float | None = None) -> list[tuple[float, float]]:
        """Estimate the miss ratios of LRU caches of these sizes in bytes, which rise; they start empty.

        With a `rate` below the sample's, the standard errors are those of a sample of only that share of the blocks.
        """

    def share(self, one_in: int) -> tuple[int, int]:
        """Give the blocks and the reads that `load` would keep of one in so many; no more blocks than are sampled."""

def survey(
    path: str | PathLike[str], *, complete: bool, records: int | None, rate: float, blocks: int, kept: float
) -> Survey:
    """Read a trace in one pass, with memory in proportion to the sample.

    The sample has at least the share `rate` (0 to 1) of the blocks, and at least `blocks` blocks where there are as
    many; with a rate of 0 its size is fixed. `kept` is the share of the blocks that the recorder kept. `complete` and
    `records` are what the trace's header says. Raises TraceUnreadable, and KeyboardInterrupt on Ctrl-C.
    """

def classic_hits(reads: Reads, algorithm: str, sizes: list[int], *, sample: float, threads: int) -> list[int]:
    """Give the hits of a textbook cache, "lru" or "arc" (FAST '03), of each size in blocks, whatever their bytes.

    With `sample` below 1 they are estimated from that share of the blocks. Raises ValueError for another algorithm, or
    above 2^28 distinct blocks.
    """

def reads_of(blkids: bytes) -> Reads:
    """Give reads of one file's blocks of 16K, a microsecond apart, from their numbers (64 bits, little-endian).

    Raises ValueError for half a number.
    """

def smallest_recordsize(reads: Reads) -> int | None:
    """Give the bytes of the smallest blocks that a file of several was read in; None where no file has several."""

def simulate(
    reads: Reads,
    cases: list[tuple[int | None, int, int, int]],
    parameters: Parameters,
    replay: Replay,
    *,
    kept: float,
    threads: int,
) -> list[dict[str, Any]]:
    """Replay a trace through OpenZFS's caches, once for each (recordsize, ARC, L2ARC, added buffer pool) in bytes.

    The cases run on so many threads; their outcomes are in the same order, with the keys of
    zmysql.locality.simulation.Outcome, but `warmup_ns` for its seconds and `object_misses` as a list by object. `kept`
    is the share of the blocks that the trace holds: sizes are scaled by it. Raises KeyboardInterrupt on Ctrl-C.
    """

# Traces in and out (engine/src/convert). `complete` and `records` are what a trace's header says; a trace that isn't
# complete is read up to its last whole line. A `sink` takes pieces of at most some MiB as they come, and what it raises
# ends the work. All raise TraceUnreadable, and KeyboardInterrupt on Ctrl-C.

@type_check_only
class Found(TypedDict):
    """What an import found; `skipped` counts what is no demand read of data, objects are (objset, object, name)."""

    accesses: int
    empty: int
    skipped: list[tuple[str, int]]
    drops: int | None
    last_ns: int
    largest_bytes: int
    objsets: list[int]
    objects: list[tuple[int, int, bytes]]

@type_check_only
class Summary(TypedDict):
    """The counts of a trace; objects are (objset, object, reads, bytes, sequential reads), most reads first."""

    records: int
    bytes: int
    first_ns: int
    last_ns: int
    out_of_order: int
    classes: list[tuple[str, int]]
    objects: list[tuple[int, int, int, int, int]]

def import_foreign(
    path: PathLike[str], kind: str, *, columns: list[str], recordsize: int, sink: Callable[[bytes, int], object]
) -> Found:
    """Read a foreign trace, plain or packed by gzip or zstd; the path - is standard input.

    `kind` is csv (with the names of its `columns`), oracleGeneral, vscsi, zfs-reads or blkparse. Records of
    `recordsize` bytes go to `sink` as gzip members of lines, with their number.
    """

def cut_trace(
    path: PathLike[str],
    *,
    complete: bool,
    records: int | None,
    from_ns: int,
    to_ns: int | None,
    objsets: list[int] | None,
    objects: list[tuple[int, int]] | None,
    sink: Callable[[bytes, int], object],
) -> tuple[int, list[tuple[int, int]]]:
    """Give the records of a part to `sink`, with times from its start on; None keeps all.

    Returns the latest of these times, and the (objset, object) that are read in the part.
    """

def merge_traces(
    sources: list[tuple[PathLike[str], bool, int | None, int]], *, sink: Callable[[bytes, int], object]
) -> tuple[int, list[tuple[int, int]]]:
    """Give the records of several traces to `sink` in the order of their times.

    A source is (path, complete, records, nanoseconds that it starts after the merged one); messages name the path.
    Returns what `cut_trace` does.
    """

def summary(path: PathLike[str], *, complete: bool, records: int | None) -> Summary:
    """Count a trace in one pass; memory grows with its objects."""

def export_csv(
    path: PathLike[str],
    *,
    complete: bool,
    records: int | None,
    names: list[tuple[tuple[int, int], str]],
    sink: Callable[[bytes, int], object],
) -> tuple[int, int]:
    """Give rows of time, object, offset and size to `sink`, with their number; (objset, object) go by their `names`.

    Returns the number of rows, and of records that have none: reads of indirect blocks, prefetches and writes.
    """

def export_oracle(
    path: PathLike[str], out: PathLike[str], *, complete: bool, records: int | None
) -> tuple[int, int, int]:
    """Write requests of oracleGeneral into an empty file; memory grows with the distinct blocks, whose ids are new.

    Returns the number of requests, of blocks, and of prefetches and writes, which are no requests. Raises OSError where
    the file can't be written.
    """

def read_columns(
    path: PathLike[str],
    *,
    complete: bool,
    records: int | None,
    at_once: int,
    sink: Callable[[int, list[bytes]], object],
) -> int:
    """Give columns of `at_once` records at a time to `sink`, with their number, which is less at the end.

    The columns are little-endian: time_ns, objset, object (u64), level (u8), blkid (u64), size (u32), and class (u8, in
    the order of Profile.classes). Returns the number of all.
    """

"""What the engine computes, computed as naively as can be: the oracle of its tests."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Read:
    """A record of a trace."""

    time_ns: int
    objset: int
    object: int
    level: int
    blkid: int
    size: int
    kind: str

    @property
    def block(self) -> tuple[int, int, int, int]:
        return self.objset, self.object, self.level, self.blkid

    @property
    def is_read(self) -> bool:
        """Whether somebody waited for it: what was prefetched or written is passed over."""
        return self.kind not in ("prefetch", "write")

    def line(self) -> str:
        address = f"{self.objset} {self.object} {self.level} {self.blkid}"
        return f"{self.time_ns} {address} {self.size} {self.kind}\n"


def largest_sizes(reads: Sequence[Read]) -> dict[tuple[int, int, int, int], int]:
    """Give the size of each block: the largest it is read with."""
    sizes: dict[tuple[int, int, int, int], int] = {}
    for read in reads:
        sizes[read.block] = max(read.size, sizes.get(read.block, 0))
    return sizes


def reuse_distances(reads: Sequence[Read], sizes: Mapping[tuple[int, int, int, int], int]) -> list[int | None]:
    """Give for each read the sum over the blocks read since the last read of its block, itself included."""
    stack: list[tuple[int, int, int, int]] = []  # the last read at the end
    distances: list[int | None] = []
    for read in reads:
        if read.block in stack:
            at = stack.index(read.block)
            distances.append(sum(sizes[block] for block in stack[at:]))
            del stack[at]
        else:
            distances.append(None)
        stack.append(read.block)
    return distances


def in_bytes(reads: Sequence[Read]) -> list[int | None]:
    """Give the reuse distances in bytes."""
    return reuse_distances(reads, largest_sizes(reads))


def in_blocks(reads: Sequence[Read]) -> list[int | None]:
    """Give the reuse distances in blocks."""
    return reuse_distances(reads, dict.fromkeys(largest_sizes(reads), 1))


def lru_hits(reads: Sequence[Read], cache_bytes: int) -> int:
    """Simulate an LRU cache of that many bytes, which starts empty."""
    sizes = largest_sizes(reads)
    cache: OrderedDict[tuple[int, int, int, int], None] = OrderedDict()
    hits = 0
    for read in reads:
        hits += read.block in cache
        cache[read.block] = None
        cache.move_to_end(read.block)
        while sum(sizes[block] for block in cache) > cache_bytes:
            cache.popitem(last=False)
    return hits


def figures(reads: Sequence[Read]) -> dict[str, object]:
    """Give the counts of the locality report, under the engine's names."""
    times = [read.time_ns for read in reads]
    by_block = Counter(read.block for read in reads)
    return {
        "references": len(reads),
        "distinct_blocks": len(by_block),
        "distinct_bytes": sum(largest_sizes(reads).values()),
        "blocks_read_once": sum(count == 1 for count in by_block.values()),
        "blocks_read_more_than_once": sum(count > 1 for count in by_block.values()),
        "blocks_read_more_than_twice": sum(count > 2 for count in by_block.values()),
        "span_ns": max(times) - min(times),
        "out_of_order": sum(later < earlier for earlier, later in pairwise(times)),
        "flat_bytes": max((distance for distance in in_bytes(reads) if distance is not None), default=None),
    }

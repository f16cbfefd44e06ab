"""What the engine computes, computed as naively as can be: the oracle of its tests."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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

    def line(self) -> str:
        address = f"{self.objset} {self.object} {self.level} {self.blkid}"
        return f"{self.time_ns} {address} {self.size} {self.kind}\n"


def reuse_distances(reads: Sequence[Read]) -> list[int | None]:
    """Give for each read the bytes of the blocks read since the last read of its block, itself included."""
    stack: list[tuple[tuple[int, int, int, int], int]] = []  # the last read at the end
    distances: list[int | None] = []
    for read in reads:
        found = [at for at, (block, _) in enumerate(stack) if block == read.block]
        if found:
            distances.append(sum(size for _, size in stack[found[0] :]))
            size = max(read.size, stack.pop(found[0])[1])
        else:
            distances.append(None)
            size = read.size
        stack.append((read.block, size))
    return distances


def lru_hits(reads: Sequence[Read], cache_bytes: int) -> int:
    """Simulate an LRU cache of that many bytes, which starts empty; a block has the largest size it was read with."""
    cache: OrderedDict[tuple[int, int, int, int], int] = OrderedDict()
    sizes: dict[tuple[int, int, int, int], int] = {}
    hits = 0
    for read in reads:
        hits += read.block in cache
        sizes[read.block] = max(read.size, sizes.get(read.block, 0))
        cache[read.block] = sizes[read.block]
        cache.move_to_end(read.block)
        while sum(cache.values()) > cache_bytes:
            cache.popitem(last=False)
    return hits


def figures(reads: Sequence[Read]) -> dict[str, object]:
    """Give the counts of the locality report, under the engine's names."""
    times = [read.time_ns for read in reads]
    by_block = Counter(read.block for read in reads)
    return {
        "references": len(reads),
        "distinct_blocks": len(by_block),
        "distinct_bytes": sum(max(read.size for read in reads if read.block == block) for block in by_block),
        "blocks_read_once": sum(count == 1 for count in by_block.values()),
        "blocks_read_more_than_once": sum(count > 1 for count in by_block.values()),
        "blocks_read_more_than_twice": sum(count > 2 for count in by_block.values()),
        "span_ns": max(times) - min(times),
        "out_of_order": sum(later < earlier for earlier, later in pairwise(times)),
        "flat_bytes": max((distance for distance in reuse_distances(reads) if distance is not None), default=None),
    }

"""OpenZFS's ARC, dbuf cache and L2ARC as naively as can be: the oracle of the simulation's tests.

Lists are Python lists, oldest first, and every sum is taken anew. There is no prefetch, and one sublist a list.
"""

from __future__ import annotations

from collections import Counter, deque
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reference import Read

    from zmysql.locality.parameters import Parameters

Block = tuple[tuple[int, int, int], int, int]  # file, level, index

DATA, META = "data", "metadata"
MRU, MFU = "mru", "mfu"
GHOSTS = {MRU: "mru ghost", MFU: "mfu ghost"}
RESIDENT = (MRU, MFU)
L2ONLY = "l2 only"
WHOLE = 1 << 32
SECOND = 10**9
FEED_ORDER = ((MFU, META), (MRU, META), (MFU, DATA), (MRU, DATA))
LOG_BLOCK = 65536


class Machine:
    """Replays reads one by one, and counts in `counts`."""

    def __init__(self, reads: Sequence[Read], parameters: Parameters, arc_bytes: int, l2arc_bytes: int) -> None:
        self.p = parameters
        self.target = arc_bytes
        self.overflow = int(parameters.zfs_max_recordsize * min(1, arc_bytes / (64 << 20)))
        files = {(read.objset, read.object, read.level) for read in reads}
        of = {file: [read for read in reads if (read.objset, read.object, read.level) == file] for file in files}
        self.record_bytes = {file: max(read.size for read in found) for file, found in of.items()}
        self.last = {file: max(read.blkid for read in found) for file, found in of.items()}
        self.now = 0
        self.state: dict[Block, str] = {}
        self.accessed: dict[Block, int] = {}
        self.l2cache: set[Block] = set()
        self.held: set[Block] = set()
        self.lists: dict[tuple[str, str], list[Block]] = {
            (state, kind): [] for state, kind in product((*RESIDENT, *GHOSTS.values()), (DATA, META))
        }
        self.meta = int(parameters.arc_meta * WHOLE)
        self.recent = {DATA: int(parameters.arc_pd * WHOLE), META: int(parameters.arc_pm * WHOLE)}
        self.ghost_hits: Counter[tuple[str, str]] = Counter()
        self.ghost_limits: Counter[tuple[str, str]] = Counter()
        self.cached: list[Block] = []
        self.holds: Counter[Block] = Counter()
        self.end, self.hand, self.cleared, self.first_sweep = l2arc_bytes, 0, 0, True
        self.on_l2arc: deque[tuple[int, Block]] = deque()
        self.next_feed = parameters.l2arc_feed_secs * SECOND
        self.counts: Counter[str] = Counter()

    # Blocks.

    def parent(self, block: Block) -> Block | None:
        file, level, index = block
        fanout = self.p.indirect_bytes // self.p.blkptr_bytes
        several = self.last[file] // fanout**level > 0
        return (file, level + 1, index // fanout) if several and not file[2] else None

    def kind(self, block: Block) -> str:
        return META if block[1] or block[0][2] else DATA

    def size(self, block: Block) -> int:
        return self.p.indirect_bytes if block[1] else self.record_bytes[block[0]]

    def physical(self, block: Block) -> int:
        ratio = self.p.compressratio if self.kind(block) == DATA else self.p.metadata_compressratio
        if ratio <= 1:
            return self.size(block)
        sectors = -(-max(int(self.size(block) / ratio), 1) // self.p.sector_bytes)
        return min(sectors * self.p.sector_bytes, self.size(block))

    def copy(self, block: Block) -> int:
        """Give what a dbuf's own buffer takes."""
        return self.size(block) if block in self.held else 0

    def in_l2arc(self, block: Block) -> bool:
        return any(block == other for _, other in self.on_l2arc)

    # What the ARC holds.

    def bytes_in(self, state: str, kind: str) -> int:
        blocks = [block for block, found in self.state.items() if found == state and self.kind(block) == kind]
        if state in RESIDENT:
            return sum(self.physical(block) + self.copy(block) for block in blocks)
        return sum(self.size(block) for block in blocks)

    def headers(self) -> int:
        return self.p.hdr_l2only_bytes * sum(state == L2ONLY for state in self.state.values())

    def total(self) -> int:
        full = self.p.hdr_full_bytes * sum(state != L2ONLY for state in self.state.values())
        dbufs = len(self.held) * (self.p.buf_bytes + self.p.dbuf_bytes)
        data = sum(self.bytes_in(state, kind) for state, kind in product(RESIDENT, (DATA, META)))
        return self.p.arc_other_bytes + full + self.headers() + dbufs + data

    # arc_access() and arc_read().

    def access(self, block: Block) -> None:
        was = self.state.get(block, L2ONLY)
        if was == MRU and self.now - self.accessed[block] <= self.p.arc_mintime_ms * 10**6:
            return
        self.accessed[block] = self.now
        if was in GHOSTS.values():
            self.ghost_hits[was, self.kind(block)] += self.physical(block)
        to = MRU if was == L2ONLY else MFU
        if was == to:
            return
        listed = was != L2ONLY and block in self.lists[was, self.kind(block)]
        if listed:
            self.lists[was, self.kind(block)].remove(block)
        self.state[block] = to
        if listed and was in RESIDENT:
            self.lists[to, self.kind(block)].append(block)

    def read_arc(self, block: Block) -> str:
        kind = self.kind(block)
        source = "arc" if self.state.get(block) in RESIDENT else "l2arc" if self.in_l2arc(block) else "disk"
        if source == "arc":
            self.access(block)
        else:
            # Its state is set, but its data isn't there yet, while room is made.
            self.access(block)
            state = self.state.pop(block)
            self.make_room(self.p.hdr_full_bytes)
            self.state[block] = state
            self.lists[state, kind].append(block)
        if self.p.data_in_l2arc if kind == DATA else self.p.metadata_in_l2arc:
            self.l2cache.add(block)
        self.lists[self.state[block], kind].remove(block)
        self.held.add(block)
        return source

    def release(self, block: Block) -> None:
        self.held.remove(block)
        self.lists[self.state[block], self.kind(block)].append(block)

    # Eviction.

    def make_room(self, header: int) -> None:
        if self.total() + header < self.target + self.overflow:
            return
        while self.evict(header) > 0 and self.total() + header > self.target:
            pass

    def evict(self, header: int) -> int:
        self.learn()
        sizes = {(state, kind): self.bytes_in(state, kind) for state, kind in product(RESIDENT, (DATA, META))}
        excess = self.total() + header - self.target
        wanted = sum(sizes.values()) - excess
        gone = 0

        def take(state: str, kind: str, over: int) -> None:
            nonlocal excess, gone
            evicted = self.evict_from(state, kind, min(excess, over))
            sizes[state, kind] -= evicted
            excess -= evicted
            gone += evicted

        take(MRU, META, sizes[MRU, META] - share(wanted, self.meta * self.recent[META] >> 32))
        take(MFU, META, sizes[MRU, META] + sizes[MFU, META] - share(wanted, self.meta))
        wanted -= sizes[MRU, META] + sizes[MFU, META]
        take(MRU, DATA, sizes[MRU, DATA] - share(wanted, self.recent[DATA]))
        take(MFU, DATA, excess)
        for state, kind in product(RESIDENT, (DATA, META)):
            limit = max(sum(sizes.values()) - sizes[state, kind], 0) // 2
            self.ghost_limits[GHOSTS[state], kind] = limit
            self.evict_from(GHOSTS[state], kind, self.bytes_in(GHOSTS[state], kind) - limit)
        return gone

    def evict_from(self, state: str, kind: str, wanted: int) -> int:
        evicted = 0
        for block in list(self.lists[state, kind]):
            if evicted >= wanted:
                break
            if state in RESIDENT:
                young = self.now - self.accessed[block] < self.p.zfs_arc_min_prefetch_ms * 10**6
                if block[1] and young:
                    continue
                self.state[block] = GHOSTS[state]
                self.lists[GHOSTS[state], kind].append(block)
                evicted += self.physical(block)
            else:
                self.state[block] = L2ONLY
                if not self.in_l2arc(block):
                    self.forget(block)
                evicted += self.size(block)
            self.lists[state, kind].remove(block)
        return evicted

    def forget(self, block: Block) -> None:
        del self.state[block]

    def learn(self) -> None:
        hits, limits = self.ghost_hits, self.ghost_limits
        self.ghost_hits, self.ghost_limits = Counter(), Counter()
        of = {kind: sum(hits[ghost, kind] for ghost in GHOSTS.values()) for kind in (DATA, META)}
        self.meta = adjust(self.meta, sum(limits.values()), of[META], of[DATA], self.p.zfs_arc_meta_balance)
        for kind in (DATA, META):
            total = sum(limits[ghost, kind] for ghost in GHOSTS.values())
            up, down = hits[GHOSTS[MRU], kind], hits[GHOSTS[MFU], kind]
            self.recent[kind] = adjust(self.recent[kind], total, up, down, 100)

    # The dbuf cache.

    def take_dbuf(self, block: Block) -> str:
        if block in self.held:
            self.access(block)
            if block in self.cached:
                self.cached.remove(block)
            return "dbuf"
        above = self.parent(block)
        if above:
            self.hold_indirect(above)
        return self.read_arc(block)

    def hold_indirect(self, block: Block) -> None:
        source = self.take_dbuf(block)
        self.counts["metadata_" + {"l2arc": "l2arc_hits", "disk": "misses"}.get(source, "hits")] += 1
        self.counts["disk_read_bytes"] += self.physical(block) if source == "disk" else 0
        self.holds[block] += 1

    def unhold(self, block: Block) -> None:
        self.holds[block] -= 1
        self.put_dbuf(block)

    def put_dbuf(self, block: Block) -> None:
        if not self.holds[block] and block not in self.cached:
            self.cached.append(block)

    def evict_dbufs(self) -> None:
        def held_bytes() -> int:
            return sum(self.size(block) for block in self.cached)

        target = self.target >> self.p.dbuf_cache_shift
        lowater = target - target * self.p.dbuf_cache_lowater_pct // 100
        while held_bytes() > target or (lowater < held_bytes() and self.evicting):
            self.evicting = True
            block = self.cached.pop(0)
            self.release(block)
            above = self.parent(block)
            if above:
                self.unhold(above)
        self.evicting = False

    evicting = False

    # The L2ARC.

    def feed(self) -> None:
        began = self.next_feed
        self.next_feed = began + SECOND
        if self.headers() * 100 > self.target * self.p.l2arc_meta_percent:
            return
        size = self.p.l2arc_write_max + (0 if self.p.arc_warm else self.p.l2arc_write_boost)
        if self.end >= self.p.l2arc_rebuild_blocks_min_l2size:
            size += -(-(size >> 9) // 1022) * LOG_BLOCK
        wanted = min(size, self.end // 4)
        self.clear_ahead(wanted)
        wrote = self.write(wanted)
        again = self.p.l2arc_feed_again and wrote > wanted // 2
        self.next_feed = began + (self.p.l2arc_feed_min_ms * 10**6 if again else self.p.l2arc_feed_secs * SECOND)

    def clear_ahead(self, distance: int) -> None:
        while True:
            at_end = self.hand + distance > self.end
            if not self.first_sweep:
                self.cleared = max(self.cleared, self.end if at_end else self.hand + distance)
                while self.on_l2arc and self.hand <= self.on_l2arc[0][0] < self.cleared:
                    block = self.on_l2arc.popleft()[1]
                    if self.state[block] == L2ONLY:
                        self.forget(block)
            if not at_end:
                return
            self.hand, self.cleared, self.first_sweep = 0, 0, False

    def write(self, wanted: int) -> int:
        wrote = 0
        headroom = wanted * self.p.l2arc_headroom * self.p.l2arc_headroom_boost // 100
        for number, place in enumerate(FEED_ORDER):
            if (self.p.l2arc_mfuonly == 1 and place[0] == MRU) or (self.p.l2arc_mfuonly > 1 and number == 3):
                continue
            passed = 0
            for block in list(self.lists[place] if self.p.arc_warm else reversed(self.lists[place])):
                passed += self.size(block)
                if self.p.l2arc_headroom and passed > headroom:
                    break
                if block not in self.l2cache or self.in_l2arc(block):
                    continue
                sector = 1 if block[1] else self.p.sector_bytes
                size = -(-self.physical(block) // sector) * sector
                if wrote + size + LOG_BLOCK > wanted:
                    self.counts["l2arc_written_bytes"] += wrote
                    return wrote
                self.on_l2arc.append((self.hand, block))
                self.hand += size
                wrote += size
        self.counts["l2arc_written_bytes"] += wrote
        return wrote

    # The trace.

    def read(self, read: Read, begin: int) -> None:
        now = max(self.now, read.time_ns - begin)
        while self.end and self.next_feed <= now:
            self.now = self.next_feed
            self.feed()
        self.now = now
        if read.kind == "hole":
            self.counts["holes"] += 1
            return
        self.counts["references"] += 1
        block = ((read.objset, read.object, read.level), 0, read.blkid)
        kept = self.p.data_in_arc if self.kind(block) == DATA else self.p.metadata_in_arc
        if kept:
            source = self.take_dbuf(block)
            self.put_dbuf(block)
        else:
            source = "disk"
            above = self.parent(block)
            if above:
                self.hold_indirect(above)
                self.unhold(above)
        self.evict_dbufs()
        self.counts[{"l2arc": "l2arc_hits", "disk": "misses"}.get(source, "arc_hits")] += 1
        self.counts["dbuf_hits"] += source == "dbuf"
        self.counts["disk_read_bytes"] += self.physical(block) if source == "disk" else 0


def share(size: int, fraction: int) -> int:
    """Give a share of some bytes; the fraction has 32 bits."""
    return (size * (fraction >> 16)) >> 16


def adjust(fraction: int, total: int, up: int, down: int, balance: int) -> int:
    """Move a fraction by ghost hits, as arc_evict_adj() does."""
    if total < 32 or not up + down:
        return fraction
    if up + down >= total // 16:
        scale = (up + down) // (total // 32)
        up, down = up // scale, down // scale
    shift = min(64 - total.bit_length(), 32)
    rest = WHOLE - fraction
    if fraction >= 4 * rest:
        up //= fraction // (2 * rest + 1)
    if rest >= 4 * fraction:
        down //= rest // (2 * fraction + 1)
    up, down = (up << shift) // (total >> (32 - shift)), (down << shift) // (total >> (32 - shift))
    return max(min(fraction + up, WHOLE) - down * 100 // balance, 0)


def simulate(reads: Sequence[Read], parameters: Parameters, arc_bytes: int, l2arc_bytes: int) -> dict[str, int]:
    """Give the counts of zmysql.locality.simulation.Outcome that the naive machine knows."""
    machine = Machine(reads, parameters, arc_bytes, l2arc_bytes)
    for read in reads:
        machine.read(read, reads[0].time_ns)
    names = (
        *("references", "holes", "dbuf_hits", "arc_hits", "l2arc_hits", "misses", "disk_read_bytes"),
        *("metadata_hits", "metadata_l2arc_hits", "metadata_misses", "l2arc_written_bytes"),
    )
    found = {name: machine.counts[name] for name in names}
    held = sum(
        -(-machine.physical(block) // sector) * sector
        for _, block in machine.on_l2arc
        for sector in (1 if block[1] else parameters.sector_bytes,)
    )
    return found | {
        "l2arc_held_bytes": held,
        "l2arc_header_bytes": machine.headers(),
        "arc_size_bytes": machine.total(),
    }

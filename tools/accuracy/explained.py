"""Why the simulation differs from the real ARC by more than is wished for, where it does."""

from __future__ import annotations

EXPLAINED = {
    "uniform-half": (
        "InnoDB read the headers of its rollback segments in sequence; the simulation prefetches them, the real "
        "prefetcher took 357 of the reads as behind its position, most likely since InnoDB wrote ahead of them in "
        "the same files: a write moves the position, and is in no trace"
    ),
    "uniform-4x-l2arc": (
        "l2_misses has 826 misses of prefetch in it, most of blocks that nobody read; of mysqld's reads alone (traced) "
        "the L2ARC had what the simulation says"
    ),
}

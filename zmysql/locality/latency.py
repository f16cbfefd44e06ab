"""What a cache's hit ratio does to latency (Charles Suresh, "Improving MySQL/Innodb/ZFS read-only performance", 2009).

h is the hit ratio of the cache, r = L/l how many times slower than the cache what lies behind it is, and x the factor
by which the cache shortens the mean latency.
"""

from __future__ import annotations

from dataclasses import dataclass

PAYS = 1.25  # a speed-up below this isn't worth a device: it drowns in the differences between two days


@dataclass(frozen=True, slots=True)
class LatencyRatio:
    """r, above 1, and in words where it comes from."""

    value: float
    origin: str


def speedup(ratio: float, hit_ratio: float) -> float:
    """Give x = r / (r(1 - h) + h): 1 where nothing hits, r where all does."""
    return ratio / (ratio * (1 - hit_ratio) + hit_ratio)


def hit_ratio_for(ratio: float, wanted_speedup: float) -> float:
    """Give h = r(x - 1) / (x(r - 1)), the hit ratio that brings a speed-up x; above 1 where none does.

    Raises ZeroDivisionError for r = 1, where no hit ratio changes anything.
    """
    return ratio * (wanted_speedup - 1) / (wanted_speedup * (ratio - 1))

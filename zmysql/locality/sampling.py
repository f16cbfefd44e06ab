"""Sizes between a trace that holds a sample of the blocks and the real thing (SHARDS, FAST '15)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zmysql.trace.format import Header

_LARGEST = (1 << 64) - 1  # the engine's sizes have 64 bits; no cache is larger


def sampling_ratio(header: Header) -> Fraction:
    """Give the share of the blocks that the trace holds: above 0, and 1 for all."""
    return Fraction(header.sampling)


def sampled_bytes(header: Header, real_bytes: int) -> int:
    """Give the size that a cache has to the sample's reads."""
    return min(int(real_bytes * sampling_ratio(header)), _LARGEST)


def real_bytes(header: Header, sampled_bytes: float) -> int:
    """Give the real size, from that of a cache or a working set of the sample's blocks."""
    return round(sampled_bytes / sampling_ratio(header))

"""The share of a trace's blocks that is analysed, where not all of them are to be held in memory.

A share is of the blocks, each with all of its reads (SHARDS, FAST '15): what is analysed is then a trace like one whose
recorder kept as many of the blocks, but that all reads were counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.locality.sampled import SampleSize, curve_of, survey
from zmysql.locality.sampling import sampled_bytes, sampling_ratio

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from zmysql.locality._engine import Survey
    from zmysql.locality.profile import Profile
    from zmysql.trace.format import Header

MOST_READS = 10_000_000  # in a share whose size is a number of blocks, so that memory is bounded: some 300 MB in all
_NEARLY_ALL = 0.5
_MORE = 1.5  # the next smaller share after a half is a third of the blocks


@dataclass(frozen=True, slots=True)
class Share:
    """One in so many blocks of a trace, and what is known of the whole.

    In it are `distinct_blocks` with `references` reads. `error` is the largest standard error of its miss ratios, at
    the sizes that were asked about. Of `whole` reads are counted, what tells of blocks or distances is estimated.
    """

    one_in: int
    distinct_blocks: int
    references: int
    error: float
    whole: Profile

    def header_of(self, header: Header) -> Header:
        """Give the header of a trace that holds the share alone; drops and records are still those of the file."""
        kept = sampling_ratio(header) / self.one_in
        return replace(header, sampling=f"{kept.numerator}/{kept.denominator}")


def choose(path: Path, header: Header, size: SampleSize, cache_bytes: Collection[int]) -> Share | None:
    """Read a trace once, and choose the share of its blocks to analyse for caches of these sizes; None for all of them.

    Of a rate the share has at least as much, of a number of blocks as many or up to half more; but fewer where the
    blocks of such a number are read very often, so that memory doesn't grow with the trace. Raises ZmysqlError, with
    the file and the way out, where the trace can't be read, no such share has any block, or the engine isn't built.
    """
    rate = 1 / math.floor(1 / size.rate + 1e-9) if size.rate else 0
    found = survey(path, header, SampleSize(rate, math.ceil(size.blocks * _MORE)))
    one_in = _one_in(found, size)
    if one_in == 1:
        return None
    blocks, references = found.share(one_in)
    if not blocks:
        raise ZmysqlError(
            f"{path} reads so few blocks so often that no sample of them is small enough: take out a part of its time"
            " with `zmysql trace cut`"
        )
    sizes = sorted(sampled_bytes(header, size) for size in cache_bytes)
    error = max(error for _, error in found.miss_ratios(sizes, rate=1 / one_in))
    return Share(one_in, blocks, references, error, curve_of(found, header, ()).profile)


def _one_in(found: Survey, size: SampleSize) -> int:
    """Take no more than what was surveyed, so that the share's reads are known; all where that is most of it anyway."""
    one_in = 1 if found.rate > _NEARLY_ALL else math.ceil(round(1 / found.rate, 6))
    while not size.rate and _reads(found, one_in) > MOST_READS:
        one_in *= 2
    return one_in


def _reads(found: Survey, one_in: int) -> int:
    return found.references if one_in == 1 else found.share(one_in)[1]

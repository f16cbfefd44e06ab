"""The figures of a trace from a sample of its blocks, each with its standard error: for traces of any length.

The method is SHARDS (Waldspurger et al., FAST '15) with its correction; engine/src/shards/ tells how the errors come
about. The memory needed is that of the sample, and the trace is read once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from zmysql.errors import UsageError
from zmysql.locality.profile import Profile, files_of
from zmysql.locality.sampling import real_bytes, sampled_bytes, sampling_ratio
from zmysql.trace.engine import engine_for

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from zmysql.locality._engine import Survey
    from zmysql.trace.format import Header

AUTO_BLOCKS = 65_536
LEAST_BLOCKS = 8_192  # at any rate, so that a short trace gets an answer, too: the paper's fixed size
_RATE = re.compile(r"(0?\.[0-9]{1,15}|[0-9]{1,9}/[0-9]{1,9}|[0-9]{1,3}(?:\.[0-9]{1,15})?%|1)")
_BLOCKS = re.compile(r"[0-9]{2,9}")


@dataclass(frozen=True, slots=True)
class SampleSize:
    """How many of the blocks are looked at: at least this share, and at least so many where there are as many."""

    rate: float
    blocks: int


@dataclass(frozen=True, slots=True)
class SampledCurve:
    """What a sample says of a trace.

    `points` are (cache bytes, miss ratio, its standard error) with sizes rising; `hit_errors` are the standard errors
    of `profile.hits`. The true value is within twice the standard error in about nineteen of twenty cases. Below a
    cache of `resolved_bytes` the sample says hardly anything, and the errors say so; `error` is the largest above.
    `rate` is the share of all blocks that was looked at, the recorder's own sampling included, `sampled_blocks` their
    number. `references` are the records of the file, counted.

    `profile` has the names that exact figures have: reads are counted (in all, by class and by file), all that tells of
    blocks or distances is estimated and rounded; distances in blocks are those in bytes over the mean size of a block.
    `block_errors` are the standard errors of its distinct_blocks, distinct_bytes, blocks_read_once,
    blocks_read_more_than_once and blocks_read_more_than_twice.
    """

    profile: Profile
    points: tuple[tuple[int, float, float], ...]
    hit_errors: Mapping[int, float]
    block_errors: Mapping[str, float]
    error: float
    resolved_bytes: int
    rate: float
    sampled_blocks: int
    references: int

    @property
    def distinct_blocks_estimated(self) -> tuple[int, float]:
        """The number of distinct blocks in the file and its standard error."""
        return self.profile.distinct_blocks, self.block_errors["distinct_blocks"]


def parse_sample(text: str) -> SampleSize:
    """Take what --sample is given: a rate such as 0.01, 1% or 1/100, a number of blocks, or auto.

    Raises UsageError on anything else.
    """
    word = text.strip()
    if word == "auto":
        return SampleSize(0, AUTO_BLOCKS)
    if _RATE.fullmatch(word):
        rate = _rate(word)
        if 0 < rate <= 1:
            return SampleSize(float(rate), LEAST_BLOCKS)
    elif _BLOCKS.fullmatch(word):
        return SampleSize(0, int(word))
    raise UsageError(
        f"{text!r} is no sample: write auto, a share of the blocks above 0 and up to 1 such as 1% or 1/100, or a number"
        " of blocks from 10"
    )


def _rate(word: str) -> Fraction:
    try:
        return Fraction(word[:-1]) / 100 if word.endswith("%") else Fraction(word)
    except ZeroDivisionError:
        return Fraction(0)


def sampled(path: Path, header: Header, cache_bytes: Collection[int], size: SampleSize) -> SampledCurve:
    """Read a trace once, and estimate its figures, with the hits of an LRU cache of each of these sizes.

    Raises ZmysqlError, with the file and the way out, where the trace can't be read or the engine isn't built.
    """
    return curve_of(survey(path, header, size), header, cache_bytes)


def survey(path: Path, header: Header, size: SampleSize) -> Survey:
    """Read a trace once: count its reads, and look closer at a sample of its blocks. Raises what `sampled` does."""
    with engine_for("locality report FILE --sample auto", path) as engine:
        found: Survey = engine.survey(
            path,
            complete=header.complete,
            records=header.records,
            rate=size.rate,
            blocks=size.blocks,
            kept=min(float(sampling_ratio(header)), 1.0),
        )
    return found


def curve_of(found: Survey, header: Header, cache_bytes: Collection[int]) -> SampledCurve:
    """Give the figures that a survey estimates, with the hits of an LRU cache of each of these sizes."""
    sizes, own_sizes = sorted(set(cache_bytes)), found.sizes()
    ratios = found.miss_ratios(own_sizes)
    at_sizes = found.miss_ratios([sampled_bytes(header, size) for size in sizes])
    hits = {size: round(found.references * (1 - ratio)) for size, (ratio, _) in zip(sizes, at_sizes, strict=True)}
    blocks = {
        "distinct_blocks": found.blocks_read(1),
        "distinct_bytes": found.distinct_bytes(),
        "blocks_read_once": found.blocks_read(1, 1),
        "blocks_read_more_than_once": found.blocks_read(2),
        "blocks_read_more_than_twice": found.blocks_read(3),
    }
    mrc = tuple((real_bytes(header, size), ratio) for size, (ratio, _) in zip(own_sizes, ratios, strict=True))
    distances = tuple(_distances(mrc, found.references))
    block_bytes = blocks["distinct_bytes"][0] / (blocks["distinct_blocks"][0] or 1) or 1
    resolved = [error for size, (_, error) in zip(own_sizes, ratios, strict=True) if size >= found.resolved_bytes]
    return SampledCurve(
        profile=Profile(
            references=found.references,
            **{name: round(value) for name, (value, _) in blocks.items()},
            classes=dict(found.classes()),
            span_ns=found.span_ns,
            out_of_order=found.out_of_order,
            flat_bytes=None if found.flat_bytes is None else real_bytes(header, found.flat_bytes),
            mrc=mrc,
            hits=hits,
            files=files_of(_estimated_blocks(found), header),
            reuse_distances=distances,
            reuse_distances_blocks=tuple(
                (round(begin / block_bytes), round(end / block_bytes), reads) for begin, end, reads in distances
            ),
            reads_per_block=tuple((times, round(count / found.rate)) for times, count in found.reads_per_block()),
        ),
        points=tuple((size, ratio, error) for (size, ratio), (_, error) in zip(mrc, ratios, strict=True)),
        hit_errors={size: found.references * error for size, (_, error) in zip(sizes, at_sizes, strict=True)},
        block_errors={name: error for name, (_, error) in blocks.items()},
        error=max(resolved, default=1.0),
        resolved_bytes=real_bytes(header, found.resolved_bytes),
        rate=found.rate * float(sampling_ratio(header)),
        sampled_blocks=found.sampled_blocks,
        references=found.references,
    )


def _distances(mrc: Iterable[tuple[int, float]], references: int) -> Iterable[tuple[int, int, int]]:
    """Yield (from bytes, to bytes, reads) of the distances between the sizes of a curve."""
    for (begin, more), (end, less) in pairwise(mrc):
        reads = round(references * more) - round(references * less)
        if reads > 0:
            yield begin, end, reads


def _estimated_blocks(found: Survey) -> Iterable[tuple[int, int, int, int, int]]:
    for objset, number, level, references, blocks in found.objects():
        yield objset, number, level, references, round(blocks / found.rate)

"""The engine against the naive reference, on random traces."""

from __future__ import annotations

import gzip
from bisect import bisect_left, bisect_right
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Read

from zmysql.locality import _engine
from zmysql.trace.format import CLASSES

SIZES = (512, 1024, 1536, 12288, 16384, 131072)


def reads_of(sizes: st.SearchStrategy[int]) -> st.SearchStrategy[list[Read]]:
    read = st.builds(
        Read,
        time_ns=st.integers(0, 2**64 - 1),
        # Few blocks, so that most reads find one that was read before.
        objset=st.sampled_from([54, 54, 54, 55]),
        object=st.sampled_from([2, 2, 2, 128]),
        level=st.sampled_from([0, 0, 0, 1]),
        blkid=st.sampled_from([0, 1, 2, 3, 2**64 - 1]),
        size=sizes,
        kind=st.sampled_from(CLASSES),
    )
    lists = st.lists(read, min_size=1, max_size=20) | st.lists(read, min_size=40, max_size=120)
    return lists.filter(lambda records: any(record.is_read for record in records))


def only_reads(records: list[Read]) -> list[Read]:
    """Give what the figures are of."""
    return [record for record in records if record.is_read]


def profile(reads: list[Read], threads: int = 2) -> _engine.Profile:
    with TemporaryDirectory() as directory:
        path = Path(directory, "trace")
        path.write_bytes(gzip.compress("".join(read.line() for read in reads).encode(), compresslevel=1))
        return _engine.profile(_engine.load(path, complete=True, records=len(reads)), threads=threads)


# files are written, on a disk that others use too
@given(reads_of(st.sampled_from(SIZES)))
def test_figures_equal_the_reference(reads: list[Read]) -> None:
    found = profile(reads)
    assert found.classes() == [(name, sum(read.kind == name for read in reads)) for name in CLASSES]
    reads = only_reads(reads)
    for name, value in reference.figures(reads).items():
        assert getattr(found, name) == value, name
    objects = Counter((read.objset, read.object, read.level) for read in reads)
    assert {(objset, number, level): references for objset, number, level, references, _ in found.objects()} == objects
    assert sum(blocks for *_, blocks in found.objects()) == found.distinct_blocks
    times = Counter(Counter(read.block for read in reads).values())
    assert found.reads_per_block() == sorted(times.items())


@given(
    st.sampled_from(SIZES).flatmap(lambda size: reads_of(st.just(size))) | reads_of(st.sampled_from(SIZES)),
    st.lists(st.integers(0, 2**22), max_size=10),
)
def test_hits_at_any_size_are_those_of_a_simulated_cache(reads: list[Read], sizes: list[int]) -> None:
    found, reads = profile(reads), only_reads(reads)
    steps = [distance + nearby for distance in reference.in_bytes(reads) if distance for nearby in (-1, 0)]
    for size in [*sizes, *steps[:6]]:
        assert found.hits([size]) == [reference.lru_hits(reads, size)]


@given(reads_of(st.sampled_from(SIZES)), st.integers(1, 5))
def test_distances_in_bytes_and_in_blocks_whatever_the_number_of_threads(reads: list[Read], threads: int) -> None:
    found, reads = profile(reads, threads), only_reads(reads)
    for blocks, distances in ((False, reference.in_bytes(reads)), (True, reference.in_blocks(reads))):
        known = sorted(distance for distance in distances if distance is not None)
        for size in known:
            assert found.hits([size - 1, size], blocks=blocks) == [bisect_left(known, size), bisect_right(known, size)]
        ranges = found.reuse_distances(blocks=blocks)
        assert [sum(begin < one <= end for one in known) for begin, end, _ in ranges] == [count for *_, count in ranges]
        assert sum(count for *_, count in ranges) == len(known)
        assert ranges == sorted(ranges)


def test_a_long_trace_equals_the_reference() -> None:
    chosen = Random(3)  # noqa: S311 - reads, not secrets
    blkids = [min(int(chosen.paretovariate(0.4)), 900) for _ in range(8000)]
    reads = [Read(at, 54, 2, 0, blkid, SIZES[blkid % len(SIZES)], "arc") for at, blkid in enumerate(blkids)]
    found = profile(reads)
    distances = sorted(distance for distance in reference.in_bytes(reads) if distance is not None)
    for size in range(0, 1 << 25, 1 << 16):
        assert found.hits([size]) == [bisect_right(distances, size)]
    for name, value in reference.figures(reads).items():
        assert getattr(found, name) == value, name


@settings(max_examples=30)
@given(reads_of(st.integers(1, 16 << 20)))
def test_the_curve_holds_exact_points_up_to_where_it_is_flat(reads: list[Read]) -> None:
    found, reads = profile(reads), only_reads(reads)
    curve = found.mrc()
    distances = [distance for distance in reference.in_bytes(reads) if distance is not None]
    for size, miss_ratio in curve:
        hits = sum(distance <= size for distance in distances)
        assert miss_ratio == (len(reads) - hits) / len(reads)
    sizes = [size for size, _ in curve]
    assert sizes == sorted(set(sizes))
    assert curve[0] == (0, 1.0)
    assert curve[-1][1] == found.distinct_blocks / found.references

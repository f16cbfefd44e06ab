"""Objects: against the naive reference, and by name."""

from __future__ import annotations

from random import Random

import pytest
import reference
import reference_spatial
from hypothesis import given, settings
from hypothesis import strategies as st
from reads_in_memory import file_reads, loaded
from reference import Read

from zmysql.locality import _engine
from zmysql.locality.names import Kind
from zmysql.locality.objects import objects
from zmysql.trace.format import Header


def check(reads: list[Read], found: list[_engine.ObjectFigures], cache_bytes: int) -> None:
    all_reads = reference_spatial.settled(reads)
    assert sum(one.references for one in found) == len(reads)
    for one in found:
        own = [read for read in all_reads if (read.objset, read.object) == (one.objset, one.object)]
        assert one.references == len(own)
        sizes = {read.block: read.size for read in own}
        assert (one.distinct_blocks, one.distinct_bytes) == (len(sizes), sum(sizes.values()))
        assert one.misses == reference_spatial.shared_misses(reads, one.objset, one.object, cache_bytes)
        check_curve(own, one.mrc())


def check_curve(own: list[Read], curve: list[tuple[int, float]]) -> None:
    distances = [distance for distance in reference.in_bytes(own) if distance is not None]
    for size, miss_ratio in curve:
        assert miss_ratio == (len(own) - sum(distance <= size for distance in distances)) / len(own)
    sizes = [size for size, _ in curve]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 0
    assert sizes[-1] == max(distances, default=sum({read.block: read.size for read in own}.values()))
    if distances:
        doublings = [size for size in sizes if size and not size & (size - 1)]
        assert doublings[0] <= min(distances) < 2 * doublings[0]
        wide = [size for size in doublings if size >= 8]  # between smaller ones there are fewer than eight sizes
        assert len(sizes) >= 8 * (len(wide) - 1)


# files are written, on a disk that others use too
@given(file_reads(), st.integers(0, 1 << 20))
def test_figures_equal_the_reference(reads: list[Read], cache_bytes: int) -> None:
    found = _engine.objects(loaded(reads), cache_bytes, 10, 2)
    check(reads, found, cache_bytes)
    order = [(-one.references, one.objset, one.object) for one in found]
    assert order == sorted(order)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_long_trace_equals_the_reference(threads: int) -> None:
    chosen = Random(4)  # noqa: S311 - reads, not secrets
    blkids = [int(chosen.paretovariate(0.4)) % 900 for _ in range(9000)]
    reads = [Read(at, 54, 2 + blkid % 2, 0, blkid, 4096 << blkid % 3, "arc") for at, blkid in enumerate(blkids)]
    check(reads, _engine.objects(loaded(reads), 1 << 20, 2, threads), 1 << 20)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), min_size=1, max_size=60))
def test_curves_of_blocks_of_a_few_bytes_have_their_points_too(blocks: list[tuple[int, int]]) -> None:
    reads = [Read(1, 54, 2, 0, blkid, size, "arc") for blkid, size in blocks]
    check(reads, _engine.objects(loaded(reads), 30, 1, 1), 30)


def test_objects_have_names_shares_and_curves_of_the_most_read() -> None:
    loop = [Read(at, 54, 2, 0, at % 4, 16384, "arc") for at in range(40)]
    once = [Read(40 + at, 54, 3, 0, at, 16384, "arc") for at in range(10)]
    unnamed = [Read(50, 55, 7, 0, 0, 16384, "arc"), Read(51, 55, 7, 1, 0, 131072, "arc")]
    header = Header(
        complete=True, objects={(54, 2): "/data/sbtest/sbtest1.ibd", (54, 3): "/data/undo_001", (1, 1): "/data/x"}
    )
    found = objects(loaded(loop + once + unnamed), header, cache_bytes=1 << 20, curves=1)
    assert [(one.name, one.kind, one.references, one.misses) for one in found.objects] == [
        ("sbtest.sbtest1", Kind.TABLE, 40, 4),
        ("undo tablespace undo_001", Kind.UNDO, 10, 10),
        ("object 7 of objset 55", Kind.OTHER, 2, 2),
    ]
    assert (found.references, found.misses) == (52, 16)
    assert (found.objects[2].path, found.objects[2].distinct_bytes) == (None, 147456)
    assert found.objects[0].mrc[-1] == (4 * 16384, 0.1)
    assert found.objects[1].mrc == ()


def test_sizes_of_a_sample_are_scaled() -> None:
    reads = loaded([Read(at, 54, 2, 0, at % 4, 16384, "arc") for at in range(40)])
    header = Header(complete=True, sampling="1/10")
    assert objects(reads, header, cache_bytes=40 * 16384).misses == 4
    assert objects(reads, header, cache_bytes=40 * 16384 - 10).misses == 40
    found = objects(reads, header, cache_bytes=1).objects[0]
    assert found.mrc[-1] == (40 * 16384, 0.1)
    assert found.distinct_blocks == 4

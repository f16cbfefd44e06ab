"""The simulation against the naive machine, on random traces."""

from __future__ import annotations

import gzip
from dataclasses import fields, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
import reference_arc
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Read

from zmysql.errors import UsageError
from zmysql.locality import _engine
from zmysql.locality.parameters import Parameters
from zmysql.locality.simulation import Case, Outcome, Replay, simulate
from zmysql.trace.format import Header

if TYPE_CHECKING:
    from collections.abc import Iterable

MS = 10**6
SIZES = (4096, 16384, 131072)
QUICK, SLOW = (0, 1, 10, 30, 70), (62, 63, 400, 1100, 2500, -50)
WHOLE = Header(complete=True)


def loaded(reads: list[Read]) -> _engine.Reads:
    with TemporaryDirectory() as directory:
        path = Path(directory, "trace")
        path.write_bytes(gzip.compress("".join(read.line() for read in reads).encode(), compresslevel=1))
        return _engine.load(path, complete=True, records=len(reads))


@st.composite
def traces(draw: st.DrawFn) -> list[Read]:
    """Give reads of few blocks, some hot, whose clock now and then stands, leaps or goes back."""
    chosen = Random(draw(st.integers(0, 2**32)))  # noqa: S311 - reads, not secrets
    length, spread, skew = draw(st.integers(1, 500)), draw(st.integers(1, 40)), draw(st.sampled_from([1, 2, 4]))
    steps = draw(st.sampled_from([QUICK, SLOW, QUICK + SLOW]))
    now, reads = chosen.randrange(10**12), []
    for _ in range(length):
        now = max(now + chosen.choice(steps) * MS, 0)
        file = chosen.choice((0, 0, 0, 1, 2))
        blkid = int(spread * chosen.random() ** skew) if file < 2 else chosen.randrange(3)
        reads.append(Read(now, 54, 100 + file, 0, blkid, SIZES[file], "hole" if chosen.random() < 0.02 else "-"))
    return reads


PARAMETERS = st.builds(
    Parameters,
    zfs_prefetch_disable=st.just(value=True),
    zfs_multilist_num_sublists=st.just(1),
    # Few pointers in an indirect block, so that small files have several levels of them.
    indirect_bytes=st.sampled_from([512, 512, 8192]),
    blkptr_bytes=st.just(128),
    sector_bytes=st.sampled_from([512, 4096]),
    compressratio=st.sampled_from([1.0, 1.0, 1.7]),
    metadata_compressratio=st.sampled_from([1.0, 3.0]),
    dbuf_cache_shift=st.sampled_from([1, 3, 5, 63]),
    dbuf_cache_lowater_pct=st.sampled_from([0, 10, 50]),
    zfs_max_recordsize=st.sampled_from([0, 0, 16 << 20, 128 << 20]),
    zfs_arc_meta_balance=st.sampled_from([100, 500]),
    zfs_arc_min_prefetch_ms=st.sampled_from([0, 1000]),
    arc_meta=st.sampled_from([0.25, 0.25, 0.01]),
    arc_pd=st.sampled_from([0.5, 0.5, 0.1, 1.0]),
    arc_pm=st.sampled_from([0.5, 0.5, 0.9]),
    arc_other_bytes=st.sampled_from([0, 30_000]),
    primarycache=st.sampled_from(["all", "all", "all", "all", "metadata", "none"]),
    secondarycache=st.sampled_from(["all", "all", "all", "metadata", "none"]),
    arc_warm=st.booleans(),
    l2arc_write_max=st.sampled_from([200_000, 100_000, 32 << 20]),
    l2arc_write_boost=st.sampled_from([0, 70_000]),
    l2arc_headroom=st.sampled_from([0, 1, 8]),
    l2arc_headroom_boost=st.sampled_from([20, 100, 200]),
    l2arc_mfuonly=st.sampled_from([0, 0, 1, 2]),
    l2arc_meta_percent=st.sampled_from([0, 33, 33]),
    l2arc_feed_again=st.booleans(),
    l2arc_rebuild_blocks_min_l2size=st.sampled_from([0, 1 << 30]),
)
ARC_SIZES = st.sampled_from([131_072, 32_768, 50_000, 1_000_000])
L2ARC_SIZES = st.sampled_from([400_000, 0, 300_000, 1_000_000, 1 << 31])


@settings(deadline=None, max_examples=200)
@given(traces(), PARAMETERS, ARC_SIZES, L2ARC_SIZES)
def test_equals_the_naive_machine(reads: list[Read], parameters: Parameters, arc_bytes: int, l2arc_bytes: int) -> None:
    expected = reference_arc.simulate(reads, parameters, arc_bytes, l2arc_bytes)
    (found,) = simulate(loaded(reads), WHOLE, [Case(None, arc_bytes, l2arc_bytes)], parameters, threads=1)
    assert {name: getattr(found, name) for name in expected} == expected


def run(reads: list[Read], *cases: Case, **values: Any) -> list[Outcome]:
    """Simulate with these fields of Parameters and of Replay, and this header."""
    header = values.pop("header", WHOLE)
    replay = Replay(**{field.name: values.pop(field.name) for field in fields(Replay) if field.name in values})
    return list(simulate(loaded(reads), header, cases, replace(Parameters(), **values), replay=replay))


def reads_of(blkids: Iterable[int], step_ns: int = MS, size: int = 16384, file: int = 7) -> list[Read]:
    return [Read(at * step_ns, 54, file, 0, blkid, size, "-") for at, blkid in enumerate(blkids)]


def some(seed: int, length: int, spread: int) -> list[Read]:
    chosen = Random(seed)  # noqa: S311 - reads, not secrets
    return reads_of((int(spread * chosen.random() ** 3) for _ in range(length)), 20 * MS)


@settings(deadline=None, max_examples=100)
@given(traces(), PARAMETERS, ARC_SIZES, L2ARC_SIZES, st.sampled_from([None, 131072, 1 << 20]), st.booleans())
def test_what_holds_of_every_machine(  # noqa: PLR0917 - what Hypothesis draws
    reads: list[Read],
    parameters: Parameters,
    arc_bytes: int,
    l2arc_bytes: int,
    recordsize: int | None,
    prefetches: bool,  # noqa: FBT001 - as above
) -> None:
    parameters = replace(parameters, zfs_prefetch_disable=not prefetches, zfs_multilist_num_sublists=4)
    case = Case(recordsize, arc_bytes, l2arc_bytes, buffer_pool_bytes=40_000)
    (found,) = simulate(loaded(reads), WHOLE, [case], parameters, threads=1)
    assert found.references + found.holes == len(reads)
    assert found.buffer_pool_hits + found.arc_hits + found.l2arc_hits + found.misses == found.references
    assert found.dbuf_hits <= found.arc_hits
    assert sum(found.object_misses.values()) == found.misses
    assert found.l2arc_held_bytes <= l2arc_bytes
    assert found.l2arc_held_bytes <= found.l2arc_written_bytes
    assert (found.l2arc_hits > 0) <= (found.l2arc_written_bytes > 0)


def test_a_block_becomes_frequent_by_a_second_read_that_is_not_at_once() -> None:
    # Two blocks are read again and again, one after 10 ms, one after 100. A scan then drives the recent ones out.
    single = {"dbuf_cache_shift": 63, "zfs_max_recordsize": 0, "zfs_prefetch_disable": True}
    again = [Read(0, 54, 1, 0, 0, 16384, "-"), Read(10 * MS, 54, 1, 0, 0, 16384, "-")]
    later = [Read(20 * MS, 54, 2, 0, 0, 16384, "-"), Read(120 * MS, 54, 2, 0, 0, 16384, "-")]
    scan = [Read((200 + at) * MS, 54, 10 + at, 0, 0, 16384, "-") for at in range(40)]
    last = [Read(9000 * MS, 54, 1, 0, 0, 16384, "-"), Read(9000 * MS, 54, 2, 0, 0, 16384, "-")]
    (found,) = run([*again, *later, *scan, *last], Case(None, 20 * 16384), **single)
    assert found.object_misses[54, 1, 0] == 2
    assert found.object_misses[54, 2, 0] == 1


def test_a_scan_is_prefetched_in_growing_steps() -> None:
    # The second read has to wait, which starts it; from then on it is ahead.
    (found,) = run(reads_of(range(1000)), Case(None, 1 << 30))
    assert found.misses == 2
    assert (found.prefetches, found.metadata_misses) == (998, 1)
    (without,) = run(reads_of(range(1000)), Case(None, 1 << 30), zfs_prefetch_disable=True)
    assert (without.misses, without.prefetches) == (1000, 0)


def test_prefetched_blocks_go_to_the_l2arc_only_if_it_takes_them() -> None:
    # The file has 1000 blocks, of which 140 are read and more than 300 prefetched before the L2ARC is fed.
    reads = [*reads_of(range(140)), Read(10**10, 54, 7, 0, 999, 16384, "-")]
    case = Case(None, 1 << 30, 1 << 30)
    never, taken = (
        run(reads, case, dbuf_cache_shift=63, metadata_compressratio=2, l2arc_noprefetch=noprefetch)[0]
        for noprefetch in (True, False)
    )
    assert never.prefetches == taken.prefetches > 300
    # What was read after it was prefetched may go there; the indirect block is one of 64K.
    assert never.l2arc_written_bytes == 140 * 16384 + 65536
    assert taken.l2arc_written_bytes == (taken.misses - 1 + taken.prefetches) * 16384 + 65536


def test_a_larger_record_brings_its_neighbours_along() -> None:
    reads = [Read(at * 100 * MS, 54, 7, 0, blkid, 16384, "-") for at, blkid in enumerate([0, 9, 3, 7, 8, 15, 80])]
    read, larger = run(reads, Case(None, 1 << 28), Case(131072, 1 << 28), zfs_prefetch_disable=True)
    assert (read.misses, read.arc_hits) == (7, 0)
    assert (larger.misses, larger.arc_hits) == (3, 4)
    assert (larger.metadata_misses, larger.disk_read_bytes) == (1, 3 * 131072 + 53248)
    # A file that is smaller than a record is one block of its size.
    small = [Read(0, 54, 9, 0, 0, 16384, "-"), Read(MS, 54, 9, 0, 2, 16384, "-")]
    (found,) = run(small, Case(1 << 20, 1 << 28))
    assert (found.misses, found.disk_read_bytes, found.metadata_misses) == (1, 3 * 16384, 0)


def test_outcomes_are_in_the_order_of_the_cases_on_any_number_of_threads() -> None:
    trace = loaded(some(3, 4000, 3000))
    sizes = (1 << 21, 1 << 26, 1 << 22, 1 << 24)
    cases = [Case(recordsize, arc, l2arc) for recordsize in (None, 65536) for arc in sizes for l2arc in (0, 1 << 25)]
    together = simulate(trace, WHOLE, cases, threads=3)
    alone = [outcome for case in cases for outcome in simulate(trace, WHOLE, [case], threads=1)]
    assert list(together) == alone
    assert [(one.recordsize, one.arc_bytes, one.l2arc_bytes) for one in together] == [
        (case.recordsize, case.arc_bytes, case.l2arc_bytes) for case in cases
    ]


def test_reads_that_warm_the_caches_are_not_counted() -> None:
    reads = reads_of([1, 2, 3, 4, 1, 2, 5], 1000 * MS)
    (found,) = run(reads, Case(None, 1 << 28), skip_ns=4000 * MS, zfs_prefetch_disable=True)
    assert (found.references, found.arc_hits, found.misses) == (3, 2, 1)
    assert sum(found.object_misses.values()) == 1
    (none,) = run(reads, Case(None, 1 << 28), skip_ns=10**15)
    assert (none.references, none.misses, none.disk_read_bytes) == (0, 0, 0)


# All reads come to the ARC, and the L2ARC is fed from all of it.
PLAIN = {"dbuf_cache_shift": 63, "zfs_prefetch_disable": True, "zfs_multilist_num_sublists": 1}


def test_a_second_pass_finds_what_the_first_left() -> None:
    reads = reads_of(range(400), 50 * MS)
    case = Case(None, 1 << 21, 1 << 30)
    (first,) = run(reads, case, **PLAIN)
    (second,) = run(reads, case, passes=2, **PLAIN)
    (restarted,) = run(reads, case, passes=2, restarts=True, **PLAIN)
    (lost,) = run(reads, case, passes=2, restarts=True, l2arc_rebuild_enabled=False, **PLAIN)
    assert first.misses == lost.misses == 400
    assert second.arc_hits + second.l2arc_hits == 400
    assert (restarted.l2arc_hits, restarted.arc_hits) == (400, 0)
    assert (restarted.warmup_seconds, restarted.metadata_l2arc_hits) == (0, 1)


def test_an_l2arc_is_warm_when_it_hardly_grows_or_was_full() -> None:
    loop = reads_of(list(range(300)) * 20, 10 * MS)
    large, small, none = run(loop, *(Case(None, 1 << 22, l2arc) for l2arc in (1 << 30, 1 << 21, 0)), **PLAIN)
    # Each block is read within 3 s, of 60 in all.
    assert large.warmup_seconds is not None
    assert 3 <= large.warmup_seconds <= 6
    assert small.warmup_seconds is not None
    assert none.warmup_seconds is None
    (growing,) = run(reads_of(range(4000), 10 * MS), Case(None, 1 << 22, 1 << 30), **PLAIN)
    assert growing.warmup_seconds is None


def test_a_sample_estimates_the_whole() -> None:
    reads = some(5, 60_000, 20_000)
    off = {"zfs_prefetch_disable": True, "zfs_max_recordsize": 1 << 20}
    case = Case(None, 64 << 20, 1 << 30)
    (whole,) = run(reads, case, **off)
    (sample,) = run(reads, case, sample=0.2, **off)
    assert sample.references == whole.references == sample.arc_hits + sample.l2arc_hits + sample.misses
    assert abs(sample.misses - whole.misses) < 0.03 * whole.references
    assert abs(sample.l2arc_hits - whole.l2arc_hits) < 0.03 * whole.references
    assert 0.8 < sample.l2arc_written_bytes / whole.l2arc_written_bytes < 1.25


def test_a_trace_that_is_a_sample_sees_sizes_scaled() -> None:
    reads = some(6, 5000, 2000)
    off = {"zfs_prefetch_disable": True, "metadata_compressratio": 1.0, "indirect_bytes": 1 << 24}
    kept = Header(complete=True, sampling="1/4")
    (whole,) = run(reads, Case(None, 1 << 27, 1 << 30), **off)
    (sample,) = run(reads, Case(None, 1 << 29, 1 << 32), header=kept, **off)
    assert sample.references == whole.references
    assert sample.l2arc_held_bytes % 4 == 0
    assert abs(sample.misses - whole.misses) < 100
    with pytest.raises(UsageError, match="of a sample of the blocks no other recordsize"):
        run(reads, Case(65536, 1 << 29), header=kept)


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (Case(None, 0), "an ARC of 0 bytes"),
        (Case(None, 1 << 63), "an ARC of 9223372036854775808 bytes can't be simulated: sizes go up to 4E"),
        (Case(None, 1, 1 << 63), "an L2ARC of 9223372036854775808 bytes"),
        (Case(None, 1, buffer_pool_bytes=-1), "a buffer pool of -1 bytes"),
        (Case(24576, 1 << 30), "a recordsize of 24576 bytes can't be"),
        (Case(1 << 25, 1 << 30), "a recordsize of 33554432 bytes"),
        (Case(256, 1 << 30), "a recordsize of 256 bytes"),
        (Case(8192, 1 << 30), "a recordsize of 8K can't be simulated, as the records were read in blocks of 16K"),
    ],
)
def test_a_machine_that_cannot_be_is_refused(case: Case, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run(reads_of([1, 2]), case)


@pytest.mark.parametrize("blkid", [2**64 - 1, 2**60, 2**50])
def test_absurd_places_and_times_do_no_harm(blkid: int) -> None:
    times = [5, 2**64 - 1, 0, 2**63, 2**64 - 1]
    reads = [Read(time, 54, 7, 0, max(blkid - at, 0), 512, "-") for at, time in enumerate(times)]
    reads += [Read(2**64 - 1, 54, 7, 0, blkid - 10 + at, 512, "-") for at in range(8)]
    found = run(reads, Case(None, 1), Case(None, 1 << 62, 1 << 62, 1 << 62), Case(1 << 24, 1 << 20, 1))
    assert [one.references for one in found] == [13, 13, 13]

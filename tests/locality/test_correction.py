"""What is counted in a share of the blocks, corrected by what is known of the whole."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reads_in_memory import FILES, file_reads, loaded
from reference import Read

from zmysql.locality.correction import Counted, apportioned, corrected, shifted
from zmysql.locality.objects import objects
from zmysql.locality.profile import FileReads, Profile, profile
from zmysql.locality.share import Share
from zmysql.locality.simulation import Case, Outcome, simulate
from zmysql.locality.spatial import recordsizes
from zmysql.locality.windows import working_set
from zmysql.trace.format import NO_READS, Header

HEADER = Header(complete=True, objects={(54, 3): "/data/shop/orders.ibd"})
CACHE = 1 << 17
SIZES = (0, 1 << 14, CACHE, 1 << 40)
CASES = (Case(None, CACHE), Case(None, 1 << 30), Case(None, CACHE, CACHE, CACHE))


def counted(reads: list[Read]) -> Counted:
    held = loaded(reads)
    return Counted(
        profile=profile(held, HEADER, SIZES),
        objects=objects(held, HEADER, cache_bytes=CACHE),
        recordsizes=recordsizes(held, HEADER, cache_bytes=CACHE),
        working_set=working_set(held, HEADER),
        outcomes=simulate(held, HEADER, CASES[1:]),
        warm=simulate(held, HEADER, CASES[:1]),
    )


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    """Give an outcome with as many hits of each kind as may be."""
    pool, dbuf, arc, l2arc, misses = (draw(st.integers(0, 40)) for _ in range(5))
    return Outcome(
        recordsize=None,
        arc_bytes=CACHE,
        l2arc_bytes=CACHE,
        references=pool + dbuf + arc + l2arc + misses,
        buffer_pool_hits=pool,
        dbuf_hits=dbuf,
        arc_hits=dbuf + arc,
        l2arc_hits=l2arc,
        misses=misses,
        disk_read_bytes=misses,
        l2arc_written_bytes=0,
        l2arc_header_bytes=0,
        warmup_seconds=None,
    )


def share_of(whole: Profile, one_in: int = 1) -> Share:
    return Share(one_in, whole.distinct_blocks, whole.references, 0.01, whole)


@st.composite
def shares(draw: st.DrawFn, found: Counted) -> Share:
    """Give what may have been counted of a whole with this share in it, how unlikely it may be."""
    names = {(objset, number) for objset, number, _ in FILES}
    counts = {name: draw(st.integers(0, 200)) for name in sorted(names)}
    seen = {(file.objset, file.object): file.references for file in found.profile.files}
    files = [
        FileReads(*name, HEADER.objects.get(name), count + seen.get(name, 0), 7)
        for name, count in counts.items()
        if count + seen.get(name, 0)
    ]
    references = sum(file.references for file in files)
    served = apportioned([draw(st.integers(0, 9)) for _ in range(7)] + [1], references)
    served += [draw(st.integers(0, 99)) for _ in NO_READS]
    whole = replace(
        found.profile,
        references=references,
        classes=dict(zip(found.profile.classes, served, strict=True)),
        files=tuple(sorted(files, key=lambda file: -file.references)),
        span_ns=found.profile.span_ns + 5,
        out_of_order=references // 3,
    )
    return share_of(whole, draw(st.integers(1, 50)))


@given(file_reads())
def test_what_is_all_of_a_trace_stays_as_it_is(reads: list[Read]) -> None:
    found = counted(reads)
    assert corrected(found, share_of(found.profile), HEADER) == found


@given(file_reads(), st.data())
def test_hits_make_up_for_what_is_missing_and_misses_stay(reads: list[Read], data: st.DataObject) -> None:
    found = counted(reads)
    share = data.draw(shares(found))
    right, before = corrected(found, share, HEADER).profile, found.profile
    expected = round(share.whole.references / share.one_in)
    assert right.references == max(expected, before.distinct_blocks)
    for size, hits in before.hits.items():
        assert 0 <= right.hits[size] <= right.references - right.first_reads
        assert right.references - right.hits[size] == min(before.references - hits, right.references)
    assert right.mrc[0] == before.mrc[0] == (0, 1.0)
    assert all(0 <= less <= more <= 1 for (_, more), (_, less) in pairwise(right.mrc))
    for (size, ratio), (same_size, before_ratio) in zip(right.mrc[1:], before.mrc[1:], strict=True):
        misses = min(round(before_ratio * before.references), right.references)
        assert (size, ratio) == (same_size, misses / right.references)
    again = right.references - right.first_reads if before.reuse_distances else 0
    assert sum(count for *_, count in right.reuse_distances) == again
    assert sum(count for *_, count in right.reuse_distances_blocks) == again
    assert sum(count for name, count in right.classes.items() if name not in NO_READS) == right.references
    assert (right.span_ns, right.distinct_blocks) == (share.whole.span_ns, before.distinct_blocks)


@given(file_reads(), st.data())
def test_all_figures_are_of_the_same_reads(reads: list[Read], data: st.DataObject) -> None:
    found = replace(counted(reads), outcomes=(data.draw(outcomes()),), warm=(data.draw(outcomes()),))
    share = data.draw(shares(found))
    right = corrected(found, share, HEADER)
    references = right.profile.references
    assert sum(window.references for window in right.working_set.windows) == references
    again = sum(count for *_, count in right.working_set.inter_reference)
    assert again == (references - right.profile.first_reads if found.working_set.inter_reference else 0)
    assert right.objects.references == right.recordsizes.references == references
    assert all(0 <= one.miss_ratio <= 1 for one in right.recordsizes.known)
    assert [(one.objset, one.object, one.references, one.distinct_blocks) for one in right.objects.objects] == [
        (file.objset, file.object, file.references, file.distinct_blocks) for file in right.profile.files
    ]
    for one in right.objects.objects:
        assert 0 <= one.misses <= one.references
        assert one.references >= max(one.distinct_blocks, 1)
        assert all(0 <= ratio <= 1 for _, ratio in one.mrc)
    for before, outcome in zip((*found.outcomes, *found.warm), (*right.outcomes, *right.warm), strict=True):
        check_outcome(before, outcome, references - right.profile.classes["hole"])


def check_outcome(before: Outcome, outcome: Outcome, references: int) -> None:
    if not before.references:  # nothing but holes was read: of that nothing follows
        assert outcome == before
        return
    assert outcome.references == references
    parts = outcome.buffer_pool_hits, outcome.arc_hits, outcome.l2arc_hits, outcome.misses
    assert sum(parts) == references
    assert min(parts) >= 0
    assert outcome.misses == min(before.misses, references)
    assert outcome.dbuf_hits <= outcome.arc_hits
    assert outcome.disk_read_bytes == before.disk_read_bytes


def test_a_file_that_the_share_misses_is_listed_with_its_reads() -> None:
    found = counted(20 * [Read(5, 54, 2, 0, 1, 16384, "arc")])
    named, other = FileReads(54, 3, "/data/shop/orders.ibd", 900, 4), FileReads(54, 2, None, 100, 3)
    files = (named, other, FileReads(54, 9, None, 4, 1))  # of the last, a tenth is no read at all
    whole = replace(found.profile, references=1004, files=files)
    right = corrected(found, share_of(whole, 10), HEADER)
    listed = [(one.name, one.references, one.distinct_blocks, one.misses) for one in right.objects.objects]
    assert listed == [("shop.orders", 90, 0, 0), ("object 2 of objset 54", 10, 1, 1)]
    assert right.profile.references == 100


@given(st.lists(st.integers(0, 2**63), max_size=20), st.integers(0, 2**63))
def test_what_is_apportioned_adds_up_and_is_in_proportion(counts: list[int], whole: int) -> None:
    parts = apportioned(counts, whole)
    total = sum(counts)
    assert sum(parts) == (whole if total else 0)
    assert all(abs(part * total - count * whole) <= total for part, count in zip(parts, counts, strict=True))


@pytest.mark.parametrize(
    ("more", "right"),
    [
        (0, ((0, 8, 3), (8, 16, 2), (32, 64, 4))),
        (5, ((0, 8, 8), (8, 16, 2), (32, 64, 4))),
        (-2, ((0, 8, 1), (8, 16, 2), (32, 64, 4))),
        (-3, ((8, 16, 2), (32, 64, 4))),
        (-6, ((32, 64, 3),)),
        (-9, ()),
    ],
)
def test_distances_are_shifted_from_the_shortest_on(more: int, right: tuple[tuple[int, int, int], ...]) -> None:
    assert shifted(((0, 8, 3), (8, 16, 2), (32, 64, 4)), more) == right

"""What larger records bring along: against the naive reference, and in Suresh's situation."""

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
from zmysql.locality.spatial import Recordsize, Recordsizes, recordsizes
from zmysql.trace.format import Dataset, Header

PAGE = 16384
DATABASE = Header(complete=True, datasets={54: Dataset("tank/data", PAGE)})
# A disk that moves its head in 8 ms, and reads 150 MB a second then.
SEEK_NS, BYTE_NS = 8_000_000, 1000 / 150


def pages(numbers: list[int], size: int = PAGE) -> _engine.Reads:
    return loaded([Read(at, 54, 2, 0, number, size, "miss") for at, number in enumerate(numbers)])


def at(found: Recordsizes, recordsize: int) -> Recordsize:
    return next(one for one in found.known if one.recordsize == recordsize)


def disk_ns(one: Recordsize) -> float:
    return one.disk_reads * SEEK_NS + one.disk_read_bytes * BYTE_NS


# files are written, on a disk that others use too
@given(
    file_reads(),
    st.dictionaries(st.sampled_from([54, 55]), st.sampled_from([4096, 16384])),
    st.sampled_from([512, 4096, 16384, 32768, 131072, 1 << 20]),
    st.integers(0, 1 << 21) | st.sampled_from([0, 16384, 131072, 262144, 1 << 40]),
)
def test_figures_equal_the_reference(
    reads: list[Read], known: dict[int, int], recordsize: int, cache_bytes: int
) -> None:
    held = loaded(reads)
    assert _engine.own_recordsize(held, list(known.items())) == reference_spatial.own_recordsize(reads, known)
    found = _engine.recordsizes(held, list(known.items()), [recordsize], cache_bytes, 1)
    expected = reference_spatial.regrouped(reads, known, recordsize, cache_bytes)
    assert {name: getattr(found[0], name) for name in expected} == expected


@settings(max_examples=30)
@given(file_reads(), st.integers(0, 1 << 20))
def test_without_regrouping_it_is_the_cache_of_the_report(reads: list[Read], cache_bytes: int) -> None:
    found = _engine.recordsizes(loaded(reads), [], [512], cache_bytes, 1)[0]
    assert found.misses == len(reads) - reference.lru_hits(reference_spatial.settled(reads), cache_bytes)
    assert (found.neighbour_hits, found.neighbour_bytes) == (0, 0)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_long_trace_gives_the_same_in_any_order_and_number_of_threads(threads: int) -> None:
    chosen = Random(5)  # noqa: S311 - reads, not secrets
    numbers = [int(chosen.paretovariate(0.3)) % 700 for _ in range(3000)]
    reads = [Read(at, 54, 2, 0, number, PAGE, "miss") for at, number in enumerate(numbers)]
    sizes = [131072, 16384, 1 << 20, 32768]
    found = _engine.recordsizes(loaded(reads), [], sizes, 64 * PAGE, threads)
    for size, one in zip(sizes, found, strict=True):
        expected = reference_spatial.regrouped(reads, {}, size, 64 * PAGE)
        assert {name: getattr(one, name) for name in expected} == expected


def test_suresh_2009_larger_records_win_with_a_large_cache_and_lose_with_a_small_one() -> None:
    # A database of 1.5G; a tenth of its pages are wanted, each as likely. So few are wanted twice: his trace had 5 % of
    # the pages read more than once and 0.2 % more than twice.
    count = 98304
    chosen = Random(2009)  # noqa: S311 - reads, not secrets
    wanted = [chosen.randrange(count) for _ in range(count // 10)]
    times = [wanted.count(number) for number in set(wanted[:500])]
    assert 0.03 < sum(one > 1 for one in times) / len(times) < 0.12
    reads = pages(wanted)

    large = recordsizes(reads, DATABASE, cache_bytes=count * PAGE)
    own, larger = at(large, PAGE), at(large, 131072)
    assert own.miss_ratio == pytest.approx(0.95, abs=0.01)  # so no cache of pages could pay
    assert larger.miss_ratio == pytest.approx(0.69, abs=0.01)
    assert larger.disk_reads_ratio == pytest.approx(0.72, abs=0.01)
    assert larger.disk_read_bytes_ratio == pytest.approx(5.8, abs=0.1)
    assert larger.first_read_hits > 0.9 * (own.disk_reads - larger.disk_reads)
    assert disk_ns(larger) < disk_ns(own)

    small = recordsizes(reads, DATABASE, cache_bytes=count * PAGE // 256)
    own, larger = at(small, PAGE), at(small, 131072)
    assert larger.disk_reads_ratio == pytest.approx(1, abs=0.01)
    assert larger.disk_read_bytes_ratio == pytest.approx(8, abs=0.1)
    assert larger.useful_neighbour_ratio is not None
    assert larger.useful_neighbour_ratio < 0.01
    assert disk_ns(larger) > disk_ns(own)


def test_scattered_hot_pages_lose_by_larger_records() -> None:
    hot = [8 * number for number in range(64)] * 20
    found = recordsizes(pages(hot), DATABASE, cache_bytes=64 * PAGE)
    assert at(found, PAGE).disk_reads == 64
    assert at(found, 131072).miss_ratio == 1
    assert at(found, 131072).disk_reads_ratio == 20
    assert at(found, 131072).read_amplification == 8


def test_a_scan_gains_as_much_as_a_record_holds() -> None:
    found = recordsizes(pages(list(range(1024))), DATABASE, cache_bytes=1 << 20)
    assert [one.disk_reads for one in found.known] == [1024, 512, 256, 128, 64, 32, 16]
    assert {one.disk_read_bytes_ratio for one in found.known} == {1}
    assert [one.useful_neighbour_ratio for one in found.known] == [None, 1, 1, 1, 1, 1, 1]
    assert at(found, 131072).first_read_hits == 1024 - 128


def test_what_a_trace_of_larger_records_cannot_tell_is_said() -> None:
    header = Header(complete=True, datasets={54: Dataset("tank/data", 131072)})
    found = recordsizes(pages([1, 2, 3], 131072), header, cache_bytes=1 << 20)
    assert found.own_recordsize == 131072
    assert [one.recordsize for one in found.known] == [131072, 262144, 524288, 1 << 20]
    assert [one.recordsize for one in found.unknown] == [16384, 32768, 65536]
    assert "reads of 128K records" in found.unknown[0].why


def test_a_sample_tells_only_its_own_recordsize() -> None:
    header = Header(complete=True, sampling="1/8", datasets=DATABASE.datasets)
    numbers = [*range(0, 64, 8)] * 2
    found = recordsizes(pages(numbers), header, cache_bytes=64 * PAGE)
    assert [one.recordsize for one in found.known] == [PAGE]
    assert found.known[0].miss_ratio == 0.5  # the sample's eight blocks just fit into an eighth of the cache
    assert recordsizes(pages(numbers), header, cache_bytes=63 * PAGE).known[0].miss_ratio == 1
    assert all("sample of 1/8 of the records" in one.why for one in found.unknown)
    assert len(found.unknown) == 6


def test_a_trace_of_small_files_has_nothing_to_regroup() -> None:
    reads = loaded([Read(1, 54, number, 0, 0, 1024, "miss") for number in range(3)])
    found = recordsizes(reads, DATABASE, cache_bytes=1 << 20)
    assert (found.own_recordsize, found.known, found.own()) == (None, (), None)
    assert "no file in the trace" in found.unknown[0].why


def test_a_recordsize_is_a_power_of_two() -> None:
    with pytest.raises(ValueError, match="24576 is no power of two"):
        recordsizes(pages([1]), DATABASE, [24576], cache_bytes=1)

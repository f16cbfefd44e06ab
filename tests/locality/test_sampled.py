"""A sample against the exact figures: of synthetic traces, of recorded ones, and of those that are samples already."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from trace_files import write_trace

from zmysql.errors import UsageError, ZmysqlError
from zmysql.locality.profile import Profile, profile
from zmysql.locality.reads import load
from zmysql.locality.sampled import AUTO_BLOCKS, LEAST_BLOCKS, SampledCurve, SampleSize, parse_sample, sampled
from zmysql.trace.format import Header, header_text, read_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = Path(__file__).parents[1] / "data"
RECORDED = sorted(DATA.glob("arc/*/trace.gz"))
READS, BLOCKS, RECORD_BYTES = 200_000, 60_000, 16384
ALL = SampleSize(1, 0)


def zipf(source: random.Random) -> Iterator[int]:
    while True:
        yield int(BLOCKS ** source.random()) * 7919 % BLOCKS


def uniform(source: random.Random) -> Iterator[int]:
    while True:
        yield source.randrange(BLOCKS)


def scan(source: random.Random) -> Iterator[int]:
    hot = zipf(source)
    while True:
        for block in range(BLOCKS // 3):
            yield BLOCKS + block
            yield next(hot)


def synthetic(path: Path, kind: Callable[[random.Random], Iterator[int]], header: Header) -> Path:
    blocks = kind(random.Random(5))  # noqa: S311 - reads, not secrets
    body = "".join(f"{at} 54 2 0 {next(blocks)} {RECORD_BYTES} arc\n" for at in range(READS))
    path.write_bytes(gzip.compress((header_text(header) + body).encode(), compresslevel=1))
    return path


def both(path: Path, size: SampleSize) -> tuple[SampledCurve, Profile]:
    """Give the estimate and the exact figures, at sizes all over the curve."""
    header = read_header(path)
    reads = load(path, header)
    flat = profile(reads, header, ()).flat_bytes or 1 << 20
    sizes = [flat * part // 60 for part in range(1, 61)]
    return sampled(path, header, sizes, size), profile(reads, header, sizes)


def offs(found: SampledCurve, right: Profile) -> list[tuple[float, float]]:
    """Give for each size by how much the miss ratio is off, and its standard error."""
    return [
        (abs(hits - right.hits[size]) / right.references, found.hit_errors[size] / right.references)
        for size, hits in found.profile.hits.items()
    ]


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize("kind", [zipf, uniform, scan])
@pytest.mark.parametrize("size", ["1%", "8192", "20%"])
def test_a_sample_of_a_synthetic_trace_is_near(
    tmp_path: Path, kind: Callable[[random.Random], Iterator[int]], size: str
) -> None:
    found, right = both(synthetic(tmp_path / "a.trace", kind, Header(complete=True)), parse_sample(size))
    differences = offs(found, right)
    assert mean([off for off, _ in differences]) <= 0.01
    assert mean([off <= 3 * error for off, error in differences]) > 0.9
    assert mean([error for _, error in differences]) < 0.02
    assert found.sampled_blocks < right.distinct_blocks / 2
    for name, error in found.block_errors.items():
        assert abs(getattr(found.profile, name) - getattr(right, name)) <= 4 * error, name


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_a_sample_of_a_recorded_trace_is_near(path: Path) -> None:
    found, right = both(path, parse_sample("1%"))
    differences = offs(found, right)
    assert mean([off for off, _ in differences]) <= 0.01
    assert mean([off <= 3 * error + 0.008 for off, error in differences]) > 0.9
    assert found.profile.classes == right.classes
    assert found.profile.references == found.references == right.references


def test_a_sample_of_all_is_exact_but_for_the_width_of_a_bucket() -> None:
    path = DATA / "sysbench-random-points" / "trace.gz"
    found, right = both(path, ALL)
    same = ("references", "distinct_blocks", "blocks_read_once", "blocks_read_more_than_once", "distinct_bytes")
    for name in (
        *same,
        "blocks_read_more_than_twice",
        "classes",
        "span_ns",
        "out_of_order",
        "files",
        "reads_per_block",
    ):
        assert getattr(found.profile, name) == getattr(right, name), name
    assert found.distinct_blocks_estimated == (right.distinct_blocks, 0)
    assert (found.rate, found.error, found.resolved_bytes) == (1, 0, 0)
    for size, hits in right.hits.items():
        near = profile(load(path, read_header(path)), read_header(path), [size * 126 // 128, size * 130 // 128])
        fewer, more = near.hits.values()
        assert fewer <= found.profile.hits[size] <= more, hits


def test_the_curve_falls_and_its_distances_are_reads_that_hit(tmp_path: Path) -> None:
    path = synthetic(tmp_path / "a.trace", zipf, Header(complete=True))
    found = sampled(path, read_header(path), (), parse_sample("5%"))
    sizes, ratios, errors = zip(*found.points, strict=True)
    assert sizes[0] == 0
    assert list(sizes) == sorted(set(sizes))
    assert list(ratios) == sorted(ratios, reverse=True)
    assert sizes[1] >= found.resolved_bytes > 0
    assert found.error == max(errors[1:])
    assert found.profile.mrc == tuple(zip(sizes, ratios, strict=True))
    hits = sum(reads for *_, reads in found.profile.reuse_distances)
    assert abs(hits - found.references * (1 - ratios[-1])) <= 1
    in_blocks = [end for _, end, _ in found.profile.reuse_distances_blocks]
    assert in_blocks == [round(end / RECORD_BYTES) for _, end, _ in found.profile.reuse_distances]


def test_of_a_trace_that_is_a_sample_already_sizes_and_errors_are_those_of_the_whole(tmp_path: Path) -> None:
    whole = synthetic(tmp_path / "whole.trace", uniform, Header(complete=True))
    right = both(whole, ALL)[1]
    kept = set(random.Random(3).sample(range(BLOCKS), BLOCKS // 16))  # noqa: S311 - blocks, not secrets
    lines = gzip.decompress(whole.read_bytes()).decode().splitlines(keepends=True)
    body = [line for line in lines if not line.startswith("#") and int(line.split()[4]) in kept]
    part = tmp_path / "part.trace"
    text = header_text(Header(complete=True, sampling="1/16")) + "".join(body)
    part.write_bytes(gzip.compress(text.encode()))
    found = sampled(part, read_header(part), right.hits, ALL)
    assert found.rate == 1 / 16
    assert found.references == len(body)
    ratios = [
        (abs(found.profile.hits[size] / found.references - hits / right.references), error / found.references)
        for (size, hits), error in zip(right.hits.items(), found.hit_errors.values(), strict=True)
    ]
    assert mean([off for off, _ in ratios]) < 0.02
    assert all(error > 0 for _, error in ratios)
    assert mean([off <= 3 * error for off, error in ratios]) > 0.9


def test_what_sample_takes() -> None:
    assert parse_sample("auto") == SampleSize(0, AUTO_BLOCKS)
    for one in ("1%", "0.01", ".01", "1/100", " 1% "):
        assert parse_sample(one) == SampleSize(0.01, LEAST_BLOCKS)
    assert parse_sample("1") == parse_sample("100%") == SampleSize(1, LEAST_BLOCKS)
    assert parse_sample("8192") == SampleSize(0, 8192)
    for wrong in ("", "0", "0%", "0.0", "1/0", "3/2", "101%", "-1", "1e-3", "nan", "many", "5", "0/0%", "10000000000"):
        with pytest.raises(UsageError, match="is no sample: write auto"):
            parse_sample(wrong)


def test_a_trace_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "a.trace", [], Header(complete=True))
    with pytest.raises(ZmysqlError, match=r"a\.trace holds no records"):
        sampled(path, read_header(path), (), ALL)

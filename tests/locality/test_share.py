"""The share of a trace's blocks that is analysed: how large it is, and that what is said of it beforehand is so."""

from __future__ import annotations

import gzip
import random
from typing import TYPE_CHECKING

import pytest

from zmysql.errors import ZmysqlError
from zmysql.locality import share as module
from zmysql.locality.profile import profile
from zmysql.locality.reads import load
from zmysql.locality.sampled import SampleSize, parse_sample
from zmysql.locality.share import Share, choose
from zmysql.trace.format import Header, header_text, read_header

if TYPE_CHECKING:
    from pathlib import Path

READS, BLOCKS, RECORD_BYTES = 120_000, 40_000, 16384
CACHES = (100 << 20, 300 << 20)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chosen = random.Random(11)  # noqa: S311 - reads, not secrets
    body = "".join(
        f"{at} 54 {at % 3} 0 {int(BLOCKS * chosen.random() ** 2)} {RECORD_BYTES} arc\n" for at in range(READS)
    )
    path = tmp_path_factory.mktemp("traces") / "a.trace"
    path.write_bytes(gzip.compress((header_text(Header(complete=True)) + body).encode(), compresslevel=1))
    return path


def chosen(path: Path, sample: str) -> Share | None:
    return choose(path, read_header(path), parse_sample(sample), CACHES)


def checked(path: Path, sample: str) -> Share:
    """Give a share after a look at whether it is what will be loaded."""
    share = chosen(path, sample)
    assert share is not None
    header = read_header(path)
    reads = load(path, header, share)
    figures = profile(reads, share.header_of(header), CACHES)
    assert (len(reads), figures.distinct_blocks) == (share.references, share.distinct_blocks)
    assert share.whole.references == READS
    assert share.whole.span_ns == READS - 1
    exact = profile(load(path, header), header, CACHES)
    for size in CACHES:
        misses, right = figures.references - figures.hits[size], (READS - exact.hits[size]) / READS
        assert abs(misses * share.one_in / READS - right) <= 3 * share.error
    assert share.error < 0.05
    return share


def test_a_rate_is_one_in_so_many_blocks_and_no_less(path: Path) -> None:
    share = checked(path, "30%")
    assert share.one_in == 3
    assert share.distinct_blocks == pytest.approx(share.whole.distinct_blocks / 3, rel=0.05)
    assert checked(path, "1/4").one_in == 4


@pytest.mark.parametrize("one_in", [2, 3, 7, 49, 98, 103, 1000])
def test_a_rate_that_no_binary_fraction_equals_is_not_rounded_to_less(path: Path, one_in: int) -> None:
    share = choose(path, read_header(path), SampleSize(1 / one_in, 10), CACHES)
    assert share is not None
    assert share.one_in == one_in


def test_a_small_rate_still_has_as_many_blocks_as_an_answer_needs(path: Path) -> None:
    share = checked(path, "0.1%")
    assert 8192 <= share.distinct_blocks <= 8192 * 1.5


@pytest.mark.parametrize("blocks", [1000, 9000])
def test_a_number_of_blocks_is_that_or_up_to_half_more(path: Path, blocks: int) -> None:
    assert blocks <= checked(path, str(blocks)).distinct_blocks <= 1.5 * blocks


@pytest.mark.parametrize("sample", ["1", "100%", "60%", "1000000", "auto"])
def test_most_of_the_blocks_are_all(tmp_path: Path, path: Path, sample: str) -> None:
    if sample == "auto":
        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        path = tmp_path / "short.trace"
        path.write_bytes(gzip.compress(b"".join(lines[:50_000])))
    assert chosen(path, sample) is None


def test_of_a_number_of_blocks_the_reads_are_bounded_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_READS", 20_000)
    for sample in ("60000", "auto", "1000000"):
        share = checked(path, sample)
        assert 5_000 < share.references <= 20_000
        assert share.error > 0
    assert checked(path, "1/2").references > 20_000  # who names a share gets it


def test_blocks_of_which_each_is_read_too_often_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hot.trace"
    path.write_bytes(gzip.compress((header_text(Header(complete=True)) + "1 54 2 0 1 512 arc\n" * 100).encode()))
    monkeypatch.setattr(module, "MOST_READS", 10)
    with pytest.raises(ZmysqlError, match=r"hot\.trace reads so few blocks so often .* with `zmysql trace cut`"):
        chosen(path, "auto")


def test_the_share_of_a_recorded_sample_is_of_what_was_kept(path: Path) -> None:
    share = chosen(path, "1/3")
    assert share is not None
    assert share.header_of(Header(complete=True)).sampling == "1/3"
    assert share.header_of(Header(complete=True, sampling="1/10", records=7)).sampling == "1/30"
    assert share.header_of(Header(complete=True, sampling="3/4", records=7)).records == 7


def test_memory_for_a_share_is_that_of_its_reads(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share = chosen(path, "1/9")
    assert share is not None
    asked = []
    monkeypatch.setattr("zmysql.locality.reads.require", lambda size, what: asked.append((size, what)))
    load(path, Header(complete=True, records=READS), share)
    assert asked == [(share.references * 13, f"{path}: the {share.references:,} records of its sample")]

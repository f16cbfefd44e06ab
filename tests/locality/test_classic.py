"""The textbook's LRU and ARC: hits of libCacheSim 0.3.5 (PyPI's libcachesim), on traces that are made here as there."""

from __future__ import annotations

from array import array
from random import Random
from typing import TYPE_CHECKING

import pytest

from zmysql.locality import _engine

if TYPE_CHECKING:
    from collections.abc import Callable

REFERENCES = 20_000
SIZES = [10, 100, 1000, 2900]


def skewed(chosen: Random) -> list[int]:
    return [int(chosen.paretovariate(0.7)) % 5000 for _ in range(REFERENCES)]


def uniform(chosen: Random) -> list[int]:
    return [chosen.randrange(3000) for _ in range(REFERENCES)]


def scans(chosen: Random) -> list[int]:
    """Give reads of skewed blocks, with a stretch of a scan in between."""

    def block(at: int) -> int:
        return at % 2500 if at // 1000 % 3 == 2 else chosen.randrange(chosen.randrange(4000) + 1)

    return [block(at) for at in range(REFERENCES)]


def reads(blocks: list[int]) -> _engine.Reads:
    return _engine.reads_of(array("Q", blocks).tobytes())


@pytest.mark.parametrize(
    ("make", "seed", "algorithm", "hits"),
    [
        (skewed, 1, "arc", [15277, 18967, 19388, 19388]),
        (skewed, 1, "lru", [14311, 18728, 19388, 19388]),
        (uniform, 2, "arc", [59, 625, 6404, 16752]),
        (uniform, 2, "lru", [53, 641, 6460, 16766]),
        (scans, 3, "arc", [144, 1196, 7799, 16571]),
        (scans, 3, "lru", [64, 666, 6899, 16475]),
    ],
)
def test_hits_equal_those_of_libcachesim(
    make: Callable[[Random], list[int]], seed: int, algorithm: str, hits: list[int]
) -> None:
    trace = reads(make(Random(seed)))  # noqa: S311 - reads, not secrets
    for threads in (1, 3):
        assert _engine.classic_hits(trace, algorithm, SIZES, sample=1.0, threads=threads) == hits


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match='"clock" is neither lru nor arc'):
        _engine.classic_hits(reads([1]), "clock", [1], sample=1.0, threads=1)
    with pytest.raises(ValueError, match="8 bytes each"):
        _engine.reads_of(b"1234567")
    assert _engine.classic_hits(reads([]), "arc", [0, 1], sample=1.0, threads=1) == [0, 0]

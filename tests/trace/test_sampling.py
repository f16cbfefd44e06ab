"""The hash by which the D scripts sample records: evenly, whatever the pattern of the addresses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from zmysql.errors import UsageError
from zmysql.trace.sampling import is_kept, parse_rate, spatial_hash

if TYPE_CHECKING:
    from collections.abc import Callable

    Address = Callable[[int], tuple[int, int, int]]

RATES = (2, 3, 7, 16, 64, 100)
PATTERNS: dict[str, Address] = {
    "each record": lambda at: (54, 128, at),
    "each 8th": lambda at: (54, 128, at * 8),
    "each 2^20th": lambda at: (54, 128, at << 20),
    "each 2^40th": lambda at: (54, 128, at << 40),
    "the first record of each file": lambda at: (54, at, 0),
    "one record of each 256th file": lambda at: (54, at * 256, 3),
    "the same record of each dataset": lambda at: (at, 128, 0),
    "all three at once": lambda at: (at, at, at),
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_addresses_at_any_stride_are_kept_evenly(pattern: Address) -> None:
    for rate in RATES:
        kept = sum(is_kept(*pattern(at), rate) for at in range(400 * rate))
        # 400 are expected; chance alone leaves this range at one of 15,000 such tests.
        assert abs(kept - 400) < 4 * math.sqrt(400 * (1 - 1 / rate)), rate


def test_different_addresses_have_different_hashes() -> None:
    addresses = [(objset, number, blkid) for objset in range(1, 20) for number in range(40) for blkid in range(40)]
    assert len({spatial_hash(*address) for address in addresses}) == len(addresses)


def test_a_rate_that_divides_another_keeps_its_records_too() -> None:
    kept = {blkid for blkid in range(5000) if is_kept(54, 128, blkid, 64)}
    assert kept
    assert all(is_kept(54, 128, blkid, 16) for blkid in kept)


def test_one_of_one_keeps_all() -> None:
    assert all(is_kept(54, 128, blkid, 1) for blkid in range(100))


def test_its_last_steps_are_murmurhash3s() -> None:
    published = {1: 0xB456BCFC34C2CB2C, 0xCBF29CE484222325: 0xEFD01F60BA992926}
    assert {blkid: spatial_hash(0, 0, blkid) for blkid in published} == published


@pytest.mark.parametrize(("text", "rate"), [("1/64", 64), ("1/1", 1), ("1/2147483647", 2147483647)])
def test_a_rate_is_written_as_one_of_so_many(text: str, rate: int) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize("text", ["64", "2/64", "1/0", "1/", "/64", "1/2147483648", "1/-4", "1/1e3", "1/٣", "auto", ""])
def test_what_is_no_rate_is_named(text: str) -> None:
    with pytest.raises(UsageError, match="such as 1/64") as raised:
        parse_rate(text)
    assert repr(text) in str(raised.value)

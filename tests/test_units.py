"""Sizes and durations as admins write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zmysql.errors import UsageError
from zmysql.units import format_size, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("0", 0), ("512", 512), ("16K", 16384), ("16k", 16384), ("1.5G", 3 << 29), ("2GiB", 2 << 30), ("1 T", 1 << 40)],
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["", "K", "-1", "16Q", "1.2.3G", "16 K B", "nan", "1e9"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no size"):
        parse_size(text)


@given(st.integers(0, 1 << 60))
def test_a_formatted_size_is_close_to_the_size(size_bytes: int) -> None:
    assert parse_size(format_size(size_bytes)) == pytest.approx(size_bytes, rel=0.06)


@given(st.integers(0, 6), st.integers(1, 1023))
def test_a_whole_size_comes_back_exactly(exponent: int, number: int) -> None:
    size_bytes = number << (10 * exponent)
    assert parse_size(format_size(size_bytes)) == size_bytes


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("60", 60), ("500ms", 0.5), ("1.5m", 90), ("1h", 3600)])
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-5s", "5 d", "s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no duration"):
        parse_duration(text)

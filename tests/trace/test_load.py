"""The sampling rate that a load asks for."""

from __future__ import annotations

import pytest

from zmysql.trace.load import rate_for


@pytest.mark.parametrize(
    ("reads", "lines", "rate"),
    [(0, 5000, 1), (5000, 5000, 1), (5001, 5000, 2), (10_001, 5000, 4), (1e6, 5000, 256), (1e300, 1, 1 << 20)],
)
def test_the_rate_is_the_least_power_of_two_that_does(reads: float, lines: int, rate: int) -> None:
    assert rate_for(reads, lines) == rate

"""The formula against the article's figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zmysql.locality.latency import hit_ratio_for, speedup


def test_the_article_gains_five_percent() -> None:
    # Suresh 2009: "If we let r=100 and h=0.05 then x=100/95.05, ie a 5% reduction in latency"
    assert speedup(100, 0.05) == pytest.approx(100 / 95.05)


def test_the_ends() -> None:
    assert speedup(35, 0) == 1
    assert speedup(35, 1) == 35
    assert hit_ratio_for(100, 1) == 0
    assert hit_ratio_for(100, 100) == pytest.approx(1)
    assert hit_ratio_for(1.2, 1.25) > 1  # devices so alike that nothing brings it


@given(st.floats(1.01, 1e6), st.floats(0, 1))
def test_one_undoes_the_other(ratio: float, hit_ratio: float) -> None:
    assert hit_ratio_for(ratio, speedup(ratio, hit_ratio)) == pytest.approx(hit_ratio, abs=1e-6)

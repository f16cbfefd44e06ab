"""The simulation against a real ARC: runs that `make accuracy` recorded, with what ZFS counted meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from accuracy.comparison import LIMIT
from accuracy.measured import load_capture
from accuracy.simulation import compare
from accuracy.workloads import TESTED

CAPTURES = Path(__file__).parents[1] / "data" / "arc"


@pytest.mark.parametrize("name", TESTED)
def test_hit_ratios_are_those_of_the_real_arc(name: str) -> None:
    compared = compare(load_capture(CAPTURES / name))
    assert abs(compared.arc_points) <= LIMIT
    if compared.capture.workload.l2arc_bytes:
        assert compared.l2arc_points is not None
        assert abs(compared.l2arc_points) <= LIMIT

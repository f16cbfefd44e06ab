"""The simulation against a real ARC: runs that `make accuracy` recorded, with what ZFS counted meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from accuracy.comparison import LIMIT, Compared
from accuracy.measured import load_capture
from accuracy.simulation import simulated

CAPTURES = sorted(path.parent for path in (Path(__file__).parents[1] / "data" / "arc").glob("*/context.json"))


@pytest.mark.parametrize("folder", CAPTURES, ids=lambda folder: folder.name)
def test_hit_ratios_are_those_of_the_real_arc(folder: Path) -> None:
    capture = load_capture(folder)
    compared = Compared(capture, simulated(capture))
    assert abs(compared.arc_points) <= LIMIT
    if capture.workload.l2arc_bytes:
        assert compared.l2arc_points is not None
        assert abs(compared.l2arc_points) <= LIMIT

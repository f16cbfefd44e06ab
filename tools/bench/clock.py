"""Wall times, and medians of them: machines are noisy."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """Give the wall time of some work."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun

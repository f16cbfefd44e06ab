"""The simulation beside the real thing, and the table of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from accuracy.explained import EXPLAINED
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accuracy.measured import Capture

# Percentage points: what is promised, and what is wished for.
LIMIT, WISHED = 3.0, 1.0


@dataclass(frozen=True, slots=True)
class Simulated:
    """What the simulation says of a capture; the L2ARC's ratio is None without one."""

    references: int
    arc_hit_ratio: float
    l2arc_hit_ratio: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """One row of the table."""

    capture: Capture
    simulated: Simulated

    @property
    def arc_points(self) -> float:
        """Simulated less real ARC hit ratio, in percentage points."""
        return 100 * (self.simulated.arc_hit_ratio - self.capture.arc_hit_ratio)

    @property
    def l2arc_points(self) -> float | None:
        """Simulated less real L2ARC hit ratio, in percentage points; None without an L2ARC."""
        real, simulated = self.capture.l2arc_hit_ratio, self.simulated.l2arc_hit_ratio
        return None if real is None or simulated is None else 100 * (simulated - real)

    def within(self, points: float) -> bool:
        """Tell whether no difference is larger."""
        return max(abs(self.arc_points), abs(self.l2arc_points or 0.0)) <= points

    @property
    def explanation(self) -> str:
        """Say why a difference is larger than wished for; nothing where it isn't, or nobody knows."""
        return "" if self.within(WISHED) else EXPLAINED.get(self.capture.workload.name, "")

    @property
    def held(self) -> bool:
        """Tell whether the differences are within the limit, or explained."""
        return self.within(LIMIT) or bool(self.explanation)


COLUMNS = (
    *("workload", "records", "ARC", "data / ARC", "L2ARC", "reads"),
    *("ARC hits, real", "simulated", "points", "L2ARC hits, real", "simulated", "points", "why"),
)


def row(compared: Compared) -> tuple[str, ...]:
    """Give the cells of a comparison under COLUMNS."""
    load, simulated = compared.capture.workload, compared.simulated
    return (
        load.name,
        format_size(load.recordsize),
        format_size(load.arc_bytes),
        f"{load.data_per_arc:g}",
        format_size(load.l2arc_bytes) if load.l2arc_bytes else "-",
        str(simulated.references),
        *_ratios(compared.capture.arc_hit_ratio, simulated.arc_hit_ratio, compared.arc_points),
        *_ratios(compared.capture.l2arc_hit_ratio, simulated.l2arc_hit_ratio, compared.l2arc_points),
        compared.explanation,
    )


def _ratios(real: float | None, simulated: float | None, points: float | None) -> tuple[str, str, str]:
    if real is None or simulated is None or points is None:
        return ("-", "-", "-")
    return (f"{real:.1%}", f"{simulated:.1%}", f"{points:+.1f}")


def markdown(rows: Iterable[Compared]) -> str:
    """Give the table in Markdown."""
    cells = (COLUMNS, tuple("---" for _ in COLUMNS), *(row(one) for one in rows))
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"

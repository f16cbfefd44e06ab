"""The simulation beside the real thing, and the table of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accuracy.measured import Capture, Ratios

# Percentage points: what is promised, and what is wished for.
LIMIT, WISHED = 3.0, 1.0


@dataclass(frozen=True, slots=True)
class Compared:
    """One row of the table: what ZFS counted, what the tracer saw of mysqld's reads, and what the simulation says."""

    capture: Capture
    references: int
    counted: Ratios
    traced: Ratios
    simulated: Ratios

    @property
    def real(self) -> Ratios:
        """What the simulation is held against: arcstats, unless it also has writes in it, which no trace has."""
        return self.traced if self.capture.workload.writes else self.counted

    @property
    def arc_points(self) -> float:
        """Simulated less real ARC hit ratio, in percentage points."""
        return 100 * (self.simulated.arc - self.real.arc)

    @property
    def l2arc_points(self) -> float | None:
        """Simulated less real L2ARC hit ratio, in percentage points; None without an L2ARC."""
        real, simulated = self.real.l2arc, self.simulated.l2arc
        return None if real is None or simulated is None else 100 * (simulated - real)

    def within(self, points: float) -> bool:
        """Tell whether no difference is larger."""
        return max(abs(self.arc_points), abs(self.l2arc_points or 0.0)) <= points


COLUMNS = (
    *("workload", "records", "ARC", "data / ARC", "L2ARC", "reads"),
    *("ARC: counted", "traced", "simulated", "points", "L2ARC: counted", "traced", "simulated", "points"),
)


def row(compared: Compared) -> tuple[str, ...]:
    """Give the cells of a comparison under COLUMNS."""
    load = compared.capture.workload
    ratios = (compared.counted, compared.traced, compared.simulated)
    return (
        load.name,
        format_size(load.recordsize),
        format_size(load.arc_bytes),
        f"{load.data_per_arc:g}",
        format_size(load.l2arc_bytes) if load.l2arc_bytes else "-",
        str(compared.references),
        *(_percent(one.arc) for one in ratios),
        f"{compared.arc_points:+.1f}",
        *(_percent(one.l2arc) for one in ratios),
        "-" if compared.l2arc_points is None else f"{compared.l2arc_points:+.1f}",
    )


def _percent(ratio: float | None) -> str:
    return "-" if ratio is None else f"{100 * ratio:.1f}"


def markdown(rows: Iterable[Compared]) -> str:
    """Give the table in Markdown."""
    cells = (COLUMNS, tuple("---" for _ in COLUMNS), *(row(one) for one in rows))
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"

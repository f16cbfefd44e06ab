"""What ZFS counted during a run, and the capture it belongs to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from accuracy.workloads import Workload
from zmysql.errors import ZmysqlError
from zmysql.trace.machine import parse_cache_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ratios:
    """The share of reads that the ARC had, and of the others the share that the L2ARC had; None without one."""

    arc: float
    l2arc: float | None


@dataclass(frozen=True, slots=True)
class Capture:
    """A recorded run: `samples` are ZFS's counters from the trace's time 0 to its end, each by the kstat's name.

    `tunables` are the module's parameters as texts, `datasets` the properties of each dataset by its name, `zpool`
    what `zpool list -vHpL` said. `compressratio` is that of the tables, holes left out.
    """

    workload: Workload
    trace: Path
    date: str
    tunables: Mapping[str, str]
    datasets: Mapping[str, Mapping[str, str]]
    samples: tuple[Mapping[str, Any], ...]
    zpool: tuple[str, ...]
    compressratio: float

    def grown(self, name: str) -> int:
        """Give by how much a counter of arcstats grew."""
        first, last = (int(self.samples[at]["arcstats"][name]) for at in (0, -1))
        return last - first

    @property
    def l2arc_device_bytes(self) -> int:
        """What the cache device holds at most; 0 without one."""
        return parse_cache_bytes("\n".join(self.zpool))

    def counted(self) -> Ratios:
        """Give what arcstats counted: demand reads of data; for the L2ARC also metadata and prefetch.

        A read that joins another's I/O (iohits) hits, as it does for the simulation, to which a block is there once it
        was asked for. Since OpenZFS 2.2 demand_data_hits has what the dbuf cache answered, too: arc_buf_access().
        Records that are written, and are in a dbuf, count like those that are read.
        """
        hits, joined, misses = (self.grown(f"demand_data_{what}") for what in ("hits", "iohits", "misses"))
        l2_hits, l2_misses = self.grown("l2_hits"), self.grown("l2_misses")
        l2arc = l2_hits / (l2_hits + l2_misses) if self.workload.l2arc_bytes else None
        return Ratios((hits + joined) / (hits + joined + misses), l2arc)

    def traced(self, classes: Mapping[str, int]) -> Ratios:
        """Give where the tracer saw each read of the server being found, from the number of reads of each class."""
        hits = classes["dbuf"] + classes["arc"] + classes["wait"]
        l2_hits, misses = classes["l2hit"], classes["miss"]
        l2arc = l2_hits / (l2_hits + misses) if self.workload.l2arc_bytes else None
        return Ratios(hits / (hits + l2_hits + misses), l2arc)


def load_capture(folder: Path) -> Capture:
    """Read what `capture` left in a folder.

    Raises ZmysqlError where there is none.
    """
    try:
        context = json.loads((folder / "context.json").read_text())
        workload = Workload(**{**context["workload"], "options": tuple(context["workload"]["options"])})
        return Capture(
            workload, folder / "trace.gz", context["date"], context["tunables"], context["datasets"],
            tuple(context["samples"]), tuple(context["zpool"]),
            context["compressratio"],
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ZmysqlError(f"{folder} has no capture ({error}): make one with `make accuracy`") from None

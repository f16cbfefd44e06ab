"""docs/accuracy.md: how the simulation was held against a real ARC, and what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accuracy.comparison import LIMIT, WISHED, markdown
from zmysql.trace.format import read_header
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accuracy.comparison import Compared

TEXT = """# The simulation against the real ARC

`make accuracy` made this page. In a virtual machine it creates two pools, with records of 16K and of 128K, loads
{data} of tables with sysbench, and runs each workload below from empty caches: `zmysql trace record` writes down which
records mysqld reads, and ZFS's own counters (arcstats) are read before and after. Then the trace is replayed by the
simulation, with the machine's tunables. Where each read was really found, which is in the trace, it doesn't look at.

What no trace has, and a simulation of one's own machine has to be told, is taken from the run's arcstats: the share of
recent blocks that the ARC's balance began with, and what else the ARC held (7 MB of metadata); and from the files, by
how much the tables compress (not at all in records of 16K, by 1.3 in records of 128K). Without the first two all
differences at 16K stay under 3 points; without the last one those at 128K don't.

- *ARC*: the share of reads that the ARC had, in percent. *Counted* by arcstats: (demand_data_hits +
  demand_data_iohits) / all demand reads of data; a read that joins an I/O in flight (iohit) needs none of its own, and
  what the dbuf cache answers is a hit there, too. *Traced*: where the tracer saw each of mysqld's reads being found.
- *L2ARC*: of the reads that the ARC hadn't, those that the L2ARC had. Counted: l2_hits / (l2_hits + l2_misses), which
  has metadata and prefetch in it.
- *points*: simulated less counted, in percentage points; for read-write simulated less traced, since arcstats counts
  records that are written as it counts those that are read. The limit is {limit:g}, the wish {wished:g}:
  {within} of {all} are within the limit, {wish} within the wish.
- *data / ARC*: the size of the tables through the ARC's target (zfs_arc_max, which zfs_arc_min holds in its place).

Machine: {machine}. Date: {date}.

{table}
"""


def page(rows: Sequence[Compared], data_bytes: int) -> str:
    """Give the page's text."""
    headers = [read_header(row.capture.trace) for row in rows]
    machine = {f"{header.os}, OpenZFS {header.zfs}, {header.mysql}" for header in headers}
    return TEXT.format(
        data=format_size(data_bytes),
        limit=LIMIT,
        wished=WISHED,
        within=sum(row.within(LIMIT) for row in rows),
        all=len(rows),
        wish=sum(row.within(WISHED) for row in rows),
        machine="; ".join(sorted(machine)),
        date=", ".join(sorted({row.capture.date for row in rows})),
        table=markdown(rows),
    )

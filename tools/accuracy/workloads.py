"""What is run against the real ARC: sysbench's loads, on two recordsizes, with and without an L2ARC."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20

# A table of this many rows fills 62.6 MiB of InnoDB's pages: a number of tables is a size of the data.
TABLE_ROWS = 290_000
TABLE_BYTES = 64 * MIB
TABLES = 8
LONGEST_S = 600


@dataclass(frozen=True, slots=True)
class Workload:
    """One run: what sysbench does, to how many tables, through caches of which size, until how many reads."""

    name: str
    script: str
    options: tuple[str, ...]
    tables: int
    recordsize: int
    arc_bytes: int
    reads: int
    l2arc_bytes: int | None = None
    writes: bool = False

    @property
    def data_bytes(self) -> int:
        """The size of the tables that are read."""
        return self.tables * TABLE_BYTES

    @property
    def data_per_arc(self) -> float:
        """The size of the tables, in ARCs."""
        return self.data_bytes / self.arc_bytes


# Those that are accuracy's own scripts, and not sysbench's.
OWN = ("points", "scans")


def _points(kind: str, *more: str) -> tuple[str, tuple[str, ...]]:
    return "points", (f"--rand-type={kind}", *more)


UNIFORM, PARETO, ZIPFIAN = _points("uniform"), _points("pareto"), _points("uniform", "--zipf=80")
READ_ONLY = ("oltp_read_only", ("--rand-type=uniform", "--skip_trx=on"))
READ_WRITE = ("oltp_read_write", ("--rand-type=uniform",))
# Sums over 2000 rows, which are 28 pages in a row: short scans at random places.
RANGES = (
    "oltp_read_only",
    (
        *("--rand-type=uniform", "--skip_trx=on", "--point_selects=1", "--sum_ranges=1", "--range_size=2000"),
        *("--simple_ranges=0", "--order_ranges=0", "--distinct_ranges=0"),
    ),
)
# Whole tables, one after the other, and points between: accuracy's own script, as sysbench has none.
SCANS = ("scans", ("--rand-type=uniform",))

K16, K128 = 16 << 10, 128 << 10

ALL = (
    Workload("uniform-half", *UNIFORM, 1, K16, 128 * MIB, 20_000),
    Workload("uniform-2x", *UNIFORM, 4, K16, 128 * MIB, 25_000),
    Workload("uniform-8x", *UNIFORM, 8, K16, 64 * MIB, 20_000),
    Workload("zipfian-4x", *ZIPFIAN, 8, K16, 128 * MIB, 20_000),
    Workload("pareto-2x", *PARETO, 4, K16, 128 * MIB, 20_000),
    Workload("read-only-2x", *READ_ONLY, 4, K16, 128 * MIB, 25_000),
    Workload("read-write-2x", *READ_WRITE, 4, K16, 128 * MIB, 20_000, writes=True),
    Workload("ranges-2x", *RANGES, 4, K16, 128 * MIB, 25_000),
    Workload("scans-2x", *SCANS, 4, K16, 128 * MIB, 40_000),
    Workload("uniform-4x-l2arc", *UNIFORM, 4, K16, 64 * MIB, 25_000, 512 * MIB),
    Workload("zipfian-8x-l2arc", *ZIPFIAN, 8, K16, 64 * MIB, 25_000, 128 * MIB),
    Workload("uniform-2x-128k", *UNIFORM, 4, K128, 128 * MIB, 15_000),
    Workload("zipfian-4x-128k", *ZIPFIAN, 8, K128, 128 * MIB, 15_000),
    Workload("pareto-4x-128k-l2arc", *PARETO, 8, K128, 128 * MIB, 15_000, 256 * MIB),
)
# Small, and different: these stay as data of the tests.
TESTED = (
    *("uniform-2x", "zipfian-4x", "read-only-2x", "scans-2x", "uniform-2x-128k"),
    *("uniform-4x-l2arc", "pareto-4x-128k-l2arc"),
)
# The cache devices that the testbed has, by size.
CACHE_BYTES = tuple(sorted({load.l2arc_bytes for load in ALL if load.l2arc_bytes}))

"""Candidates for the tests of the verdict: a load, and devices at round figures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from zmysql.locality.candidates import Candidate, Rig, Served, candidates
from zmysql.locality.devices import GIB, DeviceModel, Media, Memory, ReadLatency
from zmysql.locality.options import Option, Wishes, cases, options

if TYPE_CHECKING:
    from zmysql.locality.simulation import Case

DISK = DeviceModel("disk", "disk", Media.HDD, ReadLatency(7e6, 14e6), iops=200, bandwidth_bytes_per_second=150e6)
SSD = DeviceModel(
    "ssd",
    "ssd",
    Media.SSD,
    ReadLatency(200e3, 400e3),
    iops=30_000,
    bandwidth_bytes_per_second=500e6,
    capacity_bytes=400 * 10**9,
    price_per_gb=0.25,
    drive_writes_per_day=1,
    warranty_years=5,
)
MEMORY = Memory(price_per_gib=5, module_bytes=16 * GIB, most_bytes=1024 * GIB)
RIG = Rig(DISK, SSD, MEMORY, disks=4, readers=16)
ARC, L2ARC = 8 * GIB, 100 * GIB
REFERENCES = 100_000
DB_BYTES = 2000 * 10**9
KNOWN = Wishes(db_bytes=DB_BYTES)
NONE = Wishes()


def load(hits: dict[Case, tuple[int, int]], *, header_bytes: int = 0, written: int = 10**9) -> dict[Case, Served]:
    """Give how cases were served, from (ARC hits, L2ARC hits) of 100,000 reads in 1000 s."""
    return {
        case: Served(
            references=REFERENCES,
            arc_hits=arc_hits,
            l2arc_hits=l2arc_hits,
            read_bytes=16384,
            span_s=1000,
            header_bytes=header_bytes if case.l2arc_bytes else 0,
            l2arc_written_bytes=written if case.l2arc_bytes else 0,
            warmup_seconds=300 if case.l2arc_bytes else None,
            simulated=True,
        )
        for case, (arc_hits, l2arc_hits) in hits.items()
    }


def offered(wishes: Wishes = NONE, arc_bytes: int = ARC, l2arc_bytes: int = L2ARC) -> tuple[Option, ...]:
    return options(arc_bytes, l2arc_bytes, wishes, most_ram_bytes=MEMORY.most_bytes, read_bytes=10**9)


def found(
    arc_hits: int = 40_000,
    l2arc_hits: int = 40_000,
    ram_hits: int = 45_000,
    rig: Rig = RIG,
    wishes: Wishes = NONE,
    **served: int,
) -> tuple[Candidate, ...]:
    """Give candidates: an L2ARC's hits grow with its size up to these, as do those of a larger ARC."""
    offer = offered(wishes)
    hits = {}
    for case in cases(offer):
        share = min(case.l2arc_bytes / L2ARC, 1)
        grown = arc_hits + round((ram_hits - arc_hits) * (case.arc_bytes / ARC - 1) / 3)
        hits[case] = (grown, round(l2arc_hits * share))
    return candidates(offer, load(hits, **served), rig)


def priced(price_per_gb: float | None = 0.25, ram: float = 5) -> Rig:
    return replace(RIG, ssd=replace(SSD, price_per_gb=price_per_gb), memory=replace(MEMORY, price_per_gib=ram))


@st.composite
def loads(draw: st.DrawFn) -> tuple[int, int, int]:
    """Draw ARC hits, L2ARC hits, and the hits of four times the ARC, of 100,000 reads."""
    arc_hits = draw(st.integers(0, REFERENCES))
    return arc_hits, draw(st.integers(0, REFERENCES - arc_hits)), draw(st.integers(arc_hits, REFERENCES))

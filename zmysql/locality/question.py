"""What a person asks: for which caches and devices, and what the money is for; with what nobody said assumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import UsageError
from zmysql.locality.candidates import Goal, Rig
from zmysql.locality.devices import Media
from zmysql.locality.latency import LatencyRatio
from zmysql.locality.options import Wishes
from zmysql.locality.simulation import LARGEST_BYTES
from zmysql.units import format_size

if TYPE_CHECKING:
    from zmysql.locality.devices import Catalogue
    from zmysql.trace.format import Header

ASSUMED_ARC_BYTES = 4 << 30
ASSUMED_L2ARC_PER_ARC = 8  # an L2ARC of 16K records then takes 5 % of the ARC for its headers
# A disk of 10,000 to 15,000 rpm: a seek of 4 ms and half a turn. A SATA SSD's 16K read through ZFS.
ASSUMED_DISK_LATENCY_NS = 7_000_000
ASSUMED_SSD_LATENCY_NS = 200_000
DISK, SSD = "hdd-15k", "ssd-sata-read"  # with the assumed latencies, where nobody names another
DISKS, READERS = 4, 16  # Suresh had four disks, and ten threads

_MAX_RATIO = 1e6


@dataclass(frozen=True, slots=True)
class Caches:
    """The sizes to judge for, and which of them nobody named: "ARC" and "L2ARC" or neither."""

    arc_bytes: int
    l2arc_bytes: int
    assumed: tuple[str, ...]

    @property
    def both_bytes(self) -> int:
        """ARC and L2ARC as one cache."""
        return self.arc_bytes + self.l2arc_bytes


@dataclass(frozen=True, slots=True)
class Question:
    """The whole of it; `ratio` is r of Suresh's formula, from the same latencies as the rig's devices.

    `compressratio` is that of the records, as zfs(8) gives it: caches hold as many more.
    """

    caches: Caches
    wishes: Wishes
    goal: Goal
    rig: Rig
    ratio: LatencyRatio
    compressratio: float = 1.0


@dataclass(frozen=True, slots=True)
class Devices:
    """What a person said of devices, or None: names in the catalogue, latencies in seconds, or only their ratio."""

    disk: str | None = None
    ssd: str | None = None
    disk_s: float | None = None
    ssd_s: float | None = None
    ratio: float | None = None
    disks: int = DISKS
    readers: int = READERS


def ask(
    header: Header,
    catalogue: Catalogue,
    *,
    arc_bytes: int | None = None,
    wishes: Wishes | None = None,
    goal: Goal = Goal.LATENCY,
    devices: Devices | None = None,
    compressratio: float = 1.0,
) -> Question:
    """Complete a question with what the trace's header says, and what is assumed.

    Raises UsageError for what can't be meant.
    """
    wishes, devices = wishes or Wishes(), devices or Devices()
    caches = choose_caches(header, arc_bytes, wishes.l2arc_bytes)
    if wishes.ram_bytes is not None and wishes.ram_bytes < caches.arc_bytes:
        ram, arc = format_size(wishes.ram_bytes), format_size(caches.arc_bytes)
        raise UsageError(f"--ram {ram}: an ARC of {arc} doesn't fit in it")
    rig, ratio = _rig(catalogue, devices)
    return Question(caches, wishes, goal, rig, ratio, compressratio)


def choose_caches(header: Header, arc_bytes: int | None, l2arc_bytes: int | None) -> Caches:
    """Take the sizes that were asked for, else those of the machine that was recorded, else assume some.

    Raises UsageError for a size of 0.
    """
    if 0 in (arc_bytes, l2arc_bytes):
        raise UsageError("an ARC or L2ARC of 0 bytes can't be judged: say a size such as 4G")
    arc = arc_bytes or header.arc_bytes
    l2arc = l2arc_bytes or header.l2arc_bytes
    assumed = tuple(name for name, size in (("ARC", arc), ("L2ARC", l2arc)) if not size)
    arc = arc or ASSUMED_ARC_BYTES
    l2arc = l2arc or ASSUMED_L2ARC_PER_ARC * arc
    return Caches(min(arc, LARGEST_BYTES), min(l2arc, LARGEST_BYTES), assumed)


def _rig(catalogue: Catalogue, said: Devices) -> tuple[Rig, LatencyRatio]:
    """Take devices from the catalogue, with the latencies that were given or assumed."""
    disk = catalogue.device(said.disk or DISK, Media.HDD)
    ssd = catalogue.device(said.ssd or SSD, Media.SSD)
    disk_ns = disk.latency.mean_ns if said.disk else ASSUMED_DISK_LATENCY_NS
    ssd_ns = ssd.latency.mean_ns if said.ssd else ASSUMED_SSD_LATENCY_NS
    disk_ns = disk_ns if said.disk_s is None else said.disk_s * 1e9
    ssd_ns = ssd_ns if said.ssd_s is None else said.ssd_s * 1e9
    if said.ratio is None:
        assumed = said == Devices(disks=said.disks, readers=said.readers)
        origin = f"{disk_ns / 1e6:g} ms to {ssd_ns / 1e6:g} ms{', assumed' if assumed else ''}"
        ratio = LatencyRatio(disk_ns / ssd_ns, origin)
    else:
        if said.disk_s is not None or said.ssd_s is not None:
            raise UsageError("--latency-ratio and the latencies say the same thing twice: drop one of them")
        ratio = LatencyRatio(said.ratio, "as given")
    if not 1 < ratio.value <= _MAX_RATIO:
        raise UsageError(f"a latency ratio of {ratio.value:g} can't be judged: the disk must be slower than the SSD")
    ssd_ns = ssd_ns if said.ratio is None else disk_ns / said.ratio
    rig = Rig(disk.with_latency(disk_ns), ssd.with_latency(ssd_ns), catalogue.memory, said.disks, said.readers)
    return rig, ratio

"""What a disk, an SSD and memory cost, how fast they are, and how long they last. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

GB = 10**9  # as makers of disks count
GIB = 1 << 30  # as memory is sold
_DAYS = 365


class Media(StrEnum):
    """What a device is made of, as far as a choice between two goes."""

    HDD = "hdd"
    SSD = "ssd"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a figure comes from, and of which year it is; None where nobody said."""

    text: str
    year: int | None = None


@dataclass(frozen=True, slots=True)
class ReadLatency:
    """The time of a random read of 16K on a quiet device: at least `floor_ns`, and beyond it exponential.

    A shifted exponential is the simplest distribution that has a mean and a tail of its own: two figures that data
    sheets and fio give decide it. With p99 at its mean or below there is no tail, and each read takes the mean.
    """

    mean_ns: float
    p99_ns: float

    @property
    def tail_ns(self) -> float:
        """The mean of what comes on top of the floor, at most the mean: p99 = floor + tail ln 100."""
        return min(max((self.p99_ns - self.mean_ns) / (math.log(100) - 1), 0.0), self.mean_ns)

    @property
    def floor_ns(self) -> float:
        """The fastest read."""
        return self.mean_ns - self.tail_ns

    def slower_than(self, time_ns: float) -> float:
        """Give the share of the reads that take longer than a time."""
        if time_ns < self.floor_ns:
            return 1.0
        return math.exp(-(time_ns - self.floor_ns) / self.tail_ns) if self.tail_ns > 0 else 0.0

    def with_mean(self, mean_ns: float) -> ReadLatency:
        """Give a latency of the same shape with another mean."""
        return ReadLatency(mean_ns, self.p99_ns * mean_ns / self.mean_ns)


@dataclass(frozen=True, slots=True)
class DeviceModel:
    """A device that can be bought.

    `iops` are random reads of 16K a second with many in flight. Capacity, price and endurance are None where nobody
    said them: then what follows from them isn't known either. `sources` is keyed by the catalogue's names of figures.
    """

    name: str
    description: str
    media: Media
    latency: ReadLatency
    iops: float
    bandwidth_bytes_per_second: float
    capacity_bytes: int | None = None
    price_per_gb: float | None = None
    drive_writes_per_day: float | None = None
    warranty_years: float | None = None
    sources: Mapping[str, Source] = field(default_factory=dict)

    def units(self, size_bytes: float) -> int:
        """Give how many devices hold that many bytes: at least one."""
        return max(1, math.ceil(size_bytes / self.capacity_bytes)) if self.capacity_bytes else 1

    def cost(self, size_bytes: float, copies: int = 1) -> float | None:
        """Give the price of that many bytes in whole devices, `copies` times as many for redundancy."""
        if self.price_per_gb is None:
            return None
        bought = self.units(size_bytes) * self.capacity_bytes if self.capacity_bytes else size_bytes
        return copies * bought / GB * self.price_per_gb

    def life_years(self, written_bytes_per_day: float, units: int) -> float | None:
        """Give the years until the writes that the maker warrants are used up; None where nobody said, or none are."""
        if not (self.drive_writes_per_day and self.warranty_years and self.capacity_bytes and written_bytes_per_day):
            return None
        warranted = self.drive_writes_per_day * self.capacity_bytes * units * self.warranty_years * _DAYS
        return warranted / (written_bytes_per_day * _DAYS)

    def read_seconds(self, size_bytes: float) -> float:
        """Give the share of a second that a read takes of the device's capacity to serve, at a size from 16K on."""
        return 1 / self.iops + max(size_bytes - (16 << 10), 0) / self.bandwidth_bytes_per_second

    def latency_of(self, size_bytes: float) -> ReadLatency:
        """Give the latency of a read of another size: the transfer of what is beyond 16K is added."""
        more_ns = max(size_bytes - (16 << 10), 0) / self.bandwidth_bytes_per_second * 1e9
        return ReadLatency(self.latency.mean_ns + more_ns, self.latency.p99_ns + more_ns)

    def with_latency(self, mean_ns: float) -> DeviceModel:
        """Give the device with another mean latency, as somebody measured it.

        One that answers later doesn't serve fewer at once, but it serves at least one at a time.
        """
        return replace(self, latency=self.latency.with_mean(mean_ns), iops=max(self.iops, 1e9 / mean_ns))


@dataclass(frozen=True, slots=True)
class Memory:
    """What RAM costs, the module in which it is sold, and the most that a server takes."""

    price_per_gib: float
    module_bytes: int
    most_bytes: int
    sources: Mapping[str, Source] = field(default_factory=dict)

    def cost(self, added_bytes: float) -> float:
        """Give the price of more memory, in whole modules."""
        return math.ceil(added_bytes / self.module_bytes) * self.module_bytes / GIB * self.price_per_gib


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All that can be bought, devices by name."""

    devices: Mapping[str, DeviceModel]
    memory: Memory

    def device(self, name: str, media: Media) -> DeviceModel:
        """Give a device by its name.

        Raises UsageError for a name that isn't there, and for a disk in an SSD's place or the other way round.
        """
        of_kind = tuple(one.name for one in self.devices.values() if one.media is media)
        found = self.devices.get(name)
        if found is None:
            near = did_you_mean(name, self.devices)
            raise UsageError(f"the catalogue has no device {shown(name)}{near}; there are {', '.join(of_kind)}")
        if found.media is not media:
            raise UsageError(f"{name} is a device of class {found.media}: here one of {', '.join(of_kind)} is meant")
        return found

"""How many reads a second a set of devices serves, and what waiting adds: exact mean-value analysis. Pure.

A closed queueing network: so many readers, each of which asks for its next read when it has the last. A device is a
queue for what it can't do in parallel, and a delay for the rest of its latency: one that answers in 100 µs alone and
serves 30,000 a second with many in flight is a queue of 33 µs and a delay of 67 µs. Source: Reiser and Lavenberg,
"Mean-value analysis of closed multichain queuing networks", J. ACM 27 (1980); for one class of customers the recursion
is exact where service times are exponential, and pessimistic by little where they are more even.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Station:
    """`count` devices alike that share what a read asks of them.

    `service_s` is what a read takes of all of them together on average, in seconds: the reads that come here of all
    reads, times the time in which one of them serves one.
    """

    service_s: float
    count: int

    @property
    def each_s(self) -> float:
        """The part of each device."""
        return self.service_s / self.count


def reads_per_second(delay_s: float, stations: Sequence[Station], readers: int) -> float:
    """Give the throughput of so many readers; `delay_s` is what a read takes where it waits for nobody.

    It is at most readers / (the time alone), and at most what the busiest device serves (Denning and Buzen, "The
    operational analysis of queueing network models", ACM Computing Surveys 10, 1978).
    """
    waiting = [0.0] * len(stations)
    throughput = 0.0
    for population in range(1, readers + 1):
        responses = [station.each_s * (1 + queue) for station, queue in zip(stations, waiting, strict=True)]
        together = sum(station.count * response for station, response in zip(stations, responses, strict=True))
        throughput = population / (delay_s + together)
        waiting = [throughput * response for response in responses]
    return throughput

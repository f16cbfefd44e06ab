"""Mean-value analysis against closed forms and bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zmysql.locality.queueing import Station, reads_per_second

stations = st.lists(st.builds(Station, st.floats(1e-6, 1e-1), st.integers(1, 50)), min_size=1, max_size=4)
delays = st.floats(1e-6, 1e-1)


def test_one_reader_waits_for_nobody() -> None:
    assert reads_per_second(0.002, [Station(0.006, 4), Station(0.002, 1)], 1) == pytest.approx(100)


def test_equal_queues_have_a_closed_form() -> None:
    # Balanced network of M queues of service s and no delay: X(N) = N / (s (N + M - 1)).
    assert reads_per_second(0, [Station(4 * 0.005, 4)], 10) == pytest.approx(10 / (0.005 * 13))


def test_the_machine_repairman() -> None:
    # One queue of service s, delay Z = 4 s and two readers (M/M/1//2): X = (1 - p0) / s, p0 = 1 / (1 + 2/4 + 2/16).
    assert reads_per_second(0.04, [Station(0.01, 1)], 2) == pytest.approx((1 - 1 / (1 + 0.5 + 0.125)) / 0.01)


@given(delays, stations, st.integers(1, 64))
def test_throughput_stays_below_both_bounds(delay_s: float, found: list[Station], readers: int) -> None:
    throughput = reads_per_second(delay_s, found, readers)
    alone = delay_s + sum(station.service_s for station in found)
    assert throughput <= readers / alone * (1 + 1e-9)
    assert throughput <= 1 / max(station.each_s for station in found) * (1 + 1e-9)


@given(delays, stations, st.integers(1, 64))
def test_more_readers_or_faster_devices_never_serve_fewer(delay_s: float, found: list[Station], readers: int) -> None:
    throughput = reads_per_second(delay_s, found, readers)
    assert reads_per_second(delay_s, found, readers + 1) >= throughput * (1 - 1e-9)
    assert reads_per_second(delay_s / 2, found, readers) >= throughput * (1 - 1e-9)
    faster = [Station(station.service_s / 2, station.count) for station in found]
    assert reads_per_second(delay_s, faster, readers) >= throughput * (1 - 1e-9)

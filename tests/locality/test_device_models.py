"""The device models: their distribution of latencies, what they cost, and how long they last."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zmysql.errors import UsageError
from zmysql.locality.catalogue import load_catalogue
from zmysql.locality.devices import GIB, DeviceModel, Media, Memory, ReadLatency

CATALOGUE = load_catalogue()
SSD = CATALOGUE.devices["ssd-sata-read"]
times = st.floats(1e3, 1e9)


@given(times, st.floats(1, 4.6))
def test_a_latency_has_the_mean_and_the_tail_that_it_was_given(mean_ns: float, ratio: float) -> None:
    latency = ReadLatency(mean_ns, mean_ns * ratio)
    assert latency.slower_than(latency.p99_ns * (1 + 1e-9)) == pytest.approx(0.01 if ratio > 1.001 else 0, abs=0.0101)
    # The mean is the area under the share of slower reads: the floor, and the tail's mean beyond it.
    assert latency.floor_ns + latency.tail_ns == pytest.approx(mean_ns)
    assert 0 <= latency.floor_ns <= mean_ns
    assert latency.slower_than(latency.floor_ns * 0.99) == 1


def test_a_tail_is_exponential_beyond_the_floor() -> None:
    latency = ReadLatency(mean_ns=200.0, p99_ns=100 + 100 * math.log(100))
    assert latency.floor_ns == pytest.approx(100)
    assert latency.slower_than(100 + 100 * math.log(2)) == pytest.approx(0.5)
    assert ReadLatency(200.0, 150.0).slower_than(200.0) == 0  # a tail below the mean is none
    assert latency.with_mean(400.0) == ReadLatency(400.0, 2 * latency.p99_ns)


def test_devices_are_bought_whole() -> None:
    assert SSD.capacity_bytes == 960 * 10**9
    assert (SSD.units(0), SSD.units(960 * 10**9), SSD.units(960 * 10**9 + 1)) == (1, 1, 2)
    assert SSD.cost(1) == pytest.approx(960 * 0.13)
    assert SSD.cost(961 * 10**9, copies=2) == pytest.approx(4 * 960 * 0.13)
    memory = Memory(price_per_gib=5, module_bytes=16 * GIB, most_bytes=64 * GIB)
    assert [memory.cost(size) for size in (0, 1, 16 * GIB, 16 * GIB + 1)] == [0, 80, 80, 160]


def test_what_nobody_said_is_not_known() -> None:
    bare = DeviceModel("a", "a", Media.SSD, ReadLatency(1e5, 2e5), iops=1e4, bandwidth_bytes_per_second=1e8)
    assert bare.cost(10**9) is None
    assert bare.life_years(10**9, units=1) is None
    assert bare.units(10**15) == 1
    priced = DeviceModel("a", "a", Media.SSD, ReadLatency(1e5, 2e5), 1e4, 1e8, price_per_gb=0.5)
    assert priced.cost(10**9) == 0.5


def test_life_is_what_the_maker_warrants() -> None:
    # 1.5 whole writes a day for five years, at twice that: half the time.
    assert SSD.life_years(2 * 1.5 * 960e9, units=1) == pytest.approx(2.5)
    assert SSD.life_years(2 * 1.5 * 960e9, units=2) == pytest.approx(5)
    assert SSD.life_years(0, units=1) is None


def test_larger_reads_take_longer_by_their_transfer() -> None:
    more = 112 * 1024 / 540e6
    assert SSD.read_seconds(16384) == pytest.approx(1 / 33000)
    assert SSD.read_seconds(131072) == pytest.approx(1 / 33000 + more)
    assert SSD.latency_of(131072).mean_ns == pytest.approx(150e3 + more * 1e9)
    assert SSD.latency_of(512) == SSD.latency


def test_a_latency_that_was_given_keeps_the_shape() -> None:
    slower = SSD.with_latency(300e3)
    assert slower.latency == ReadLatency(300e3, 440e3)
    assert slower.iops == SSD.iops
    assert CATALOGUE.devices["hdd-15k"].with_latency(1e6).iops == 1000  # one at a time is a thousand a second


def test_the_wrong_device_is_refused_with_the_right_ones() -> None:
    assert CATALOGUE.device("x25-e", Media.SSD).capacity_bytes == 32 * 10**9
    with pytest.raises(UsageError, match="no device 'hdd-15', did you mean hdd-15k"):
        CATALOGUE.device("hdd-15", Media.HDD)
    with pytest.raises(UsageError, match="hdd-15k is a device of class hdd: here one of x25-e, ssd-sata-read"):
        CATALOGUE.device("hdd-15k", Media.SSD)


@pytest.mark.parametrize("device", CATALOGUE.devices.values(), ids=lambda one: one.name)
def test_each_figure_of_the_catalogue_names_its_source_and_year(device: DeviceModel) -> None:
    needed = {"capacity_gb", "price_per_gb", "latency_us", "latency_p99_us", "iops", "bandwidth_mb_per_second"}
    if device.media is Media.SSD:
        needed |= {"drive_writes_per_day", "warranty_years"}
    assert set(device.sources) == needed
    for source in device.sources.values():
        assert source.year is not None
        assert 2008 <= source.year <= 2026
        assert source.text != "catalogue.toml"
    assert device.latency.p99_ns > device.latency.mean_ns
    # Many in flight are served faster than one after the other, but not beyond the bandwidth.
    assert 1e9 / device.latency.mean_ns < device.iops <= device.bandwidth_bytes_per_second / 16384 * 1.01

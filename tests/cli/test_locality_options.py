"""`zmysql locality report`: devices, prices, goals, and what can't be meant."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from running import refusal, zmysql

from zmysql.trace.format import Dataset, Header, header_text

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = Header(
    complete=True,
    zfs="2.3.9",
    drops=0,
    datasets={54: Dataset("tank/mysql/data", 16384)},
    objects={(54, 128): "/tank/mysql/data/shop/\x1b[2Jhot.ibd"},
    arc_bytes=8 << 20,
    l2arc_bytes=1 << 30,
)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give two minutes of a table of 50M that is read round and round, five times."""
    path = tmp_path_factory.mktemp("traces") / "a.trace"
    lines = (f"{at * 7_500_000} 54 128 0 {at * 7 % 3200} 16384 -\n" for at in range(16_000))
    path.write_bytes(gzip.compress((header_text(RECORDED) + "".join(lines)).encode()))
    return path


def report(*argv: object) -> dict[str, Any]:
    done = zmysql("locality", "report", "-j", *argv)
    assert done.exit_status == 0, done
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def chosen(found: dict[str, Any]) -> dict[str, Any]:
    one = next(one for one in found["candidates"] if one["chosen"])
    assert isinstance(one, dict)
    return one


def test_devices_of_the_catalogue(trace: Path) -> None:
    found = report(trace, "--disk", "hdd-7200", "--ssd", "optane", "--disks", "2", "--readers", "1")
    assert found["latency_ratio"] == pytest.approx(11600 / 14)
    assert (found["devices"]["disk"]["name"], found["devices"]["ssd"]["name"]) == ("hdd-7200", "optane")
    assert (found["devices"]["disks"], found["devices"]["readers"]) == (2, 1)
    assert found["devices"]["ssd"]["sources"]["price_per_gb"]["year"] == 2017
    alone = found["candidates"][0]
    assert alone["reads_per_second"] == pytest.approx(1e9 / alone["mean_latency_ns"])
    only_the_disk = report(trace, "--disk", "hdd-15k")
    assert only_the_disk["latency_ratio"] == pytest.approx(5500 / 200)
    assert only_the_disk["devices"]["ssd"]["latency_mean_ns"] == 200_000


def test_prices_of_ones_own(trace: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[devices.ssd-sata-read]\nprice_per_gb = 100\ncapacity_gb = 1\n[memory]\nprice_per_gib = 1\n")
    found = report(trace, "--prices", prices)
    l2arc = next(one for one in found["candidates"] if one["l2arc_bytes"] == 1 << 30)
    assert l2arc["cost"] == 2 * 100  # a GiB is two devices of a GB
    assert report(trace, "--ram", "8M", "--prices", prices)["verdict"]["choice"] == "l2arc"
    assert chosen(report(trace, "--arc", "32M", "--prices", prices))["choice"] == "more-ram"
    prices.write_text("[devices.ssd-sata-read]\nprice_per_gib = 100\n")
    assert "line 2: unknown key devices.ssd-sata-read.price_per_gib, did you mean price_per_gb?" in refusal(
        "locality", "report", trace, "--prices", prices
    )


def test_an_l2arc_that_is_named_is_the_only_one(trace: Path) -> None:
    sizes = {one["l2arc_bytes"] for one in report(trace, "--l2arc", "100M")["candidates"]}
    assert sizes == {0, 100 << 20}
    assert len({one["l2arc_bytes"] for one in report(trace)["candidates"]}) == 7


def test_memory_is_bounded(trace: Path) -> None:
    def arcs(*options: str) -> set[int]:
        return {one["arc_bytes"] >> 20 for one in report(trace, *options)["candidates"]}

    assert arcs() == {8, 12, 16, 32}
    assert arcs("--ram", "16M") == {8, 12, 16}


def test_a_database_of_a_known_size_can_go_to_ssds(trace: Path) -> None:
    options = ("--l2arc", "4M", "--ram", "8M")
    assert report(trace, *options)["verdict"]["choice"] == "leave-it"
    found = report(trace, *options, "--db-size", "2T")
    assert found["verdict"]["choice"] == "full-ssd"
    assert found["db_bytes"] == 2 << 40
    assert chosen(found)["ssd_bytes"] == 2 << 40
    assert chosen(found)["cost"] == pytest.approx(2 * 3 * 960 * 0.13)
    assert found["confidence"]["level"] == "low"


def test_the_goal_is_what_the_money_is_for(trace: Path) -> None:
    for goal in ("latency", "throughput", "cost"):
        assert report(trace, "--goal", goal)["goal"] == goal


def test_compressed_records_fill_caches_less(trace: Path) -> None:
    plain, packed = report(trace, "--arc", "32M"), report(trace, "--arc", "32M", "--compressratio", "2")
    assert packed["compressratio"] == 2
    assert packed["candidates"][0]["arc_hit_ratio"] > plain["candidates"][0]["arc_hit_ratio"] + 0.1
    assert packed["arc_hit_ratio"] == plain["arc_hit_ratio"]  # the formula's
    assert any("compressed to 1/2" in why for why in packed["formula"]["why"])
    assert "is not in the range" in refusal("locality", "report", trace, "--compressratio", "0.5")


def test_a_short_trace_is_not_simulated(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(gzip.compress((header_text(RECORDED) + "1 54 128 0 1 16384 -\n" * 9).encode()))
    found = report(path)
    assert found["simulations"] == []
    assert not any(one["simulated"] for one in found["candidates"])
    assert found["formula"]["simulated_x"] is None


def test_names_cannot_act_on_the_terminal(trace: Path) -> None:
    done = zmysql("locality", "report", trace)
    assert done.exit_status == 0
    assert "\x1b[2J" not in done.stdout


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--db-size", "1M"), "--db-size 1M: 50M of the database were read, so it is larger"),
        (("--db-size", "0"), "--db-size 0: 50M of the database were read"),
        (("--ram", "1M"), "--ram 1M: an ARC of 8M doesn't fit in it"),
        (("--ssd", "nvme"), "the catalogue has no device 'nvme', did you mean nvme-read?; there are x25-e"),
        (("--ssd", "hdd-15k"), "hdd-15k is a device of class hdd: here one of x25-e"),
        (("--disk", "x25-e"), "x25-e is a device of class ssd: here one of hdd-15k, hdd-7200 is meant"),
        (("--disks", "0"), "0 is not in the range"),
        (("--readers", "0"), "0 is not in the range"),
        (("--goal", "fame"), "'fame' is not one of 'latency', 'throughput', 'cost'"),
        (("--prices", "/nowhere"), "/nowhere: No such file or directory"),
        (("--l2arc", "0"), "of 0 bytes can't be judged"),
    ],
)
def test_what_cannot_be_meant(trace: Path, argv: tuple[str, ...], said: str) -> None:
    assert said in refusal("locality", "report", trace, *argv)


def test_gigantic_sizes_are_judged(trace: Path) -> None:
    found = report(trace, "--arc", str(2**63), "--l2arc", str(2**63))
    assert (found["arc_bytes"], found["l2arc_bytes"]) == (1 << 62, 1 << 62)
    assert found["verdict"]["choice"] == "leave-it"


def test_a_trace_without_records_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(gzip.compress(header_text(RECORDED).encode()))
    assert "holds no records" in refusal("locality", "report", path)

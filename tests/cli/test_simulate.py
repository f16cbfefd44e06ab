"""`zmysql locality simulate`."""

from __future__ import annotations

import gzip
import json
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from running import refusal, zmysql

from zmysql.trace.format import Dataset, Header, header_text

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = Header(
    complete=True,
    os="Debian GNU/Linux 13",
    zfs="2.2.6",
    datasets={54: Dataset("tank/mysql/data", 16384)},
    arc_bytes=1 << 24,
)
# 2000 records of 16K, read twice over two minutes; an ARC of 16M holds half of them.
TWICE = [f"{at * 30_000_000} 54 128 0 {at % 2000 * 7919 % 2000} 16384 miss" for at in range(4000)]
PROMISED = {
    *("recordsize", "arc_bytes", "l2arc_bytes", "references", "arc_hits", "l2arc_hits", "misses", "disk_read_bytes"),
    *("l2arc_written_bytes", "l2arc_header_bytes", "warmup_seconds"),
}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "a.trace"
    path.write_bytes(gzip.compress((header_text(RECORDED) + "\n".join(TWICE) + "\n").encode()))
    return path


def simulated(*argv: object) -> dict[str, Any]:
    done = zmysql("locality", "simulate", "-j", *argv)
    assert (done.exit_status, done.stderr) == (0, ""), done
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_each_combination_has_the_promised_keys(trace: Path) -> None:
    found = simulated(trace, "--arc", "16M,64M", "--l2arc", "0,1G", "--recordsize", "16K,128K")
    assert found["output_version"]["command"] == "zmysql locality simulate"
    sizes = [(one["recordsize"], one["arc_bytes"], one["l2arc_bytes"]) for one in found["simulations"]]
    assert sizes == list(product((16384, 131072), (1 << 24, 1 << 26), (0, 1 << 30)))
    for one in found["simulations"]:
        assert one.keys() >= PROMISED
        assert one["references"] == 4000 == one["arc_hits"] + one["l2arc_hits"] + one["misses"]
    alone, cached = found["simulations"][:2]
    assert (alone["l2arc_hits"], alone["l2arc_written_bytes"], alone["warmup_seconds"]) == (0, 0, None)
    assert cached["l2arc_hits"] > 500
    # But for the little that the L2ARC's headers take from the ARC.
    assert cached["misses"] == pytest.approx(alone["misses"] - cached["l2arc_hits"], rel=0.01)
    assert cached["l2arc_header_bytes"] > 0


def test_the_machine_is_as_recorded_unless_said_otherwise(trace: Path) -> None:
    found = simulated(trace)
    assert (found["platform"], found["parameters"]["l2arc_write_max"]) == ("openzfs-2.2.6", 8 << 20)
    assert [(one["recordsize"], one["arc_bytes"]) for one in found["simulations"]] == [(16384, 1 << 24)]
    said = simulated(trace, "--zfs", "2.3.9", "--set", "l2arc_headroom=0", "--compressratio", "2")
    assert said["platform"] == "openzfs-2.4"
    assert (said["parameters"]["l2arc_headroom"], said["parameters"]["compressratio"]) == (0, 2)
    assert simulated(trace, "--os", "illumos")["platform"] == "illumos"
    none = simulated(trace, "--primarycache", "metadata")["simulations"][0]
    assert (none["arc_hits"], none["misses"]) == (0, 4000)


def test_reads_that_only_warm_up_are_left_out(trace: Path) -> None:
    (found,) = simulated(trace, "--skip", "60s", "--arc", "64M")["simulations"]
    assert (found["references"], found["misses"]) == (2000, 0)
    (twice,) = simulated(trace, "--passes", "2", "--arc", "64M")["simulations"]
    assert (twice["references"], twice["misses"]) == (4000, 0)
    (again,) = simulated(trace, "--passes", "2", "--restarts", "--arc", "64M")["simulations"]
    assert again["misses"] >= 1900


def test_the_table_and_the_lines_say_the_same(trace: Path) -> None:
    table = zmysql("locality", "simulate", trace, "--arc", "16M", "--l2arc", "1G")
    assert (table.exit_status, table.stderr) == (0, "")
    (found,) = simulated(trace, "--arc", "16M", "--l2arc", "1G")["simulations"]
    row = table.stdout.splitlines()[-1].split()
    assert row[:3] == ["16K", "16M", "1G"]
    assert f"{100 * found['arc_hits'] / 4000:.2f}" in row
    lines = zmysql("locality", "simulate", trace, "--arc", "16M", "--l2arc", "1G", "-H").stdout.splitlines()
    values = ["-" if value is None else str(value) for value in found.values()]
    assert lines == ["\t".join(values)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--arc", "0"), "an ARC of 0 bytes can't be simulated: say a size such as 4G"),
        (("--arc", "8E"), "sizes go up to 4E"),
        (("--l2arc", "1E,8E"), "sizes go up to 4E"),
        (("--arc", "1G,1G"), "--arc 1G,1G names a size twice"),
        (("--arc", "much"), "'much' is no size"),
        (("--recordsize", "20K"), "a recordsize of 20480 bytes can't be"),
        (("--recordsize", "8K"), "the records were read in blocks of 16K"),
        (("--set", "l2arc_write_mx=1"), "there is no such parameter, did you mean l2arc_write_max?"),
        (("--set", "zfs_multilist_num_sublists=9999999999"), "from 1 to 1024"),
        (("--sample", "0"), "Invalid value for '--sample'"),
        (("--arc", ",".join(map(str, range(1, 200))), "--l2arc", ",".join(map(str, range(100)))), "are too many"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_line(trace: Path, options: tuple[str, ...], said: str) -> None:
    assert said in refusal("locality", "simulate", trace, *options)


def test_without_any_size_it_asks_for_one(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(gzip.compress((header_text(Header(complete=True)) + TWICE[0] + "\n").encode()))
    assert "say sizes to simulate, such as --arc 4G,8G" in refusal("locality", "simulate", path)
    assert simulated(path, "--arc", "1G")["simulations"][0]["recordsize"] is None
    assert "can't be read" in refusal("locality", "simulate", tmp_path / "none", "--arc", "1G")

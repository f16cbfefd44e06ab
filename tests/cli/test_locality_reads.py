"""`zmysql locality recordsize`, `objects` and `working-set`."""

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
    datasets={54: Dataset("tank/mysql/data", 16384)},
    objects={(54, 128): "/data/shop/ord@002ders#p#p0.ibd", (54, 7): "/data/undo_001"},
    arc_bytes=1 << 20,
    l2arc_bytes=3 << 20,
)
# Every page of 128 records of 128K is read once, a page of each in turn; and an undo page now and then.
PAGES = [(at % 128) * 8 + at // 128 for at in range(1024)]
LINES = [f"{at * 1000000} 54 128 0 {page} 16384 miss" for at, page in enumerate(PAGES)]
LINES[::100] = ["99000 54 7 0 3 16384 miss"] * 11


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return trace(tmp_path, RECORDED)


def trace(directory: Path, header: Header) -> Path:
    path = directory / "a.trace"
    path.write_bytes(gzip.compress((header_text(header) + "\n".join(LINES) + "\n").encode()))
    return path


def values(*argv: object) -> dict[str, Any]:
    done = zmysql("locality", *argv, "-j")
    assert (done.exit_status, done.stderr) == (0, ""), done
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    assert found["output_version"]["command"] == f"zmysql locality {argv[0]}"
    return found


def shown(*argv: object) -> str:
    done = zmysql("locality", *argv)
    assert (done.exit_status, done.stderr) == (0, ""), done
    assert max(map(len, done.stdout.splitlines())) <= 80
    return " ".join(done.stdout.split())


def test_recordsize_compares_at_the_recorded_caches(path: Path) -> None:
    found = values("recordsize", path)
    assert (found["cache_bytes"], found["own_recordsize"], found["references"]) == (4 << 20, 16384, 1024)
    rows = {row["recordsize"]: row for row in found["recordsizes"]}
    assert list(rows) == [1 << shift for shift in range(14, 21)]
    assert rows[16384]["disk_reads"] == 1014
    assert rows[131072]["useful_neighbour_ratio"] < 0.01  # 4M holds 32 of the 128 records
    large = {row["recordsize"]: row for row in values("recordsize", path, "--cache", "17M")["recordsizes"]}
    assert large[131072]["disk_reads"] == 129
    assert large[131072]["read_amplification"] == pytest.approx(129 * 8 / 1024)


def test_recordsize_says_what_pays(path: Path) -> None:
    text = shown("recordsize", path, "--cache", "17M")
    assert "An LRU cache of 17M" in text
    assert "128K 12.6 % 129 x 0.13 16.1M x 1.02" in text
    assert "With 1M disks read 59.6 times less often, 1.07 times the bytes; neighbours were there before" in text
    assert "The trace has records of 16K" in text
    assert "times less often" not in shown("recordsize", path, "--cache", "16K")


def test_recordsize_says_what_it_cannot_know(tmp_path: Path) -> None:
    header = Header(complete=True, sampling="1/8", arc_bytes=1 << 20)
    text = shown("recordsize", trace(tmp_path, header))
    assert "32K, 64K, 128K, 256K, 512K, 1M: the trace is a sample of 1/8 of the records" in text


def test_objects_have_names(path: Path) -> None:
    found = values("objects", path, "--curves", "1")
    assert [(one["name"], one["kind"], one["references"]) for one in found["objects"]] == [
        ("shop.ord-ers PARTITION (p0)", "table", 1013),
        ("undo tablespace undo_001", "undo", 11),
    ]
    assert found["objects"][0]["mrc"][-1] == {"cache_bytes": 1013 * 16384, "miss_ratio": 1}
    assert found["objects"][1]["mrc"] == []
    assert found["misses"] == 1014
    text = shown("objects", path)
    assert "1,013 98.9 % 15.8M 100.0 % 99.9 % shop.ord-ers PARTITION (p0)" in text
    assert "indexes share its file" in text


def test_many_objects_are_summed_up(tmp_path: Path) -> None:
    lines = [f"{at} 54 {at // 2} 0 0 16384 miss" for at in range(50)]
    path = tmp_path / "a.trace"
    path.write_bytes(gzip.compress((header_text(Header(complete=True)) + "\n".join(lines) + "\n").encode()))
    assert "10 20.0 % 80K 50.0 % 20.0 % in 5 others" in shown("objects", path, "--cache", "1G")


def test_names_in_a_trace_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    done = zmysql(
        "locality", "objects", trace(tmp_path, Header(complete=True, arc_bytes=1, objects={(54, 128): "\x1b[2J"}))
    )
    assert "\x1b" not in done.stdout
    assert r"\x1b[2J" in done.stdout


def test_the_working_set_grows_with_the_window(path: Path) -> None:
    found = values("working-set", path)
    assert found["working_set"]["window_ns"] == 20_000_000
    assert sum(window["references"] for window in found["working_set"]["windows"]) == 1024
    means = [point["mean_bytes"] for point in found["curve"]]
    assert means == sorted(means)
    assert means[-1] == 1014 * 16384
    assert found["inter_reference"][0]["references"] == 10
    assert values("working-set", path, "--window", "1s")["working_set"]["window_ns"] == 10**9
    text = shown("working-set", path)
    assert "100 ms 1.6M" in text
    assert "52 windows of 20 ms: 48K to 336K in each" in text
    assert "67.1 ms 10 ██████" in text


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("recordsize", "--cache", "0"), "a cache of 0 bytes holds nothing"),
        (("recordsize", "--cache", "much"), "'much' is no size"),
        (("working-set", "--window", "0s"), "is no duration"),
        (("objects", "--curves", "-1"), "--curves"),
    ],
)
def test_options_that_cannot_be(path: Path, argv: tuple[str, ...], said: str) -> None:
    assert said in refusal("locality", argv[0], path, *argv[1:])


@pytest.mark.parametrize("command", ["recordsize", "objects"])
def test_a_trace_without_caches_needs_a_size(tmp_path: Path, command: str) -> None:
    assert "say --cache SIZE" in refusal("locality", command, trace(tmp_path, Header(complete=True)))


@pytest.mark.parametrize("command", ["recordsize", "objects", "working-set"])
def test_a_trace_that_cannot_be_read_is_one_line(tmp_path: Path, command: str) -> None:
    path = trace(tmp_path, Header(complete=True, records=5, arc_bytes=1))
    assert f"{path} holds 1024 records where its header says 5" in refusal("locality", command, path)

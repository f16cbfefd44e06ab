"""`zmysql locality report`."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from running import refusal, zmysql

from zmysql.trace.format import CLASSES, Dataset, Header, header_text

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = Header(
    complete=True,
    os="Debian GNU/Linux 13",
    zfs="2.3.9",
    mysql="9.7.0",
    started="2026-11-20T07:00:00Z",
    duration_ns=60_000_000_000,
    drops=0,
    datasets={54: Dataset("tank/mysql/data", 16384)},
    objects={(54, 128): "/tank/mysql/data/sbtest/[red]sbtest1.ibd"},
    host="db1",
    arc_bytes=1 << 20,
    l2arc_bytes=1 << 23,
)
# 400 records of 16K, each read five times in the same order: an LRU cache of 6.25M holds them all, a smaller one none.
LOOP = [f"{at} 54 128 0 {at % 400} 16384 {'arc' if at % 2 else 'miss'}" for at in range(2000)]


def trace(path: Path, lines: list[str], header: Header = RECORDED) -> Path:
    path.write_bytes(gzip.compress((header_text(header) + "\n".join(lines) + "\n").encode()))
    return path


def report(*argv: object) -> dict[str, Any]:
    done = zmysql("locality", "report", "-j", *argv)
    assert done.exit_status == 0, done
    assert done.stderr == "", done
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_json_has_the_promised_keys(tmp_path: Path) -> None:
    found = report(trace(tmp_path / "a.trace", LOOP))
    assert found["output_version"] == {"command": "zmysql locality report", "vers_major": 0, "vers_minor": 1}
    assert (found["references"], found["distinct_blocks"], found["distinct_bytes"]) == (2000, 400, 400 * 16384)
    assert (found["blocks_read_once"], found["blocks_read_more_than_once"]) == (0, 400)
    assert found["blocks_read_more_than_twice"] == 400
    assert found["classes"] == {name: 1000 if name in ("arc", "miss") else 0 for name in CLASSES}
    assert found["mrc"][0] == {"cache_bytes": 0, "miss_ratio": 1.0}
    assert found["mrc"][-1] == {"cache_bytes": 400 * 16384, "miss_ratio": 0.2}
    assert (found["arc_bytes"], found["l2arc_bytes"], found["assumed"]) == (1 << 20, 1 << 23, [])
    assert (found["arc_hit_ratio"], found["l2arc_hit_ratio"]) == (0, 0.8)
    assert found["speedup"] == pytest.approx(35 / (35 * 0.2 + 0.8))
    assert found["l2arc_header_bytes"] == 400 * 96
    assert set(found["verdict"]) == {"choice", "reasons"}
    assert found["verdict"]["choice"] == "l2arc"
    # From 400 records less the ARC on; the curve's points are an eighth of a doubling apart.
    assert 400 * 16384 - (1 << 20) <= found["l2arc_pays_from_bytes"] <= 400 * 16384 * 9 / 8 - (1 << 20)


def test_sizes_and_latencies_change_the_verdict(tmp_path: Path) -> None:
    path = trace(tmp_path / "a.trace", LOOP)
    assert report(path, "--arc", "8M")["verdict"]["choice"] == "leave-it"
    assert report(path, "--arc", "4M")["verdict"]["choice"] == "more-ram"
    assert report(path, "--l2arc", "1M")["verdict"]["choice"] == "leave-it"
    assert report(path, "--latency-ratio", "1.1")["verdict"]["choice"] == "leave-it"
    assert report(path, "--disk-latency", "10ms", "--ssd-latency", "0.1ms")["latency_ratio"] == pytest.approx(100)
    assert report(path, "--arc", "100E", "--l2arc", "100E")["arc_hit_ratio"] == 0.8


def test_a_short_trace_is_too_short(tmp_path: Path) -> None:
    found = report(trace(tmp_path / "a.trace", LOOP[:420]))
    assert found["verdict"]["choice"] == "record-longer"
    assert any("First reads are 95.2 % of the references" in warning for warning in found["warnings"])


def test_assumptions_are_said(tmp_path: Path) -> None:
    found = report(trace(tmp_path / "a.trace", LOOP, Header(complete=True)))
    assert found["assumed"] == ["ARC", "L2ARC"]
    assert (found["arc_bytes"], found["l2arc_bytes"]) == (4 << 30, 32 << 30)
    assert any("an ARC of 4G and an L2ARC of 32G is assumed" in warning for warning in found["warnings"])


def test_drops_sampling_and_disorder_are_said(tmp_path: Path) -> None:
    header = Header(complete=True, drops=200, sampling="1/10", arc_bytes=1 << 20)
    found = report(trace(tmp_path / "a.trace", LOOP[::-1], header))
    warnings = found["warnings"]
    assert found["out_of_order"] == 1999
    assert any(warning.startswith("200 records (9.09 %) were dropped") and "trust" in warning for warning in warnings)
    assert any("a sample of 1/10 of the blocks" in warning for warning in warnings)
    assert any(warning.startswith("1999 records are out of the order") for warning in warnings)


def test_a_trace_that_names_no_sampling_is_judged_with_a_warning(tmp_path: Path) -> None:
    path = trace(tmp_path / "a.trace", LOOP)
    text = gzip.decompress(path.read_bytes()).decode()
    path.write_bytes(gzip.compress(text.replace('# sampling: "1/1"\n', "").encode()))
    found = report(path)
    assert any(warning.startswith("The trace doesn't name its sampling") for warning in found["warnings"])
    assert any("a sample of them isn't known" in reason for reason in found["confidence"]["reasons"])


def test_a_recording_that_was_cut_off_is_judged_with_a_warning(tmp_path: Path) -> None:
    path = trace(tmp_path / "a.trace", LOOP, Header(complete=False))
    path.write_bytes(path.read_bytes()[:-40])
    done = zmysql("locality", "report", "-j", path)
    assert done.exit_status == 0
    kept = json.loads(done.stdout)["references"]
    assert 1000 < kept < 2000
    assert (
        done.stderr == f"zmysql: {path}: The recording was cut off: {kept} records were kept, and drops are unknown.\n"
    )


def test_the_terminal_report_says_it_in_words(tmp_path: Path) -> None:
    done = zmysql("locality", "report", trace(tmp_path / "a.trace", LOOP))
    assert done.exit_status == 0
    assert done.stderr == ""
    for words in (
        "db1, Debian GNU/Linux 13, ZFS 2.3.9, MySQL 9.7.0",
        "60.0 s from 2026-11-20T07:00:00Z",
        "tank/mysql/data (16K records)",
        "Suresh 2009: 0.2 %",
        "/tank/mysql/data/sbtest/[red]sbtest1.ibd",
        "← ARC + L2ARC",
        "Verdict: L2ARC pays",
        "x = r / (r(1 - h) + h)",
    ):
        assert words in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_names_in_a_trace_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    header = Header(complete=True, host="\x1b[2J", objects={(54, 128): "/a\x07\ud800b"})
    done = zmysql("locality", "report", trace(tmp_path / "a.trace", LOOP, header))
    assert done.exit_status == 0
    assert "\x1b[2J" not in done.stdout
    assert "\\x1b[2J" in done.stdout
    assert "/a\\x07\\ud800b" in done.stdout


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--arc", "0"), "of 0 bytes"),
        (("--l2arc", "much"), "'much' is no size"),
        (("--disk-latency", "0ms"), "is no duration"),
        (("--disk-latency", "0.1ms"), "a latency ratio of 0.5"),
        (("--latency-ratio", "nan"), "a latency ratio of nan"),
        (("--latency-ratio", "inf"), "a latency ratio of inf"),
        (("--latency-ratio", "9", "--ssd-latency", "1ms"), "the same thing twice"),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, argv: tuple[str, ...], said: str) -> None:
    assert said in refusal("locality", "report", trace(tmp_path / "a.trace", LOOP), *argv)


def test_files_that_cannot_be(tmp_path: Path) -> None:
    assert "No such file or directory" in refusal("locality", "report", tmp_path / "missing")
    assert "Is a directory" in refusal("locality", "report", tmp_path)
    path = trace(tmp_path / "a.trace", LOOP, Header(complete=True, records=2001))
    assert f"{path} holds 2000 records where its header says 2001" in refusal("locality", "report", path)

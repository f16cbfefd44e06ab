"""`zmysql locality report --sample`: against the report on all of the trace."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from running import refusal, zmysql

from zmysql.trace.format import Dataset, Header, header_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = json.loads((files("zmysql.report") / "locality.schema.json").read_text(encoding="utf-8"))
READS, BLOCKS, SPAN_NS = 400_000, 110_000, 300 * 10**9
HEADER = Header(
    complete=True,
    zfs="2.3.9",
    drops=4_000,
    datasets={54: Dataset("tank/mysql/data", 16384)},
    objects={(54, 128): "/data/shop/orders.ibd", (54, 129): "/data/shop/archive.ibd", (54, 2): "/data/ibdata1"},
    arc_bytes=256 << 20,
    l2arc_bytes=1 << 30,
)


def lines() -> Iterator[str]:
    """Read a table with a skew and another evenly, a file of seven blocks very often, and a hole now and then."""
    chosen = random.Random(13)  # noqa: S311 - reads, not secrets
    for at in range(READS):
        kind = chosen.random()
        if kind < 0.1:
            where = f"2 0 {chosen.randrange(7)} 16384 dbuf"
        elif kind < 0.6:
            where = f"128 0 {int(BLOCKS * chosen.random() ** 3)} 16384 {'arc' if at % 3 else 'miss'}"
        else:
            where = f"129 0 {chosen.randrange(BLOCKS)} 16384 {'miss' if at % 50 else 'hole'}"
        yield f"{at * (SPAN_NS // READS)} 54 {where}\n"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traces") / "a.trace"
    path.write_bytes(gzip.compress((header_text(HEADER) + "".join(lines())).encode(), compresslevel=1))
    return path


@pytest.fixture(scope="module")
def exact(trace: Path) -> dict[str, Any]:
    return report(trace)


@pytest.fixture(scope="module")
def sampled(trace: Path) -> dict[str, Any]:
    return report(trace, "--sample", "1/12")


def report(*argv: object) -> dict[str, Any]:
    done = zmysql("locality", "report", "-j", *argv)
    assert (done.exit_status, done.stderr) == (0, ""), done
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert isinstance(found, dict)
    return found


def test_ratios_are_within_the_error_that_is_stated(exact: dict[str, Any], sampled: dict[str, Any]) -> None:
    assert exact["distinct_blocks"] > 100_000
    assert exact["sample"] is None
    error = sampled["sample"]["error"]
    assert 0.001 < error < 0.02
    for ratio in ("arc_hit_ratio", "arc_and_l2arc_hit_ratio"):
        assert abs(sampled[ratio] - exact[ratio]) <= 3 * error
    assert abs(first_reads(sampled) - first_reads(exact)) <= 3 * error
    by_case = {(one["arc_bytes"], one["l2arc_bytes"], one["recordsize"]): one for one in exact["candidates"]}
    assert len(sampled["candidates"]) > 5
    for one in sampled["candidates"]:
        assert one["simulated"]
        alike = by_case[one["arc_bytes"], one["l2arc_bytes"], one["recordsize"]]
        assert abs(one["arc_hit_ratio"] - alike["arc_hit_ratio"]) <= 3 * error
        if one["choice"] == "l2arc":
            assert one["ssd_written_bytes_per_day"] == pytest.approx(alike["ssd_written_bytes_per_day"], rel=0.3)
    assert sampled["verdict"]["choice"] == exact["verdict"]["choice"]


def first_reads(found: dict[str, Any]) -> float:
    return float(found["first_reads"] / found["references"])


def test_all_counts_are_the_same_share_of_the_whole(exact: dict[str, Any], sampled: dict[str, Any]) -> None:
    sample, references = sampled["sample"], sampled["references"]
    assert (sample["kept"], sampled["sampling"], sample["records"]) == ("1/12", "1/12", READS)
    assert references == READS // 12 != sample["kept_records"]
    assert sample["distinct_blocks"] == sampled["distinct_blocks"]
    for name, count in exact["classes"].items():
        assert abs(sampled["classes"][name] - count / 12) <= 1
    for key in ("objects", "files"):
        counts = {(one["objset"], one["object"]): one["references"] for one in exact[key]}
        assert {(one["objset"], one["object"]) for one in sampled[key]} == set(counts)
        for one in sampled[key]:
            assert abs(one["references"] - counts[one["objset"], one["object"]] / 12) <= 1
    assert sum(sampled["classes"].values()) == references
    assert sum(one["references"] for one in sampled["working_set"]["windows"]) == references
    again = sum(one["references"] for one in sampled["reuse_distances"])
    assert again == sum(one["references"] for one in sampled["inter_reference"]) == references - sampled["first_reads"]
    for one in sampled["simulations"]:
        assert one["references"] == references - sampled["classes"]["hole"]
    assert sampled["span_ns"] == exact["span_ns"]


def test_sizes_are_those_of_the_whole(exact: dict[str, Any], sampled: dict[str, Any]) -> None:
    assert sampled["flat_bytes"] == pytest.approx(exact["flat_bytes"], rel=0.05)
    assert sampled["distinct_bytes"] * 12 == pytest.approx(exact["distinct_bytes"], rel=0.05)
    largest = [max(one["distinct_bytes"] for one in found["working_set"]["windows"]) for found in (exact, sampled)]
    assert largest[1] == pytest.approx(largest[0], rel=0.1)


def test_it_is_said_how_much_was_looked_at(sampled: dict[str, Any]) -> None:
    blocks, error = sampled["distinct_blocks"], sampled["sample"]["error"]
    said = next(warning for warning in sampled["warnings"] if "--sample" in warning)
    assert said.startswith(
        f"As --sample asks, 1/12 of the blocks were analysed, {blocks:,} records of a trace with 400,000"
    )
    assert f"a standard error of {100 * error:.2g} % at most" in said
    doubts = sampled["confidence"]["reasons"]
    assert any(
        f"a sample, of {blocks:,} distinct records; miss ratios are off by about {100 * error:.1f} %" in one
        for one in doubts
    )
    # Drops are those of the file, and their share is of its records.
    assert (sampled["drops"], sampled["warnings"][0].partition(":")[0]) == (
        4000,
        "4000 records (0.99 %) were dropped while recording",
    )
    assert any(one.startswith("1.0 % of the records were dropped") for one in doubts)


def test_a_recorded_sample_can_be_sampled_again(trace: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.trace"
    text = header_text(replace(HEADER, sampling="1/10")) + "".join(lines())
    part.write_bytes(gzip.compress(text.encode(), compresslevel=1))
    found = report(part, "--arc", "2560M", "--l2arc", "10G", "--sample", "1/12")
    assert (found["sampling"], found["sample"]["kept"]) == ("1/120", "1/12")
    assert any("1/12 of the trace's blocks, which are 1/10 of all, were analysed" in one for one in found["warnings"])
    alike = report(trace, "--l2arc", "1G", "--sample", "1/12")
    assert found["arc_hit_ratio"] == alike["arc_hit_ratio"]
    assert found["sample"]["error"] >= alike["sample"]["error"]


def test_a_database_of_just_what_was_read_is_not_refused_for_an_estimate(trace: Path, exact: dict[str, Any]) -> None:
    read = exact["distinct_bytes"]
    estimates = []
    for one_in in (2, 4, 12):
        found = report(trace, "--db-size", read, "--sample", f"1/{one_in}")
        assert found["db_bytes"] == read
        estimates.append(found["distinct_bytes"] * one_in)
    assert min(estimates) < read < max(estimates)
    assert "were read, so it is larger" in refusal(
        "locality", "report", trace, "--db-size", read // 2, "--sample", "1/12"
    )


def test_where_the_sample_would_be_everything_the_figures_are_exact(trace: Path, exact: dict[str, Any]) -> None:
    done = zmysql("locality", "report", "-j", trace, "--sample", "1")
    assert done.exit_status == 0
    assert done.stderr == f"zmysql: {trace}: --sample would take all of its blocks, so that the figures are exact\n"
    assert json.loads(done.stdout) == exact


@pytest.mark.parametrize("sample", ["0", "101%", "few", "-1", "9"])
def test_what_is_no_sample_is_refused(trace: Path, sample: str) -> None:
    done = zmysql("locality", "report", trace, "--sample", sample)
    assert (done.exit_status, done.stdout) == (2, "")
    assert done.stderr.startswith(f"zmysql: '{sample}' is no sample: write auto, a share of the blocks")


def test_a_sample_of_a_trace_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(gzip.compress((header_text(Header(complete=True, records=5)) + "1 2 3 0 4 512 -\n").encode()))
    said = refusal("locality", "report", path, "--sample", "auto")
    assert f"{path} holds 1 records where its header says 5" in said

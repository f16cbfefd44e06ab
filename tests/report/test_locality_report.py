"""The locality report of synthetic loads: golden texts, and JSON that keeps to its schema.

After a change that is meant, `PYTHONPATH=tests python tests/report/test_locality_report.py` writes the texts anew; read
the diff.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from loads import LOADS, write
from running import zmysql

from zmysql.trace.format import Header, header_text

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = json.loads((files("zmysql.report") / "locality.schema.json").read_text(encoding="utf-8"))
CHOICES = {
    "fits": "leave-it",
    "l2arc": "l2arc",
    "drops": "l2arc",
    "memory": "more-ram",
    "short": "record-longer",
    "neighbours": "record-longer",
    "tables": "special-vdev",
    "database": "full-ssd",
    "sampled": "l2arc",
    "share": "more-ram",
    "imported": "l2arc",
}


def report(path: Path, *options: str) -> str:
    """Give the report without its title, which has the path, and without blanks at the ends of lines."""
    done = zmysql("locality", "report", path, *options)
    assert done.exit_status == 0, done
    assert max(map(len, done.stdout.splitlines())) <= 80
    return "".join(line.rstrip() + "\n" for line in done.stdout.partition("\n\n")[2].splitlines())


def as_json(path: Path, *options: str) -> dict[str, Any]:
    done = zmysql("locality", "report", "-j", path, *options)
    assert done.exit_status == 0, done
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", LOADS)
def test_the_text_is_as_it_was(tmp_path: Path, name: str) -> None:
    load = LOADS[name]
    text = report(write(load, tmp_path / f"{name}.trace.gz"), *load.options)
    assert text == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LOADS)
def test_the_json_keeps_to_its_schema_and_to_the_verdict(tmp_path: Path, name: str) -> None:
    load = LOADS[name]
    found = as_json(write(load, tmp_path / "a.trace"), *load.options)
    assert found["verdict"]["choice"] == CHOICES[name]
    chosen = [one for one in found["candidates"] if one["chosen"]]
    bought = found["verdict"]["choice"] not in {"leave-it", "record-longer"}
    assert [one["choice"] for one in chosen] == ([found["verdict"]["choice"]] if bought else [])
    assert found["candidates"][0]["choice"] == "leave-it"
    assert all(one["simulated"] for one in found["candidates"])
    assert {(one["recordsize"], one["arc_bytes"], one["l2arc_bytes"]) for one in found["candidates"]} <= {
        (one["recordsize"], one["arc_bytes"], one["l2arc_bytes"]) for one in found["simulations"]
    }
    assert sum(one["references"] for one in found["objects"]) == found["references"]
    assert sum(one["references"] for one in found["working_set"]["windows"]) == found["references"]


def test_the_schema_is_one_that_can_be_checked_by() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    names = re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(SCHEMA))
    assert set(names) == set(SCHEMA["$defs"])


def test_prefetches_and_writes_change_no_figure_and_direct_reads_are_told_of(tmp_path: Path) -> None:
    blocks = [(at * 7919) % 97 for at in range(600)]
    lines = [
        f"{at * 1_000_000} 54 128 0 {block} 16384 {'direct' if at % 5 == 0 else 'miss'}"
        for at, block in enumerate(blocks)
    ]
    others = [f"{at * 1_000_000} 54 {128 + at % 2} 0 {at} 16384 {('prefetch', 'write')[at % 2]}" for at in range(600)]
    both = [line for pair in zip(lines, others, strict=True) for line in pair]
    plain, mixed = (
        as_json(_trace(tmp_path / name, some), "--arc", "1M", "--l2arc", "1M")
        for name, some in (("plain", lines), ("mixed", both))
    )
    assert (mixed["classes"]["direct"], mixed["classes"]["prefetch"], mixed["classes"]["write"]) == (120, 300, 300)
    said = "120 reads (20.0 %) were Direct I/O, which passes by the ARC, so that no L2ARC ever has them"
    assert [said in warning for warning in mixed["warnings"]].count(True) == 1
    for found in (plain, mixed):
        del found["classes"], found["file"]
    assert mixed == plain


def _trace(path: Path, lines: list[str]) -> Path:
    header = Header(complete=True, os="Debian", zfs="2.3.9", drops=0, records=len(lines))
    path.write_bytes(gzip.compress((header_text(header) + "\n".join(lines) + "\n").encode()))
    return path


def test_many_drops_are_said_to_spoil_the_verdict(tmp_path: Path) -> None:
    load = LOADS["drops"]
    found = as_json(write(load, tmp_path / "a.trace"), *load.options)
    said = "6000 records (9.09 %) were dropped while recording: don't trust the figures, and not the verdict."
    assert said in found["warnings"]
    assert found["confidence"]["level"] == "low"
    assert "9.1 % of the records were dropped: this verdict can't be trusted." in found["confidence"]["reasons"]


def test_larger_records_are_seen_to_fill_caches_sooner(tmp_path: Path) -> None:
    """Suresh (2009) read at random from a database that his caches hadn't seen, and 128K beat 16K."""
    load = LOADS["neighbours"]
    found = as_json(write(load, tmp_path / "a.trace"), *load.options)
    by_size = {one["recordsize"]: one for one in found["recordsizes"]}
    assert by_size[16384]["miss_ratio"] == 1
    assert by_size[131072]["miss_ratio"] < 0.2
    with_128k = next(one for one in found["candidates"] if one["choice"] == "l2arc" and one["recordsize"] == 131072)
    assert with_128k["times_as_fast"] > 4
    assert found["formula"]["x"] == 1  # what the formula sees


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for called, one in LOADS.items():
            path = write(one, Path(folder) / f"{called}.trace.gz")
            (GOLDEN / f"{called}.txt").write_text(report(path, *one.options), encoding="utf-8")

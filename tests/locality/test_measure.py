"""fio's command and its JSON, of which `fio/` holds what Debian 12's fio said of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zmysql.errors import ZmysqlError
from zmysql.locality.catalogue import load_catalogue
from zmysql.locality.devices import Media, ReadLatency
from zmysql.locality.measure import Measured, as_toml, device_names, fio_argv, parse_fio

CAPTURE = (Path(__file__).parent / "fio/debian12-fio3.33.json").read_text(encoding="utf-8")
FOUND = parse_fio("/srv/file", CAPTURE)


def test_the_capture() -> None:
    said = {job["jobname"]: job["read"] for job in json.loads(CAPTURE)["jobs"]}
    assert (FOUND.path, FOUND.fio, FOUND.year) == ("/srv/file", "fio-3.33", 2026)
    assert FOUND.mean_ns == said["qd1"]["lat_ns"]["mean"]
    assert FOUND.p99_ns == said["qd1"]["clat_ns"]["percentile"]["99.000000"]
    assert FOUND.iops == said["qd32"]["iops"]
    assert FOUND.bandwidth_bytes_per_second == said["qd32"]["bw_bytes"]
    assert FOUND.bandwidth_bytes_per_second == pytest.approx(FOUND.iops * 16384, rel=0.01)
    assert said["qd1"]["iops"] < FOUND.iops


def test_fio_is_told_to_read_only() -> None:
    argv = fio_argv("/dev/disk/by-path/pci-0:1", 2.5)
    assert argv[:2] == ["fio", "--readonly"]
    assert {"--rw=randread", "--bs=16k", "--direct=1", "--allow_file_create=0", "--runtime=2500ms"} <= set(argv)
    assert r"--filename=/dev/disk/by-path/pci-0\:1" in argv  # a bare colon would name two files
    assert argv.index("--name=qd1") < argv.index("--name=qd32") < argv.index("--numjobs=32")


def test_a_warning_in_front_is_no_matter() -> None:
    assert parse_fio("/srv/file", "fio: this platform does not support process shared mutexes\n" + CAPTURE) == FOUND


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"jobs": 3}', CAPTURE.replace("qd32", "qd3"), CAPTURE[:-9]])
def test_what_is_no_such_json_is_refused(text: str) -> None:
    with pytest.raises(ZmysqlError, match="/srv/file isn't its JSON"):
        parse_fio("/srv/file", text)


def test_a_run_that_read_nothing_is_no_measurement() -> None:
    content = json.loads(CAPTURE)
    content["jobs"][0]["read"]["total_ios"] = 0
    with pytest.raises(ZmysqlError, match="fio read nothing of /srv/file"):
        parse_fio("/srv/file", json.dumps(content))


def test_the_model_can_be_used_as_prices(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(as_toml(FOUND, "file"), encoding="utf-8")
    found = load_catalogue(path).devices["file"]
    assert found.media is Media.SSD
    assert found.latency.mean_ns == pytest.approx(FOUND.mean_ns, rel=1e-5)
    assert found.iops == pytest.approx(FOUND.iops, rel=1e-5)
    assert found.price_per_gb is None
    assert found.sources["latency_us"].text.startswith("measured by fio-3.33")


def test_what_answers_slowly_rotates_unless_the_system_says_otherwise(tmp_path: Path) -> None:
    slow = Measured("/dev/sd\x1ba", "fio-3.33", 2026, 5e6, 9e6, 180.0, 3e6, capacity_bytes=600 * 10**9)
    path = tmp_path / "mine.toml"
    path.write_text(as_toml(slow, "sda"), encoding="utf-8")
    found = load_catalogue(path).devices["sda"]
    assert found.media is Media.HDD
    assert found.latency == ReadLatency(5e6, 9e6)
    assert found.capacity_bytes == 600 * 10**9
    assert "\x1b" not in found.description


def test_each_name_is_another_one() -> None:
    assert device_names(["/dev/sda", "/x/SDA", "/a b.c", "/ö"]) == ["sda", "sda-2", "a-b-c", "measured"]

"""`zmysql devices --measure`, with the real fio."""

from __future__ import annotations

import json
import shutil
import tomllib
from typing import TYPE_CHECKING

import pytest
from running import refusal, zmysql

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a:file"
    path.write_bytes(bytes(range(256)) * (16 << 10))
    return path


def test_a_file_is_measured_and_not_changed(file: Path) -> None:
    before = file.read_bytes()
    done = zmysql("devices", "--measure", "--duration", "200ms", file)
    assert done.exit_status == 0, done
    assert done.stderr == f"zmysql: measuring {file}, 0.4 s\n"
    found = tomllib.loads(done.stdout)["devices"]["a-file"]
    assert found["latency_us"]["value"] > 0
    assert found["iops"]["value"] > 0
    assert "price_per_gb" not in found
    as_json = json.loads(zmysql("devices", "--measure", "-j", "--duration", "200ms", file, file).stdout)
    assert [one["name"] for one in as_json["measured"]] == ["a-file", "a-file-2"]
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_host_without_fio_is_told_what_is_missing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("uname", "test", "sh", "cat", "lsblk", "udevadm", "readlink", "ls", "zpool"):
        if found := shutil.which(name):
            (bare / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(bare))
    done = zmysql("devices", "--measure", file)
    assert done.exit_status == 1
    said = done.stderr.splitlines()[-1]
    assert said == "zmysql: this machine has no fio, which measures: install the package fio there"


def test_what_cannot_be_measured(tmp_path: Path) -> None:
    for path, said in ((tmp_path, "is a directory"), (tmp_path / "no", "isn't there")):
        done = zmysql("devices", "--measure", path)
        assert done.exit_status == 1
        assert said in done.stderr.splitlines()[-1]
        assert not (tmp_path / "no").exists()
    assert "there is no disk nowhere" in refusal("devices", "--measure", "nowhere")
    assert "drop -H" in refusal("devices", "--measure", "-H")
    assert "add --measure" in refusal("devices", "sda")

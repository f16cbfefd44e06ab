"""What `zmysql trace record` refuses before it looks at the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from running import refusal

if TYPE_CHECKING:
    from pathlib import Path


def test_a_duration_that_is_none(tmp_path: Path) -> None:
    assert "'0' is no duration" in refusal("trace", "record", "-o", tmp_path / "a.trace", "--duration", "0")
    assert not (tmp_path / "a.trace").exists()


def test_no_file_is_named() -> None:
    assert "'--output'" in refusal("trace", "record")


def test_a_pid_that_is_none(tmp_path: Path) -> None:
    assert "--pid" in refusal("trace", "record", "-o", tmp_path / "a.trace", "--pid", "0")


def test_a_sampling_rate_that_is_none(tmp_path: Path) -> None:
    assert "'64' is no sampling rate" in refusal("trace", "record", "-o", tmp_path / "a.trace", "--sample", "64")
    assert not (tmp_path / "a.trace").exists()

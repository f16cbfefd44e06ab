"""Processes are found by the mark in their environment, and only those."""

import os
import time
from pathlib import Path

import pytest

from zmysql.host import Local
from zmysql.testbed import processes


def test_the_owned_are_ended_and_others_live(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    pids = [
        Local().start_detached(["sleep", "60"], folder / "log", env={processes.MARK: str(folder)})
        for folder in (mine, mine, other)
    ]
    # A program that has only just started shows no environment for a moment.
    while not all(processes.MARK.encode() in Path(f"/proc/{pid}/environ").read_bytes() for pid in pids):
        time.sleep(0.01)
    try:
        assert {pid for pid, _ in processes.owned(mine)} == set(pids[:2])
        processes.end(mine)
        assert list(processes.owned(mine)) == []
        assert [pid for pid, _ in processes.owned(other)] == [pids[2]]
    finally:
        processes.end(other)
        for pid in pids:
            os.waitpid(pid, 0)


def test_what_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stubborn = ["sh", "-c", "trap '' TERM; touch ready; while :; do sleep 0.1; done"]
    pid = Local().start_detached(stubborn, tmp_path / "log", env={processes.MARK: str(tmp_path)})
    while not (tmp_path / "ready").exists():
        time.sleep(0.01)
    monkeypatch.setattr(processes, "PATIENCE_S", 1.0)
    processes.end(tmp_path)
    assert os.waitpid(pid, 0)[1] & 0x7F == 9


def test_only_those_of_the_named_commands_are_killed(tmp_path: Path) -> None:
    owned = {processes.MARK: str(tmp_path)}
    asleep, awake = (
        Local().start_detached(argv, tmp_path / "log", env=owned)
        for argv in (["sleep", "60"], ["tail", "-f", "/dev/null"])
    )
    try:
        while {name for _, name in processes.owned(tmp_path)} != {"sleep", "tail"}:
            time.sleep(0.01)
        processes.kill(tmp_path, ("slee", "qemu"))
        assert [pid for pid, _ in processes.owned(tmp_path)] == [awake]
        assert os.waitpid(asleep, 0)[1] & 0x7F == 9
    finally:
        processes.end(tmp_path)
        os.waitpid(awake, 0)

"""The size of the redo log, from what a server wrote; the servers themselves are asked in the guest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zmysql.mysql.redo import LEAST_BYTES, MOST_BYTES, Measured, State, recovery_rate, size_redo

MIB, GIB = 1 << 20, 1 << 30
# 1000 dirty pages for 16M of log, 200 pages a second: 5 s to find them, and a sixth of a second to read the log.
STATE = State("9.7.4-2", 0, 1000, 100 * MIB, 16 * MIB, 1000, 8192, 200)


def measured(*minutes: float, version: str = "9.7.4-2") -> Measured:
    return Measured(tuple(minute * MIB for minute in minutes), replace(STATE, version=version))


def test_bianchis_server_needs_its_hour() -> None:
    # "961.8MB" an hour, 16.03 a minute, and he gave it two files of 1024M.
    advice = size_redo(measured(16.03), None)
    assert advice.hour_bytes == pytest.approx(961.8 * MIB, rel=1e-3)
    assert advice.redo_bytes == GIB


def test_the_busiest_minute_counts() -> None:
    assert size_redo(measured(1, 40, 3), None).redo_bytes == 2432 * MIB


def test_recovery_may_ask_for_less() -> None:
    rate = recovery_rate(STATE)
    assert rate is not None
    assert rate * 16 * MIB == pytest.approx(5.16)
    advice = size_redo(measured(100), 300)
    assert advice.redo_bytes == 896 * MIB
    assert advice.recovery_s is not None
    assert advice.recovery_s <= 300 < advice.recovery_s + rate * 64 * MIB
    assert advice.recovery_now_s == pytest.approx(32.25)
    assert "Recovery may take 300 s, and applies 896M in it." in advice.why


def test_recovery_that_is_quick_enough_changes_nothing() -> None:
    assert size_redo(measured(10), 3600) == size_redo(measured(10), None)


@pytest.mark.parametrize("state", [replace(STATE, age_bytes=0), replace(STATE, dirty_pages=0)])
def test_a_server_at_rest_tells_nothing_of_recovery(state: State) -> None:
    advice = size_redo(Measured((MIB * 10.0,), state), 1)
    assert (advice.recovery_s, advice.redo_bytes) == (None, 640 * MIB)


@given(minutes=st.lists(st.floats(0, 1e6), min_size=1), recovery_s=st.none() | st.floats(0.001, 1e6))
def test_sizes_are_within_the_servers_limits(minutes: list[float], recovery_s: float | None) -> None:
    advice = size_redo(measured(*minutes), recovery_s)
    assert LEAST_BYTES <= advice.redo_bytes <= MOST_BYTES
    assert advice.redo_bytes % (64 * MIB) == 0


@pytest.mark.parametrize(
    ("version", "settings", "online"),
    [
        ("9.7.4-2", {"innodb_redo_log_capacity": "640M"}, "SET PERSIST innodb_redo_log_capacity = 671088640"),
        ("8.0.29", {"innodb_log_file_size": "320M"}, None),
        ("5.7.44-log", {"innodb_log_file_size": "320M"}, None),
        ("10.11.19-MariaDB-log", {"innodb_log_file_size": "640M"}, "SET GLOBAL innodb_log_file_size = 671088640"),
    ],
)
def test_each_server_has_its_own_variable(version: str, settings: dict[str, str], online: str | None) -> None:
    advice = size_redo(measured(10, version=version), None)
    assert {setting.variable: setting.value for setting in advice.settings} == settings
    assert advice.online == online

"""What a testbed tells of a guest that crashed."""

from __future__ import annotations

from pathlib import Path

from zmysql.testbed.vm import CONSOLE_LINES, console_end

CONSOLE = (Path(__file__).parents[1] / "machines" / "debian13-crash" / "console.log").read_text()


def test_the_end_of_a_console_begins_with_the_panic_however_long_its_trace_is() -> None:
    head, trace = CONSOLE.split("Call Trace:")
    longer = head + "Call Trace:" + trace.replace("\n", "\n" * 2) + trace * 3
    for text in (CONSOLE, longer):
        end = console_end(text)
        assert "Kernel panic - not syncing: sysrq triggered crash" in end[0]
        assert len(end) <= CONSOLE_LINES
        assert all(line.strip() for line in end)


def test_without_a_panic_the_last_lines_are_the_end() -> None:
    booted = CONSOLE.split("sysrq: Trigger a crash")[0]
    assert console_end(booted) == [line for line in booted.splitlines() if line.strip()][-CONSOLE_LINES:]
    assert console_end("") == []

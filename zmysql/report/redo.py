"""The size of a redo log, as lines of a my.cnf and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from zmysql.report.output import output_version
from zmysql.units import format_size

if TYPE_CHECKING:
    from zmysql.mysql.redo import Advice, Measured


def as_text(measured: Measured, advice: Advice) -> tuple[str, ...]:
    """Give the lines: what was measured as comments, and the settings."""
    rates, state = measured.bytes_per_minute, measured.state
    busiest, mean = format_size(round(max(rates))), format_size(round(sum(rates) / len(rates)))
    then, now = _seconds(advice.recovery_s), _seconds(advice.recovery_now_s)
    wrote = (
        f"# {state.server.name} writes {busiest} of redo log in the busiest minute of {len(rates)}, {mean} on average"
    )
    recovery = f"# crash recovery: {then} with that, {now} with the {format_size(state.capacity_bytes)} that it has now"
    online = (f"# at once: {advice.online}",) if advice.online else ()
    settings = (f"{setting.variable} = {setting.value}" for setting in advice.settings)
    return (wrote, f"# {advice.why}", recovery, *online, "[mysqld]", *settings)


def as_json(measured: Measured, advice: Advice) -> dict[str, object]:
    """Give what was measured and what follows; sizes in bytes, times in seconds."""
    return {
        "output_version": output_version("redo-size"),
        "server": measured.state.server.name,
        "bytes_per_minute": [round(rate) for rate in measured.bytes_per_minute],
        "hour_bytes": advice.hour_bytes,
        "redo_bytes": advice.redo_bytes,
        "redo_bytes_now": measured.state.capacity_bytes,
        "recovery_s": advice.recovery_s,
        "recovery_s_now": advice.recovery_now_s,
        "why": advice.why,
        "settings": [asdict(setting) for setting in advice.settings],
        "online": advice.online,
    }


def _seconds(seconds: float | None) -> str:
    return "a time that nothing tells now, since no page is dirty," if seconds is None else f"at most {seconds:.0f} s"

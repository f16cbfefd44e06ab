"""How large the redo log should be: an hour of what the server writes, and no more than recovery may take to apply.

The measure is Bianchi's (2014): Innodb_os_log_written, a minute apart.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.mysql.client import query
from zmysql.mysql.load import redo_settings
from zmysql.mysql.server import Flavour, Server, server_of
from zmysql.mysql.setting import BIANCHI, MYSQL_MANUAL
from zmysql.mysql.sizing import CHUNK_BYTES
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from zmysql.host import Host
    from zmysql.mysql.client import Dsn
    from zmysql.mysql.setting import Setting

MINUTE_SECONDS = 60.0
HOUR_MINUTES = 60

LEAST_BYTES, MOST_BYTES = CHUNK_BYTES, 128 << 30  # the most that 8.0.30 takes; later ones take 512G

_UNIT = 64 << 20

# How fast recovery reads the log itself. Finding the pages is what takes its time, unless there are few.
_SCAN_BYTES_PER_SECOND = 100 << 20

_STATUS = ("Innodb_os_log_written", "Innodb_buffer_pool_pages_dirty", "Innodb_buffer_pool_pages_total", "Uptime")
_VARIABLES = (
    *("version", "innodb_io_capacity", "innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group"),
)
_LSN = re.compile(r"^Log sequence number\s+(\d+)", re.MULTILINE)
_CHECKPOINT = re.compile(r"^Last checkpoint at\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class State:
    """What a running server says of its redo log, in bytes, pages and seconds since it started.

    `age_bytes` is how far the last checkpoint lies behind: what recovery would have to apply now.
    """

    version: str
    written_bytes: int
    uptime_s: int
    capacity_bytes: int
    age_bytes: int
    dirty_pages: int
    pages: int
    io_capacity: int

    @property
    def server(self) -> Server:
        """Flavour and version."""
        return server_of(self.version)


@dataclass(frozen=True, slots=True)
class Measured:
    """The redo log written in each interval, scaled to a minute, and the server's state at the end."""

    bytes_per_minute: tuple[float, ...]
    state: State

    @property
    def busiest_bytes(self) -> float:
        """What the busiest minute wrote."""
        return max(self.bytes_per_minute)


@dataclass(frozen=True, slots=True)
class Advice:
    """The size to give the redo log, the settings that do, and why; times in seconds, None where they aren't known."""

    redo_bytes: int
    hour_bytes: int
    why: str
    settings: tuple[Setting, ...]
    online: str | None
    recovery_s: float | None
    recovery_now_s: float | None


def read_state(host: Host, dsn: Dsn) -> State:
    """Ask a server.

    Raises QueryFailed, and ZmysqlError when it isn't InnoDB's numbers that come back.
    """
    status = _named(host, dsn, "STATUS", _STATUS)
    variables = _named(host, dsn, "VARIABLES", _VARIABLES)
    text = next((row.get("Status") or "" for row in query(host, dsn, "SHOW ENGINE INNODB STATUS")), "")
    try:
        capacity = int(variables.get("innodb_redo_log_capacity") or 0) or (
            int(variables["innodb_log_file_size"]) * int(variables.get("innodb_log_files_in_group") or 1)
        )
        return State(
            version=variables["version"],
            written_bytes=int(status["Innodb_os_log_written"]),
            uptime_s=int(status["Uptime"]),
            capacity_bytes=capacity,
            age_bytes=_age(text),
            dirty_pages=int(status["Innodb_buffer_pool_pages_dirty"]),
            pages=int(status["Innodb_buffer_pool_pages_total"]),
            io_capacity=int(variables["innodb_io_capacity"]),
        )
    except KeyError as missing:
        raise ZmysqlError(f"MySQL at {dsn} has no {missing.args[0]}: is InnoDB running there?") from None


def measure(
    host: Host, dsn: Dsn, intervals: int, say: Callable[[str], None], interval_s: float = MINUTE_SECONDS
) -> Measured:
    """Look at a server again and again, `interval_s` apart.

    Raises ZmysqlError when it was restarted meanwhile, since its counters begin anew then.
    """
    before, at = read_state(host, dsn), time.monotonic()
    rates = []
    for number in range(1, intervals + 1):
        say(f"measuring: {number} of {intervals}, {interval_s:g} s each")
        time.sleep(max(at + interval_s - time.monotonic(), 0))
        after, now = read_state(host, dsn), time.monotonic()
        if after.uptime_s < before.uptime_s:
            raise ZmysqlError(f"MySQL at {dsn} was restarted while it was measured: run it again")
        rates.append((after.written_bytes - before.written_bytes) / (now - at) * MINUTE_SECONDS)
        before, at = after, now
    return Measured(tuple(rates), before)


def size_redo(measured: Measured, recovery_s: float | None) -> Advice:
    """Give the size that holds an hour of the busiest minute, and that recovery applies within `recovery_s`. Pure.

    The manual of innodb_log_file_size: large enough for more than an hour of write activity; larger files make crash
    recovery slower.
    """
    hour = round(measured.busiest_bytes * HOUR_MINUTES)
    redo, why = hour, f"An hour at the rate of the busiest minute is {format_size(hour)}."
    rate = recovery_rate(measured.state)
    if recovery_s is not None and rate is not None and redo * rate > recovery_s:
        redo = int(recovery_s / rate) // _UNIT * _UNIT
        why += f" Recovery may take {recovery_s:g} s, and applies {format_size(redo)} in it."
    if redo < LEAST_BYTES:
        why += f" {format_size(LEAST_BYTES)} is the least that makes sense."
    size = min(max(_whole(redo), LEAST_BYTES), MOST_BYTES)
    server = measured.state.server
    return Advice(
        size,
        hour,
        why,
        tuple(redo_settings(server, size, why, (BIANCHI, MYSQL_MANUAL))),
        _online(server, size),
        None if rate is None else size * rate,
        None if rate is None else measured.state.capacity_bytes * rate,
    )


def recovery_rate(state: State) -> float | None:
    """Give the seconds that recovery takes for a byte of redo log, None when the server has nothing to recover now.

    A byte of the log costs the reading of it, and its share of a page that must be found: as many as are dirty now for
    the distance of the last checkpoint, at innodb_io_capacity pages a second. Later bytes touch pages again that were
    read before, so this is more than it will be.
    """
    if state.age_bytes <= 0 or state.dirty_pages <= 0 or state.io_capacity <= 0:
        return None
    return state.dirty_pages / state.age_bytes / state.io_capacity + 1 / _SCAN_BYTES_PER_SECOND


def _named(host: Host, dsn: Dsn, what: str, names: tuple[str, ...]) -> dict[str, str]:
    listed = ", ".join(f"'{name}'" for name in names)
    rows = query(host, dsn, f"SHOW GLOBAL {what} WHERE Variable_name IN ({listed})")
    by_name = {name.lower(): name for name in names}
    return {by_name[str(row["Variable_name"]).lower()]: str(row["Value"]) for row in rows}


def _age(text: str) -> int:
    """Give how far the checkpoint is behind, from SHOW ENGINE INNODB STATUS, which says it in all versions alike.

    Raises KeyError when it doesn't.
    """
    lsn, checkpoint = _LSN.search(text), _CHECKPOINT.search(text)
    if lsn is None or checkpoint is None:
        raise KeyError("log sequence number")
    return int(lsn[1]) - int(checkpoint[1])


def _whole(size_bytes: int) -> int:
    """Round up to a size that a person can read."""
    return -(-size_bytes // _UNIT) * _UNIT


def _online(server: Server, size_bytes: int) -> str | None:
    """Give the statement that changes the size of a running server, where there is one."""
    if server.flavour is Flavour.MYSQL and server.is_at_least((8, 0, 30)):
        return f"SET PERSIST innodb_redo_log_capacity = {size_bytes}"
    if server.flavour is Flavour.MARIADB and server.is_at_least((10, 9)):
        return f"SET GLOBAL innodb_log_file_size = {size_bytes}"
    return None

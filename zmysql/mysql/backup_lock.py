"""MySQL's backup lock: hold DDL and commits back for a moment, and know where the server stands."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.mysql.client import QueryFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.mysql.client import Session

# After so long without a statement the server ends the session: the lock goes also when this machine vanishes.
IDLE_SECONDS = 60

_LOCK_WAIT_TIMEOUT = 1205  # ER_LOCK_WAIT_TIMEOUT
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_CHECKPOINT = re.compile(r"^Last checkpoint at\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statements:
    """What a server takes: to lock, to tell its position, to unlock."""

    lock: tuple[str, ...]
    status: str
    gtid: str
    unlock: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a locked server stands: its version, and FILE:OFFSET and GTIDs of its binary log; None without one."""

    server: str
    binlog: str | None
    gtid: str | None


# What is committed is then in the redo log's files, also with innodb_flush_log_at_trx_commit=0.
_FLUSH_REDO = "FLUSH LOCAL ENGINE LOGS"
_GLOBAL_READ_LOCK = "FLUSH LOCAL TABLES WITH READ LOCK"
_MYSQL_GTID = "SELECT @@GLOBAL.gtid_executed AS gtid"
_MARIADB_GTID = "SELECT @@GLOBAL.gtid_binlog_pos AS gtid"


def statements_for(version: str) -> Statements:
    """Give what a server takes that calls itself so in VERSION().

    LOCK INSTANCE FOR BACKUP (8.0) keeps DDL out and lets commits go on, so the global read lock comes on top of it for
    the moment of the snapshot: only then has the binary log one position. BACKUP STAGE is in MariaDB since 10.4;
    SHOW BINARY LOG STATUS is in MySQL since 8.2, and is the only one since 8.4. Raises ZmysqlError for no version.
    """
    match = _VERSION.match(version)
    if match is None:
        raise ZmysqlError(f"the server calls its version {version!r}, which zmysql can't read")
    release = (int(match[1]), int(match[2]))
    if "mariadb" in version.lower():
        if release < (10, 4):
            return Statements((_GLOBAL_READ_LOCK, _FLUSH_REDO), "SHOW MASTER STATUS", _MARIADB_GTID, ("UNLOCK TABLES",))
        stages = tuple(f"BACKUP STAGE {stage}" for stage in ("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT"))
        return Statements((*stages, _FLUSH_REDO), "SHOW MASTER STATUS", _MARIADB_GTID, ("BACKUP STAGE END",))
    status = "SHOW BINARY LOG STATUS" if release >= (8, 2) else "SHOW MASTER STATUS"
    if release < (8, 0):
        return Statements((_GLOBAL_READ_LOCK, _FLUSH_REDO), status, _MYSQL_GTID, ("UNLOCK TABLES",))
    lock = ("LOCK INSTANCE FOR BACKUP", _GLOBAL_READ_LOCK, _FLUSH_REDO)
    return Statements(lock, status, _MYSQL_GTID, ("UNLOCK TABLES", "UNLOCK INSTANCE"))


@contextmanager
def backup_lock(session: Session, wait_s: int) -> Iterator[Position]:
    """Hold the server's backup lock, and give where the server stands meanwhile.

    Each part of the lock is waited for `wait_s` seconds, during which new writes wait too. Raises QueryFailed when it
    can't be had, and at the end when it was lost in between: what was done under it counts only after that. When the
    body fails, who closes the session releases the lock.
    """
    (row,) = session.query("SELECT VERSION() AS version")
    version = row["version"] or ""
    statements = statements_for(version)
    session.query(f"SET SESSION lock_wait_timeout = {wait_s}, wait_timeout = {IDLE_SECONDS}")
    for statement in statements.lock:
        _lock(session, statement, wait_s)
    yield _position(session, version, statements)
    for statement in statements.unlock:
        session.query(statement)


def checkpoint_lsn(session: Session) -> int:
    """Give the LSN from which InnoDB would recover. Raises ZmysqlError when the server doesn't say."""
    (row,) = session.query("SHOW ENGINE INNODB STATUS")
    match = _CHECKPOINT.search(row["Status"] or "")
    if match is None:
        raise ZmysqlError("SHOW ENGINE INNODB STATUS has no `Last checkpoint at`")
    return int(match[1])


def _lock(session: Session, statement: str, wait_s: int) -> None:
    try:
        session.query(statement)
    except QueryFailed as failed:
        if failed.code != _LOCK_WAIT_TIMEOUT:
            raise
        raise ZmysqlError(
            f"the backup lock couldn't be had: {statement} waited {wait_s} s for a long query or transaction (see SHOW "
            "PROCESSLIST); try again, or wait longer with --lock-timeout"
        ) from None


def _position(session: Session, version: str, statements: Statements) -> Position:
    status = session.query(statements.status)
    if not status:
        return Position(version, None, None)
    (gtid,) = session.query(statements.gtid)
    # A GTID set has a line for each server.
    sets = "".join((gtid["gtid"] or "").split())
    return Position(version, f"{status[0]['File']}:{status[0]['Position']}", sets or None)

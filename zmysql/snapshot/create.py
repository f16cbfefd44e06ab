"""Take a snapshot of a layout: as after a power cut, or under MySQL's backup lock.

The snapshots within a pool are taken at one moment. So redo log and data in one pool fit, with or without a lock, and
InnoDB recovers from them as from a power cut. The lock adds that no DDL is halfway, that nothing commits meanwhile, and
so where the binary log stands.

Between pools there is no such moment. Then holding commits back isn't enough, for InnoDB goes on writing pages back.
The data is taken first and the redo log last. Each page in the data was in the redo log before it was written, so the
later redo log has all that the data has. But it must also begin early enough. Recovery begins at the checkpoint, and
one that moved in between says of pages that they are in the data, which were written only after the data was taken. So
the checkpoint is read before and after, and if it moved, the snapshots are destroyed and taken again. The server tells
of a checkpoint once it is synced, a moment after the file has it: so it is read once more a second later.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.mysql.backup_lock import backup_lock, checkpoint_lsn
from zmysql.mysql.client import session
from zmysql.snapshot.model import ROLLBACK_MARK, Kind, Layout, Refusal
from zmysql.zfs.snapshot import (
    BINLOG_MARK,
    GTID_MARK,
    KIND_MARK,
    MOST_MARK_BYTES,
    MOST_NAME_BYTES,
    PARTS_MARK,
    SERVER_MARK,
    Snapshot,
    SnapshotSet,
    create_argv,
    destroy_argv,
    set_mark_argv,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zmysql.mysql.backup_lock import Position
    from zmysql.mysql.client import Dsn, Session
    from zmysql.snapshot.job import Job
    from zmysql.zfs.commands import Argv

CHECKPOINT_TRIES = 5
CHECKPOINT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken; `position` and `locked_seconds` are None without a lock."""

    name: str
    kind: Kind
    position: Position | None = None
    locked_seconds: float | None = None

    @property
    def lacks_gtid(self) -> bool:
        """Whether the GTIDs were longer than a property may be, so that the snapshot hasn't them."""
        return self.position is not None and _too_long(self.position.gtid)


def against_create(layout: Layout, existing: Iterable[Snapshot], name: str, kind: Kind) -> tuple[Refusal, ...]:
    """Say why a snapshot of that name and kind can't be taken."""
    found = []
    if begun := layout.rolling_back_to:
        roots = " ".join(tree.root for tree in layout.trees)
        way_out = (
            f"finish it with `zmysql snapshot rollback {layout.name} {begun}`; if the database was used since, that "
            f"would undo it, and `zfs inherit {ROLLBACK_MARK} {roots}` ends it as it is"
        )
        found.append(Refusal(layout.name, f"a rollback to {begun} was interrupted", way_out))
    if there := [one.full_name for one in existing if one.name == name]:
        found.append(Refusal(name, f"there is a snapshot {there[0]} already", "take another name"))
    if too_long := [one.name for one in layout.members if len(f"{one.name}@{name}".encode()) > MOST_NAME_BYTES]:
        why = f"{too_long[0]}@{name} is longer than the {MOST_NAME_BYTES} bytes that ZFS takes"
        found.append(Refusal(name, why, "take a shorter one"))
    if kind is Kind.CRASH_CONSISTENT and len(layout.trees) > 1:
        pools = " and ".join(tree.pool for tree in layout.trees)
        why = f"{pools} can't be taken at one moment, and data and redo log taken apart may not fit"
        way_out = "take it with --consistent (or --allow-not-atomic, if no server runs on it)"
        found.append(Refusal(layout.name, why, way_out))
    return tuple(found)


def create_steps(layout: Layout, name: str, kind: Kind) -> tuple[Argv, ...]:
    """Give the commands that take a snapshot, without the marks that only the server can say."""
    sets = [tree.all_named(name) for tree in layout.trees]
    marks = _marks(layout, kind, None)
    return (*(create_argv(one, marks) for one in sets), *([_confirm(sets)] if kind is Kind.CONSISTENT else []))


def create(job: Job, kind: Kind) -> Taken:
    """Take a snapshot without a lock.

    Raises ZmysqlError when it can't be taken; what was taken of it is destroyed then.
    """
    with _all_or_none(job) as done:
        _take(job, _marks(job.layout, kind, None), done)
    return Taken(job.name, kind)


def create_consistent(job: Job, dsn: Dsn, wait_s: int) -> Taken:
    """Take a snapshot under the backup lock of a server, each part of which is waited for `wait_s` seconds.

    It is marked as unconfirmed until the lock was given back, for only then is it known that it held. Raises
    ZmysqlError when it can't be taken, or the lock was lost; what was taken is destroyed then.
    """
    with _all_or_none(job) as done:
        with session(job.host, dsn) as opened, backup_lock(opened, wait_s) as position:
            begun = time.monotonic()
            _take_fitting(job, opened, _marks(job.layout, Kind.CONSISTENT, position), done)
        locked_seconds = time.monotonic() - begun
        job.run(_confirm(done))
    return Taken(job.name, Kind.CONSISTENT, position, locked_seconds)


def _take_fitting(job: Job, opened: Session, marks: dict[str, str], done: list[SnapshotSet]) -> None:
    """Take all pools while InnoDB's checkpoint stands still; in one pool it may move."""
    if len(job.layout.trees) == 1:
        _take(job, marks, done)
        return
    for _ in range(CHECKPOINT_TRIES):
        before = checkpoint_lsn(opened)
        _take(job, marks, done)
        if checkpoint_lsn(opened) == before:
            time.sleep(CHECKPOINT_SECONDS)
            if checkpoint_lsn(opened) == before:
                return
        _undo(job, done)
    raise ZmysqlError(
        f"InnoDB's checkpoint moved between the pools' snapshots, in all of {CHECKPOINT_TRIES} tries, so data and redo "
        "log didn't fit and none was kept: try again when fewer pages are dirty"
    )


def _marks(layout: Layout, kind: Kind, position: Position | None) -> dict[str, str]:
    """Give the marks of a snapshot when it is taken; a consistent one is unconfirmed at first."""
    taken_as = Kind.UNCONFIRMED if kind is Kind.CONSISTENT else kind
    parts = " ".join(f"{tree.pool}={len(tree.members)}" for tree in layout.trees)
    marks = {KIND_MARK: str(taken_as), PARTS_MARK: parts}
    if position is not None:
        marks[SERVER_MARK] = position.server
        if position.binlog:
            marks[BINLOG_MARK] = position.binlog
        if position.gtid and not _too_long(position.gtid):
            marks[GTID_MARK] = position.gtid
    return marks


def _too_long(gtid: str | None) -> bool:
    return len((gtid or "").encode()) > MOST_MARK_BYTES


def _confirm(sets: Iterable[SnapshotSet]) -> Argv:
    return set_mark_argv([name for one in sets for name in one.full_names], KIND_MARK, Kind.CONSISTENT)


def _take(job: Job, marks: dict[str, str], done: list[SnapshotSet]) -> None:
    for tree in job.layout.trees:
        of = tree.all_named(job.name)
        job.say(create_argv(of, marks))
        job.calls.create(of, marks)
        done.append(of)


@contextmanager
def _all_or_none(job: Job) -> Iterator[list[SnapshotSet]]:
    """Destroy what this run took when the rest can't be taken, also when somebody interrupts it."""
    done: list[SnapshotSet] = []
    try:
        yield done
    except (ZmysqlError, KeyboardInterrupt) as error:
        why = str(error) or "interrupted"
        try:
            _undo(job, done)
        except ZmysqlError as stays:
            way_out = f"destroy it with `zmysql snapshot destroy {job.layout.name} {job.name}`"
            raise ZmysqlError(f"{why}; what was taken stays: {stays}; {way_out}") from error
        if isinstance(error, ZmysqlError):
            raise
        raise ZmysqlError(f"interrupted; see `zmysql snapshot list {job.layout.name}`") from None


def _undo(job: Job, done: list[SnapshotSet]) -> None:
    while done:
        job.say(destroy_argv(done[-1]))
        job.calls.destroy(done[-1])
        done.pop()

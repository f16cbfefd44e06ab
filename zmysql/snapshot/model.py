"""The snapshots of a layout: one name, over all datasets under POOL/mysql of all its pools."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from zmysql.errors import UsageError
from zmysql.zfs.snapshot import (
    BINLOG_MARK,
    GTID_MARK,
    KIND_MARK,
    MOST_NAME_BYTES,
    PARTS_MARK,
    SERVER_MARK,
    Snapshot,
    SnapshotSet,
)

# On POOL/mysql while a rollback goes on: the name of the snapshot.
ROLLBACK_MARK = "zmysql:rollback"

# What zfs(8) takes in a name, without what a shell or an option would see in it. Tags of holds too.
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")


class Kind(StrEnum):
    """How far the database in a snapshot can be trusted.

    Consistent: taken under the backup lock. Crash-consistent: the server finds what it finds after a power cut.
    Unconfirmed: nobody said that the lock held to the end; the one who took it died. Not atomic: pool by pool, without
    a lock: data and redo log may not fit.
    """

    CONSISTENT = "consistent"
    CRASH_CONSISTENT = "crash-consistent"
    UNCONFIRMED = "unconfirmed"
    NOT_ATOMIC = "not-atomic"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something isn't done, and the way out."""

    about: str
    why: str
    way_out: str

    def __str__(self) -> str:
        return f"{self.about}: {self.why}; {self.way_out}"


@dataclass(frozen=True, slots=True)
class Member:
    """A dataset of a layout; `mountpoint` is None for a volume, and where zfs(8) doesn't mount it."""

    name: str
    mountpoint: str | None
    mounted: bool
    mounts_itself: bool
    rolling_back_to: str | None


@dataclass(frozen=True, slots=True)
class Tree:
    """The datasets of a layout in one pool: POOL/mysql, and all that are under it."""

    pool: str
    members: tuple[Member, ...]

    @property
    def root(self) -> str:
        """The dataset above the others."""
        return f"{self.pool}/mysql"

    def all_named(self, name: str) -> SnapshotSet:
        """Give the set of snapshots that has one of each dataset."""
        return SnapshotSet(self.root, name, tuple(member.name for member in self.members))


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout as it is now, its trees in the order in which snapshots of them are taken: see `create`."""

    name: str
    trees: tuple[Tree, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        """All datasets."""
        return tuple(member for tree in self.trees for member in tree.members)

    @property
    def rolling_back_to(self) -> str | None:
        """The snapshot to which a rollback began and hasn't ended."""
        return next((member.rolling_back_to for member in self.members if member.rolling_back_to), None)


@dataclass(frozen=True, slots=True)
class LayoutSnapshot:
    """The snapshots of one name that zmysql took of a layout."""

    name: str
    parts: tuple[Snapshot, ...]

    def mark(self, name: str) -> str | None:
        """Give a mark that it has, None where it hasn't."""
        return next((part.marks[name] for part in self.parts if name in part.marks), None)

    @property
    def kind(self) -> Kind:
        """How far it can be trusted; one that differs between its parts can't be."""
        kinds = {part.marks[KIND_MARK] for part in self.parts}
        known = kinds.pop() if len(kinds) == 1 else ""
        return Kind(known) if known in set(Kind) else Kind.UNCONFIRMED

    @property
    def binlog(self) -> str | None:
        """FILE:OFFSET of the binary log."""
        return self.mark(BINLOG_MARK)

    @property
    def gtid(self) -> str | None:
        """The GTIDs of the binary log."""
        return self.mark(GTID_MARK)

    @property
    def server(self) -> str | None:
        """The version of the server."""
        return self.mark(SERVER_MARK)

    @property
    def created_s(self) -> int:
        """When the last of it was taken, in seconds since 1970."""
        return max(part.created_s for part in self.parts)

    @property
    def used_bytes(self) -> int:
        """What only this snapshot holds on to."""
        return sum(part.used_bytes for part in self.parts)

    @property
    def referenced_bytes(self) -> int:
        """What it shows."""
        return sum(part.referenced_bytes for part in self.parts)

    @property
    def held(self) -> tuple[str, ...]:
        """The full names of those that are held."""
        return tuple(part.full_name for part in self.parts if part.holds)

    @property
    def incomplete_pools(self) -> tuple[str, ...]:
        """The pools in which less of it is left than was taken."""
        taken = (word.partition("=") for word in (self.mark(PARTS_MARK) or "").split())
        there = Counter(part.pool for part in self.parts)
        return tuple(pool for pool, _, count in taken if str(there[pool]) != count)

    def in_tree(self, tree: Tree) -> SnapshotSet:
        """Give what of it is in one pool."""
        inside = tuple(part.dataset for part in self.parts if part.pool == tree.pool)
        return SnapshotSet(tree.root, self.name, inside)


def check_word(what: str, word: str) -> str:
    """Give the name of a snapshot or the tag of a hold back. Raises UsageError for one that can't be."""
    if not _WORD.fullmatch(word) or len(word) > MOST_NAME_BYTES:
        raise UsageError(f"{what} {word!r}: use letters, digits, and . _ : - after the first of them")
    return word

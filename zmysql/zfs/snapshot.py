"""Snapshots of datasets: what there are, and the two ways to make and unmake them in one transaction a pool.

The ways are zfs(8), which every host has, and libzfs_core (snapshot_lzc.py). Both do the same, and one test holds them
to it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.host import checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zmysql.host import Host
    from zmysql.zfs.commands import Argv

# Marks on the snapshots that zmysql made: how far the database in it can be trusted, how many datasets there were in
# each pool of the layout (tank=5 tank-log=3), and where the server stood.
KIND_MARK = "zmysql:snapshot"
PARTS_MARK = "zmysql:parts"
SERVER_MARK = "zmysql:server"
BINLOG_MARK = "zmysql:binlog"
GTID_MARK = "zmysql:gtid"
SNAPSHOT_MARKS = (KIND_MARK, PARTS_MARK, SERVER_MARK, BINLOG_MARK, GTID_MARK)

# The longest value of a user property that every ZFS takes: ZAP_MAXVALUELEN before OpenZFS 0.8, and illumos.
MOST_MARK_BYTES = 1023
# ZFS_MAX_DATASET_NAME_LEN, with the byte that ends it.
MOST_NAME_BYTES = 255

ROLL_BACK = resources.files("zmysql.zfs").joinpath("roll-back.lua").read_text(encoding="utf-8")

_NATIVE = ("creation", "createtxg", "used", "referenced", "userrefs", "clones")
_ERRNO_LINE = re.compile(r"^(?P<name>\S.*) errno (?P<errno>\d+)$", re.MULTILINE)
_BECAUSE = {16: "is busy or held", 17: "isn't the newest, or has bookmarks or clones", 2: "isn't there"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One snapshot of one dataset; `holds` is how many there are, `marks` are the user properties set on itself."""

    dataset: str
    name: str
    created_s: int
    txg: int
    used_bytes: int
    referenced_bytes: int
    holds: int
    clones: tuple[str, ...]
    marks: Mapping[str, str] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """The name as zfs(8) has it."""
        return f"{self.dataset}@{self.name}"

    @property
    def pool(self) -> str:
        """The pool in which it is."""
        return self.dataset.partition("/")[0]


@dataclass(frozen=True, slots=True)
class SnapshotSet:
    """The snapshots of one name, of a dataset and of some or all that are under it, in one pool."""

    root: str
    name: str
    datasets: tuple[str, ...]

    @property
    def pool(self) -> str:
        """The pool in which they are."""
        return self.root.partition("/")[0]

    @property
    def full_names(self) -> tuple[str, ...]:
        """The names of its snapshots."""
        return tuple(f"{dataset}@{self.name}" for dataset in self.datasets)


class SnapshotCalls(ABC):
    """What changes snapshots. Each call acts on all of a set or on none of it, and raises ZmysqlError."""

    @abstractmethod
    def create(self, of: SnapshotSet, marks: Mapping[str, str]) -> None:
        """Take the snapshots at one moment, with user properties."""

    @abstractmethod
    def destroy(self, of: SnapshotSet) -> None:
        """Destroy the snapshots; one that is held or cloned keeps all."""

    @abstractmethod
    def hold(self, of: SnapshotSet, tag: str) -> None:
        """Hold the snapshots, so that nothing destroys them."""

    @abstractmethod
    def release(self, of: SnapshotSet, tag: str) -> None:
        """Take a hold off the snapshots."""

    @abstractmethod
    def roll_back(self, to: SnapshotSet, newer: Sequence[str]) -> None:
        """Roll the datasets back, which must not be mounted, and destroy the newer snapshots, given by full name."""


class ByCommand(SnapshotCalls):
    """By zfs(8) of a host."""

    def __init__(self, host: Host) -> None:
        """Act on that host."""
        self._host = host

    def create(self, of: SnapshotSet, marks: Mapping[str, str]) -> None:
        """Run `zfs snapshot -r`."""
        self._host.run(create_argv(of, marks))

    def destroy(self, of: SnapshotSet) -> None:
        """Run `zfs destroy -r`."""
        self._host.run(destroy_argv(of))

    def hold(self, of: SnapshotSet, tag: str) -> None:
        """Run `zfs hold -r`."""
        self._host.run(hold_argv(of, tag))

    def release(self, of: SnapshotSet, tag: str) -> None:
        """Run `zfs release -r`."""
        self._host.run(release_argv(of, tag))

    def roll_back(self, to: SnapshotSet, newer: Sequence[str]) -> None:
        """Run the channel program by `zfs program`."""
        done = self._host.run(roll_back_argv(to, newer), stdin=ROLL_BACK, check=False)
        if "errno" in done.stderr:
            raise roll_back_failed(to, done.stderr)
        checked(done)


def create_argv(of: SnapshotSet, marks: Mapping[str, str]) -> Argv:
    """Give the command that takes the snapshots: zfs-snapshot(8) takes all that one command names at one moment."""
    options = (word for name, value in marks.items() for word in ("-o", f"{name}={value}"))
    return ("zfs", "snapshot", "-r", *options, f"{of.root}@{of.name}")


def destroy_argv(of: SnapshotSet) -> Argv:
    """Give the command that destroys the snapshots."""
    return ("zfs", "destroy", "-r", f"{of.root}@{of.name}")


def hold_argv(of: SnapshotSet, tag: str) -> Argv:
    """Give the command that holds the snapshots."""
    return ("zfs", "hold", "-r", tag, f"{of.root}@{of.name}")


def release_argv(of: SnapshotSet, tag: str) -> Argv:
    """Give the command that takes a hold off the snapshots."""
    return ("zfs", "release", "-r", tag, f"{of.root}@{of.name}")


def roll_back_argv(to: SnapshotSet, newer: Sequence[str]) -> Argv:
    """Give the command that runs the channel program, which it reads from its standard input."""
    return ("zfs", "program", to.pool, "-", *roll_back_arguments(to, newer))


def roll_back_arguments(to: SnapshotSet, newer: Sequence[str]) -> Argv:
    """Give the arguments of the channel program."""
    return (*to.full_names, "newer", *newer)


def roll_back_failed(to: SnapshotSet, said: str) -> ZmysqlError:
    """Give the error of the channel program, of which `said` is the whole text."""
    when = re.search(r":\d+: (.+)", said)
    lines = _ERRNO_LINE.findall(said)
    why = "; ".join(f"{name} {_BECAUSE.get(int(errno), f'gives error {errno}')}" for name, errno in lines)
    return ZmysqlError(f"rolling back {to.root}: {when[1] if when else 'failed'}: {why or said.strip()}")


def read_snapshots(host: Host, root: str) -> tuple[Snapshot, ...]:
    """Give the snapshots of a dataset and of all that are under it, oldest first for each."""
    names = ",".join((*_NATIVE, *SNAPSHOT_MARKS))
    columns = ("-o", "name,property,value,source")
    return parse_snapshots(host.run(("zfs", "get", "-Hpr", "-t", "snapshot", *columns, names, root)).stdout)


def parse_snapshots(text: str) -> tuple[Snapshot, ...]:
    """Give the snapshots of `zfs get -Hp` with the columns name, property, value, source, oldest first for each."""
    rows: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        name, prop, value, source = line.split("\t")
        # A user property of the dataset shows on its snapshots too, as inherited.
        if prop in _NATIVE or source == "local":
            rows.setdefault(name, {})[prop] = value
    found = [_snapshot(name, values) for name, values in rows.items()]
    return tuple(sorted(found, key=lambda one: (one.dataset, one.txg)))


def read_bookmarks(host: Host, roots: Sequence[str]) -> dict[str, int]:
    """Give the bookmarks of some datasets and of all that are under them, with the transaction group of each."""
    return parse_bookmarks(host.run(("zfs", "list", "-Hpr", "-t", "bookmark", "-o", "name,createtxg", *roots)).stdout)


def parse_bookmarks(text: str) -> dict[str, int]:
    """Give bookmark → transaction group, from `zfs list -Hp -o name,createtxg`."""
    return {name: int(txg) for name, txg in (line.split("\t") for line in text.splitlines())}


def read_holds(host: Host, full_names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Give the tags that hold each of the snapshots; those without are left out."""
    names = tuple(full_names)
    return parse_holds(host.run(("zfs", "holds", "-H", *names)).stdout) if names else {}


def parse_holds(text: str) -> dict[str, tuple[str, ...]]:
    """Give snapshot → tags, from `zfs holds -H`."""
    found: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        name, tag, _when = line.split("\t")
        found[name] = (*found.get(name, ()), tag)
    return found


def _snapshot(full_name: str, values: Mapping[str, str]) -> Snapshot:
    dataset, _, name = full_name.partition("@")
    clones = values.get("clones", "-")
    return Snapshot(
        dataset,
        name,
        created_s=int(values["creation"]),
        txg=int(values["createtxg"]),
        used_bytes=int(values["used"]),
        referenced_bytes=int(values["referenced"]),
        holds=int(values["userrefs"]),
        clones=tuple(clones.split(",")) if clones not in {"-", ""} else (),
        marks={mark: values[mark] for mark in SNAPSHOT_MARKS if mark in values},
    )


def set_mark_argv(names: Sequence[str], mark: str, value: str) -> Argv:
    """Give the command that sets a user property of snapshots or datasets."""
    return ("zfs", "set", f"{mark}={value}", *names)


def clear_mark_argv(names: Sequence[str], mark: str) -> Argv:
    """Give the command that takes a user property off."""
    return ("zfs", "inherit", mark, *names)

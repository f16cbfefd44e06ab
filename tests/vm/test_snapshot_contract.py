"""The two ways to change snapshots, zfs(8) and libzfs_core, held to one contract on a real pool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from zmysql.errors import ZmysqlError
from zmysql.zfs.snapshot import KIND_MARK, ByCommand, Snapshot, SnapshotCalls, SnapshotSet, read_holds, read_snapshots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zmysql.host import Host, Process

POOL = "zmplain"
PLAIN = f"{POOL}/plain"
# Answers calls of libzfs_core: a line of JSON each way. Started once, since Python takes seconds to start in the guest.
SERVE = """
import json, sys
from zmysql.errors import ZmysqlError
from zmysql.zfs.snapshot import SnapshotSet
from zmysql.zfs.snapshot_lzc import ByLibrary, snapshot_calls
from zmysql.host import Local
calls = snapshot_calls(Local())
assert type(calls) is ByLibrary
print("ready", flush=True)
for line in sys.stdin:
    method, of, *more = json.loads(line)
    try:
        getattr(calls, method)(SnapshotSet(of[0], of[1], tuple(of[2])), *more)
    except ZmysqlError as error:
        print(json.dumps(str(error)), flush=True)
    else:
        print("null", flush=True)
"""


def sh(guest: Host, script: str) -> str:
    return guest.run(("sh", "-euc", script)).stdout


class InGuest(SnapshotCalls):
    """The calls of libzfs_core, in the guest."""

    def __init__(self, process: Process) -> None:
        self._process, self._lines = process, process.lines()
        assert next(self._lines, b"") == b"ready\n", process.stderr()

    def _call(self, method: str, of: SnapshotSet, *more: Any) -> None:
        self._process.write(json.dumps([method, [of.root, of.name, of.datasets], *more]).encode() + b"\n")
        if (error := json.loads(next(self._lines))) is not None:
            raise ZmysqlError(error)

    def create(self, of: SnapshotSet, marks: Mapping[str, str]) -> None:
        self._call("create", of, dict(marks))

    def destroy(self, of: SnapshotSet) -> None:
        self._call("destroy", of)

    def hold(self, of: SnapshotSet, tag: str) -> None:
        self._call("hold", of, tag)

    def release(self, of: SnapshotSet, tag: str) -> None:
        self._call("release", of, tag)

    def roll_back(self, to: SnapshotSet, newer: Sequence[str]) -> None:
        self._call("roll_back", to, list(newer))


@pytest.fixture(scope="module")
def pool(guest: Host) -> Iterator[None]:
    """Give a pool on an SSD."""
    ssd = sh(guest, "lsblk -dno NAME,ROTA | awk '/^sd/ && $2 == 0 { print $1; exit }'").strip()
    guest.run(("zpool", "create", "-f", POOL, ssd))
    yield
    guest.run(("zpool", "destroy", "-f", POOL), check=False)


@pytest.fixture(scope="module")
def library(installed: Host) -> Iterator[InGuest]:
    with installed.start(("/opt/zmysql/bin/python", "-c", SERVE), feed=True) as process:
        yield InGuest(process)


@pytest.fixture(params=["command", "library"])
def calls(request: pytest.FixtureRequest, guest: Host) -> SnapshotCalls:
    """Give one way after the other."""
    library: SnapshotCalls = ByCommand(guest) if request.param == "command" else request.getfixturevalue("library")
    return library


@pytest.fixture
def plain(guest: Host, pool: None) -> Iterator[SnapshotSet]:  # noqa: ARG001 - it makes the pool
    """Give a set named `a` of three datasets, in each of which is a file."""
    datasets = (PLAIN, f"{PLAIN}/x", f"{PLAIN}/y")
    sh(guest, f"for one in {' '.join(datasets)}; do zfs create $one; echo old >/$one/file; done")
    yield SnapshotSet(PLAIN, "a", datasets)
    sh(
        guest,
        f"cd /; for tag in one two; do zfs release -r $tag {PLAIN}@a || :; done 2>/dev/null; zfs destroy -R {PLAIN}",
    )


def there(guest: Host, root: str = PLAIN) -> tuple[Snapshot, ...]:
    return read_snapshots(guest, root)


def files(guest: Host, of: SnapshotSet) -> list[str]:
    sh(guest, f"for one in {' '.join(of.datasets)}; do zfs mount $one 2>/dev/null || :; done")
    return sh(guest, f"cd /{PLAIN}; cat file x/file y/file").split()


def write_and_unmount(guest: Host, of: SnapshotSet) -> None:
    sh(guest, f"for one in {' '.join(of.datasets)}; do echo new >/$one/file; done; zfs unmount {PLAIN}")


def test_a_set_is_taken_at_one_moment_or_not_at_all(guest: Host, plain: SnapshotSet, calls: SnapshotCalls) -> None:
    calls.create(plain, {KIND_MARK: "consistent", "zmysql:parts": "zmone=3 other=1"})
    found = there(guest)
    assert [one.full_name for one in found] == list(plain.full_names)
    assert len({one.txg for one in found}) == 1
    marks = {KIND_MARK: "consistent", "zmysql:parts": "zmone=3 other=1"}
    assert all(one.marks == marks for one in found)
    guest.run(("zfs", "snapshot", f"{PLAIN}/y@b"))
    with pytest.raises(ZmysqlError, match="exist"):
        calls.create(SnapshotSet(PLAIN, "b", plain.datasets), {})
    assert [one.full_name for one in there(guest) if one.name == "b"] == [f"{PLAIN}/y@b"]
    calls.destroy(plain)
    assert {one.name for one in there(guest)} == {"b"}


def test_what_is_held_stays_and_so_do_the_others(guest: Host, plain: SnapshotSet, calls: SnapshotCalls) -> None:
    calls.create(plain, {})
    calls.hold(plain, "one")
    guest.run(("zfs", "hold", "two", f"{PLAIN}/x@a"))
    held = {name: sorted(tags) for name, tags in read_holds(guest, plain.full_names).items()}
    assert held == {f"{PLAIN}@a": ["one"], f"{PLAIN}/x@a": ["one", "two"], f"{PLAIN}/y@a": ["one"]}
    with pytest.raises(ZmysqlError):
        calls.hold(plain, "one")
    with pytest.raises(ZmysqlError):
        calls.release(plain, "none")
    calls.release(plain, "one")
    with pytest.raises(ZmysqlError, match="held"):
        calls.destroy(plain)
    assert len(there(guest)) == 3


def test_all_is_rolled_back_or_nothing(guest: Host, plain: SnapshotSet, calls: SnapshotCalls) -> None:
    calls.create(plain, {})
    write_and_unmount(guest, plain)
    guest.run(("zfs", "mount", f"{PLAIN}"))
    guest.run(("zfs", "mount", f"{PLAIN}/y"))
    with pytest.raises(ZmysqlError, match=rf"nothing was changed: {PLAIN}@a is busy.*; {PLAIN}/y@a is busy"):
        calls.roll_back(plain, ())
    assert files(guest, plain) == ["new"] * 3
    sh(guest, f"zfs unmount {PLAIN}")
    calls.roll_back(plain, ())
    calls.roll_back(plain, ())  # again is no harm
    assert files(guest, plain) == ["old"] * 3


def test_only_the_newer_snapshots_that_are_named_are_destroyed(
    guest: Host, plain: SnapshotSet, calls: SnapshotCalls
) -> None:
    calls.create(plain, {})
    write_and_unmount(guest, plain)
    guest.run(("zfs", "snapshot", f"{PLAIN}/x@newer"))
    with pytest.raises(ZmysqlError, match=rf"nothing was changed: {PLAIN}/x@newer isn't the newest"):
        calls.roll_back(plain, ())
    guest.run(("zfs", "hold", "one", f"{PLAIN}/x@newer"))
    with pytest.raises(ZmysqlError, match=rf"nothing was changed: {PLAIN}/x@newer is busy or held"):
        calls.roll_back(plain, [f"{PLAIN}/x@newer"])
    guest.run(("zfs", "release", "one", f"{PLAIN}/x@newer"))
    assert files(guest, plain) == ["new"] * 3
    sh(guest, f"zfs unmount {PLAIN}")
    calls.roll_back(plain, [f"{PLAIN}/x@newer"])
    assert files(guest, plain) == ["old"] * 3
    assert {one.name for one in there(guest)} == {"a"}

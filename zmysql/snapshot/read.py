"""What a host has of a layout: its pools, their datasets, and the snapshots of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.snapshot.model import ROLLBACK_MARK, Layout, LayoutSnapshot, Member, Tree
from zmysql.zfs.parse import parse_get
from zmysql.zfs.read import pools_of_layout
from zmysql.zfs.snapshot import KIND_MARK, read_snapshots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zmysql.host import Host
    from zmysql.zfs.snapshot import Snapshot

_PROPERTIES = ("mountpoint", "mounted", "canmount", ROLLBACK_MARK)
_UNMOUNTABLE = {"none", "legacy"}


def read_layout(host: Host, name: str) -> Layout:
    """Read the pools of a layout and the datasets under their POOL/mysql.

    Raises ZmysqlError where there is no such layout, and ZfsMissing without ZFS.
    """
    pools = pools_of_layout(host, name)
    if not pools:
        raise ZmysqlError(
            f"no imported pool is marked as one of a layout {name}: see `zfs get zmysql:layout`, or `zpool import`"
        )
    columns = ("-o", "name,property,value,source")
    roots = [f"{pool}/mysql" for pool in pools]
    argv = ("zfs", "get", "-Hpr", "-t", "filesystem,volume", *columns, ",".join(_PROPERTIES), *roots)
    done = host.run(argv, check=False)
    if done.exit_status:
        raise ZmysqlError(f"the layout {name} isn't complete ({done.stderr.strip()}): run `zmysql create-pool` again")
    return parse_layout(name, done.stdout)


def parse_layout(name: str, text: str) -> Layout:
    """Give the layout of which `zfs get -Hp` printed the datasets."""
    of_pool: dict[str, list[Member]] = {}
    for dataset, values in parse_get(text).items():
        mountpoint = values.get("mountpoint")
        member = Member(
            dataset,
            mountpoint=None if mountpoint in _UNMOUNTABLE else mountpoint,
            mounted=values.get("mounted") == "yes",
            mounts_itself=values.get("canmount") == "on",
            rolling_back_to=values.get(ROLLBACK_MARK),
        )
        of_pool.setdefault(dataset.partition("/")[0], []).append(member)
    trees = [Tree(pool, tuple(members)) for pool, members in of_pool.items()]
    return Layout(name, tuple(sorted(trees, key=_rank)))


def _rank(tree: Tree) -> int:
    """Have the redo log last; where it has no dataset, it lies with the data."""
    names = {member.name for member in tree.members}
    return 2 if f"{tree.root}/redo" in names else 1 if f"{tree.root}/data" in names else 0


def read_all(host: Host, layout: Layout) -> tuple[Snapshot, ...]:
    """Read the snapshots of all datasets of a layout, whoever took them."""
    return tuple(one for tree in layout.trees for one in read_snapshots(host, tree.root))


def taken_by_zmysql(snapshots: Iterable[Snapshot]) -> tuple[LayoutSnapshot, ...]:
    """Give the snapshots of the layout that zmysql took, oldest first."""
    of_name: dict[str, list[Snapshot]] = {}
    for snapshot in snapshots:
        if KIND_MARK in snapshot.marks:
            of_name.setdefault(snapshot.name, []).append(snapshot)
    found = [LayoutSnapshot(name, tuple(parts)) for name, parts in of_name.items()]
    return tuple(sorted(found, key=lambda one: (one.created_s, one.name)))


def find(layout: Layout, snapshots: Iterable[Snapshot], name: str) -> LayoutSnapshot:
    """Give a snapshot that zmysql took of a layout.

    Raises ZmysqlError when there is none of that name, or somebody else took it, or a part of it.
    """
    named = [snapshot for snapshot in snapshots if snapshot.name == name]
    if not named:
        raise ZmysqlError(f"{layout.name} has no snapshot {name}: see `zmysql snapshot list {layout.name}`")
    foreign = [snapshot.full_name for snapshot in named if KIND_MARK not in snapshot.marks]
    if foreign:
        raise ZmysqlError(f"{foreign[0]} wasn't taken by zmysql, so it is left alone: use zfs(8) for it")
    return LayoutSnapshot(name, tuple(named))

"""Roll a layout back: all its datasets, while nobody uses them.

Within a pool all datasets are rolled back in one transaction (roll-back.lua), for which they are unmounted. That also
keeps servers out: the kernel doesn't unmount what is in use, and nobody starts on what isn't mounted. Two pools are
rolled back one after the other. Should this end between them, all stays unmounted, a mark says so, and the next call
finishes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.platforms.system import system_of
from zmysql.snapshot.model import ROLLBACK_MARK, Kind, Layout, LayoutSnapshot, Member, Refusal
from zmysql.zfs.snapshot import (
    Snapshot,
    clear_mark_argv,
    read_bookmarks,
    read_holds,
    roll_back_argv,
    set_mark_argv,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zmysql.host import Host
    from zmysql.platforms.open_files import Opener
    from zmysql.snapshot.job import Job
    from zmysql.zfs.commands import Argv

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Newer:
    """What is newer than the snapshot to go back to: snapshots and bookmarks, and the tags that hold any."""

    snapshots: tuple[Snapshot, ...]
    bookmarks: tuple[str, ...]
    holds: Mapping[str, tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """All of them by full name."""
        return (*(one.full_name for one in self.snapshots), *self.bookmarks)

    def in_pool(self, pool: str) -> tuple[str, ...]:
        """Give the snapshots in one pool by full name."""
        return tuple(one.full_name for one in self.snapshots if one.pool == pool)


def read_newer(host: Host, layout: Layout, wanted: LayoutSnapshot, snapshots: Iterable[Snapshot]) -> Newer:
    """Find what is newer than a snapshot on its datasets, whoever made it."""
    txg_of = {part.dataset: part.txg for part in wanted.parts}
    newer = tuple(one for one in snapshots if one.dataset in txg_of and one.txg > txg_of[one.dataset])
    bookmarks = read_bookmarks(host, [tree.root for tree in layout.trees])
    later = tuple(name for name, txg in bookmarks.items() if txg > txg_of.get(name.partition("#")[0], txg))
    return Newer(newer, later, read_holds(host, [one.full_name for one in newer if one.holds]))


def read_openers(host: Host, layout: Layout) -> tuple[Opener, ...]:
    """Find the processes that use the datasets of a layout."""
    mountpoints = [member.mountpoint for member in layout.members if member.mounted and member.mountpoint]
    return system_of(host).open_by(host, mountpoints)


def against_rollback(
    layout: Layout, wanted: LayoutSnapshot, newer: Newer, *, destroy_newer: bool, inconsistent: bool
) -> tuple[Refusal, ...]:
    """Say why a layout can't be rolled back to a snapshot; `destroy_newer` and `inconsistent` are what is allowed."""
    name = wanted.name
    found = list(_against_snapshot(layout, wanted, inconsistent=inconsistent))
    if layout.rolling_back_to not in {None, name}:
        way_out = f"finish that first: `zmysql snapshot rollback {layout.name} {layout.rolling_back_to}`"
        found.append(Refusal(layout.name, f"a rollback to {layout.rolling_back_to} was interrupted", way_out))
    found += [
        Refusal(member.name, "it is mounted by other means than zfs(8)", "unmount it with umount(8)")
        for member in layout.members
        if member.mounted and not member.mountpoint
    ]
    if newer.names and not destroy_newer:
        why = f"newer snapshots would be destroyed ({_shortly(newer)})"
        found.append(Refusal(name, why, "take a newer one, or allow it with --allow-destroy-newer"))
        return tuple(found)
    for held, tags in newer.holds.items():
        way_out = f"`zfs release {tags[0]} {held}` first, if it may go"
        found.append(Refusal(held, f"it is newer and held by {', '.join(tags)}", way_out))
    found += [
        Refusal(one.full_name, f"it is newer and has clones: {', '.join(one.clones)}", "see zfs-promote(8)")
        for one in newer.snapshots
        if one.clones
    ]
    return tuple(found)


def _shortly(newer: Newer) -> str:
    """Name what is newer, each name once, and not more than a line takes."""
    snapshots = (f"@{one.name}" for one in newer.snapshots)
    bookmarks = (f"#{name.partition('#')[2]}" for name in newer.bookmarks)
    names = list(dict.fromkeys((*snapshots, *bookmarks)))
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])


def _against_snapshot(layout: Layout, wanted: LayoutSnapshot, *, inconsistent: bool) -> Iterable[Refusal]:
    if wanted.kind in {Kind.UNCONFIRMED, Kind.NOT_ATOMIC} and not inconsistent:
        why = (
            "nobody knows whether the database in it is whole"
            if wanted.kind is Kind.UNCONFIRMED
            else ("its pools were taken one after the other, so data and redo log may not fit")
        )
        yield Refusal(wanted.name, f"it is {wanted.kind}: {why}", "take another, or allow it with --allow-inconsistent")
    for pool in wanted.incomplete_pools:
        yield Refusal(wanted.name, f"parts of it are gone from {pool}", "take another")
    datasets = {part.dataset for part in wanted.parts}
    for member in layout.members:
        if member.name not in datasets:
            way_out = f"rename or destroy it, if there is nothing of MySQL's in it: `zfs rename {member.name} …`"
            yield Refusal(
                member.name, f"it is younger than {wanted.name}, so it can't go back with the others", way_out
            )


def against_openers(layout: Layout, openers: Iterable[Opener]) -> tuple[Refusal, ...]:
    """Say which processes use the layout."""
    places: dict[str, list[str]] = {}
    for opener in openers:
        places.setdefault(f"{opener.program} (process {opener.pid})", []).append(opener.mountpoint)
    return tuple(
        Refusal(layout.name, f"{process} uses {', '.join(where)}", "shut it down first")
        for process, where in places.items()
    )


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """The commands of a rollback, in order; `programs` are the ones that roll back, by pool."""

    mark: Argv
    unmount: tuple[Argv, ...]
    forget: tuple[Argv, ...]
    programs: Mapping[str, Argv]
    mount: tuple[Argv, ...]
    clear: Argv

    @property
    def steps(self) -> tuple[Argv, ...]:
        """All of them."""
        return (self.mark, *self.unmount, *self.forget, *self.programs.values(), *self.mount, self.clear)


def plan_rollback(layout: Layout, wanted: LayoutSnapshot, newer: Newer) -> RollbackPlan:
    """Plan a rollback, or the rest of one."""
    roots = [tree.root for tree in layout.trees]
    mounted = [member for member in layout.members if member.mounted]
    resumed = layout.rolling_back_to is not None
    to_mount = [member for member in layout.members if member in mounted or (resumed and _would_mount(member))]
    return RollbackPlan(
        mark=set_mark_argv(roots, ROLLBACK_MARK, wanted.name),
        unmount=tuple(("zfs", "unmount", member.name) for member in sorted(mounted, key=_depth, reverse=True)),
        forget=tuple(("zfs", "destroy", bookmark) for bookmark in newer.bookmarks),
        programs={tree.pool: roll_back_argv(wanted.in_tree(tree), newer.in_pool(tree.pool)) for tree in layout.trees},
        mount=tuple(("zfs", "mount", member.name) for member in sorted(to_mount, key=_depth)),
        clear=clear_mark_argv(roots, ROLLBACK_MARK),
    )


def roll_back(job: Job, wanted: LayoutSnapshot, newer: Newer, plan: RollbackPlan) -> None:
    """Roll back.

    Raises ZmysqlError when it can't be done, or somebody interrupts it; the message says how far it got.
    """
    rolled: list[str] = []
    job.run(plan.mark)
    try:
        for argv in (*plan.unmount, *plan.forget):
            job.run(argv)
        for tree in job.layout.trees:
            job.say(plan.programs[tree.pool])
            job.calls.roll_back(wanted.in_tree(tree), newer.in_pool(tree.pool))
            rolled.append(tree.pool)
        for argv in (*plan.mount, plan.clear):
            job.run(argv)
    except (ZmysqlError, KeyboardInterrupt) as error:
        raise ZmysqlError(f"{str(error) or 'interrupted'}; {_after_failure(job, plan, rolled)}") from None


def _after_failure(job: Job, plan: RollbackPlan, rolled: list[str]) -> str:
    """Leave things as they were if nothing was rolled back, and as safe as they can be otherwise; say which."""
    again = f"`zmysql snapshot rollback {job.layout.name} {job.name}` finishes it"
    if not rolled and job.layout.rolling_back_to is None:
        failed = [one for argv in plan.mount if (one := job.host.run(argv, check=False)).exit_status]
        stuck = [" ".join(one.argv) for one in failed if "already mounted" not in one.stderr]
        job.host.run(plan.clear, check=False)
        return "nothing was rolled back" + (f", but this must be mounted again: {'; '.join(stuck)}" if stuck else "")
    left = [tree.pool for tree in job.layout.trees if tree.pool not in rolled]
    if not left:
        return f"all of {job.layout.name} is rolled back, but not all of it mounted: {again}"
    done = f"{' '.join(rolled)} is rolled back" if rolled else "this run rolled nothing back, the one before may have"
    return f"{done}, {' '.join(left)} isn't; what is unmounted stays so, that no server starts on a mixture: {again}"


def _would_mount(member: Member) -> bool:
    return member.mounts_itself and member.mountpoint is not None


def _depth(member: Member) -> tuple[int, str]:
    return (member.mountpoint or "").count("/"), member.name

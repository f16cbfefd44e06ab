"""Hold, release and destroy the snapshots that zmysql took of a layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.snapshot.model import LayoutSnapshot, Refusal
from zmysql.zfs.snapshot import SnapshotSet, destroy_argv, hold_argv, release_argv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zmysql.snapshot.job import Job
    from zmysql.snapshot.model import Layout

    Holds = Mapping[str, tuple[str, ...]]


def against_destroy(layout: Layout, wanted: LayoutSnapshot, holds: Holds) -> tuple[Refusal, ...]:
    """Say why a snapshot can't be destroyed."""
    found = []
    for tag in dict.fromkeys(tag for tags in holds.values() for tag in tags):
        way_out = f"`zmysql snapshot release {layout.name} {wanted.name} {tag}` first"
        found.append(Refusal(wanted.name, f"it is held by {tag}", way_out))
    for part in wanted.parts:
        if part.clones:
            way_out = "destroy them first, or see zfs-promote(8)"
            found.append(Refusal(part.full_name, f"it has clones: {', '.join(part.clones)}", way_out))
    return tuple(found)


def to_hold(layout: Layout, wanted: LayoutSnapshot, holds: Holds, tag: str) -> tuple[SnapshotSet, ...]:
    """Give what of a snapshot isn't held by a tag yet, pool by pool; none when all is."""
    sets = (wanted.in_tree(tree) for tree in layout.trees)
    return tuple(one for one in sets if not all(tag in holds.get(name, ()) for name in one.full_names))


def to_release(layout: Layout, wanted: LayoutSnapshot, holds: Holds, tag: str) -> tuple[SnapshotSet, ...]:
    """Give what of a snapshot is held by a tag, pool by pool; none when nothing is."""
    sets = (wanted.in_tree(tree) for tree in layout.trees)
    return tuple(one for one in sets if any(tag in holds.get(name, ()) for name in one.full_names))


def to_destroy(layout: Layout, wanted: LayoutSnapshot) -> tuple[SnapshotSet, ...]:
    """Give what there is of a snapshot, pool by pool."""
    return tuple(one for tree in layout.trees if (one := wanted.in_tree(tree)).datasets)


def hold(job: Job, sets: tuple[SnapshotSet, ...], tag: str) -> None:
    """Hold them. Raises ZmysqlError; within a pool it is all or none."""
    for one in sets:
        job.say(hold_argv(one, tag))
        job.calls.hold(one, tag)


def release(job: Job, sets: tuple[SnapshotSet, ...], tag: str) -> None:
    """Release them. Raises ZmysqlError; within a pool it is all or none."""
    for one in sets:
        job.say(release_argv(one, tag))
        job.calls.release(one, tag)


def destroy(job: Job, sets: tuple[SnapshotSet, ...]) -> None:
    """Destroy them. Raises ZmysqlError; within a pool it is all or none."""
    for one in sets:
        job.say(destroy_argv(one))
        job.calls.destroy(one)

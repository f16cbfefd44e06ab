"""What can be changed in a pool that runs, as commands, and what can't, with the reason. Pure.

Nothing is ever taken away: a vdev or a dataset that the template doesn't know stays, and is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.zfs.commands import (
    Argv,
    add_vdevs,
    create_dataset,
    inherit_property,
    mount_dataset,
    set_pool_property,
    set_properties,
)
from zmysql.zfs.model import VdevRole
from zmysql.zfs.properties import type_of_dataset_property, type_of_pool_property
from zmysql.zfs.read import MARKS, STATE_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zmysql.layout.model import Difference
    from zmysql.zfs.model import Pool, Vdev

# What zpool-remove(8) takes out again, so that adding it is no decision for life.
ADDABLE = (VdevRole.LOG, VdevRole.CACHE, VdevRole.SPARE)

# Properties that hold for what is written from now on; what is written already stays as it is.
_FOR_NEW_BLOCKS = {
    "recordsize": "files already written keep their records: load the tables again, or copy the files",
    "compression": "what is written already stays as it is",
    "special_small_blocks": "what is written already stays where it is",
    "redundant_metadata": "what is written already stays as it is",
}


@dataclass(frozen=True, slots=True)
class Stays:
    """A difference that can't be changed in a running pool, and what to do about it."""

    difference: Difference
    way_out: str

    def __str__(self) -> str:
        return f"{self.difference}: {self.way_out}"


@dataclass(frozen=True, slots=True)
class Changes:
    """The commands that bring a pool nearer to what is wanted, lines that explain them, and what stays."""

    steps: tuple[Argv, ...]
    reasons: tuple[str, ...]
    stays: tuple[Stays, ...]


def changes(
    wanted: Pool, actual: Pool, differences: Sequence[Difference], added: Sequence[Vdev], *, force: bool = False
) -> Changes:
    """Give what to run for the differences of a pool; `added` are vdevs that it gets, with -f where `force` says so."""
    steps, stays = list[Argv](), list[Stays]()
    for difference in differences:
        found = list(_steps(wanted, actual, difference))
        steps += found
        if not found and not _comes_with(added, difference):
            stays.append(Stays(difference, _way_out(difference)))
    if added:
        steps.append(add_vdevs(actual.name, added, force=force))
    reasons = [f"{one.of}: {one.what}: {note}" for one in differences if (note := _FOR_NEW_BLOCKS.get(one.what))]
    return Changes(tuple(steps), tuple(reasons), tuple(stays))


def _steps(wanted: Pool, actual: Pool, difference: Difference) -> Iterator[Argv]:
    """Give the commands that mend one difference; none where that can't be done in a running pool."""
    of, what = difference.of, difference.what
    if what in MARKS:
        # How far the making got is written when all else is done.
        if what != STATE_MARK and difference.wanted is not None:
            yield set_properties(of, {what: difference.wanted})
        elif what != STATE_MARK:
            yield inherit_property(of, what)
    elif what == "dataset":
        yield create_dataset(next(one for one in wanted.datasets if one.name == of))
    elif what == "mounted":
        yield mount_dataset(of)
    elif what in type_of_dataset_property and difference.wanted is not None:
        dataset = wanted.dataset(of)
        if dataset is not None and what in dataset.properties:
            yield set_properties(of, {what: difference.wanted})
        else:
            # The template leaves it to the root, so what is set here goes.
            yield inherit_property(of, what)
    elif of == actual.name and what in type_of_pool_property and what != "ashift" and difference.wanted is not None:
        yield set_pool_property(of, what, difference.wanted)


def _comes_with(added: Sequence[Vdev], difference: Difference) -> bool:
    """Tell whether a difference is gone once these vdevs are added."""
    return any(difference.what in {f"{vdev.role} vdev", f"{vdev.role} vdevs"} for vdev in added) and bool(
        difference.wanted
    )


def _way_out(difference: Difference) -> str:
    if difference.what == "ashift":
        return "a vdev keeps its ashift for life: make a new pool, and `zfs send` the data there"
    if difference.what == "mountpoint":
        return f"stop mysqld, then `zfs set mountpoint={difference.wanted} {difference.of}`"
    if difference.what == "state":
        return f"see `zpool status {difference.of}`"
    if difference.wanted is None:
        return "it is left alone"
    if difference.what.startswith("special"):
        return "`zpool add` it yourself: only new blocks go there, and beside RAIDZ it can never be removed again"
    return "make a new pool, and `zfs send` the data there"

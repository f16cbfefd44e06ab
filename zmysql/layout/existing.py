"""What to do about a pool that is there already: nothing, finish it, or say what differs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.layout.check import compare, compare_with_template, only_unfinished, state_of, template_of
from zmysql.layout.model import Assignment, Difference, Plan, Refusal
from zmysql.layout.plan import COMPLETE, being_made, completion_plan, wanted_pool
from zmysql.layout.roles import resolve
from zmysql.zfs.read import TEMPLATE_MARK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zmysql.layout.inventory import Site
    from zmysql.layout.model import Inventory, Template
    from zmysql.layout.roles import Named
    from zmysql.platforms.device import Device
    from zmysql.zfs.model import Pool, VdevRole


@dataclass(frozen=True, slots=True)
class Existing:
    """The pool as it is, against what is wanted. Without differences and without a plan there is nothing to do."""

    disks: Mapping[VdevRole, tuple[Device, ...]]
    differences: tuple[Difference, ...] = ()
    plan: Plan | None = None


def judge(
    template: Template, inventory: Inventory, actual: Pool, named: Named, site: Site
) -> Existing | tuple[Refusal, ...]:
    """Compare a pool with a template, and with the disks if any are named; plan what an interrupted run left undone.

    A pool that zmysql didn't make is refused.
    """
    if site.making_pid is not None:
        return (being_made(actual.name, site.making_pid),)
    made_from = template_of(actual)
    if made_from is None:
        return (
            Refusal(actual.name, "this pool exists and zmysql didn't make it", "it is left alone: take another name"),
        )
    if made_from != template.name:
        return Existing(
            _disks_of(actual, inventory),
            (Difference(actual.name, TEMPLATE_MARK, template.name, made_from),),
        )
    if any(named.values()):
        assignment = resolve(template.name, template.pool, inventory, named)
        if not isinstance(assignment, Assignment):
            return assignment
        disks = assignment.disks
        wanted = wanted_pool(actual.name, template, disks)
        differences = compare(wanted, actual, inventory)
    else:
        disks = _disks_of(actual, inventory)
        wanted = wanted_pool(actual.name, template, disks)
        differences = compare_with_template(template.pool, wanted, actual, inventory)
    if state_of(actual) != COMPLETE and only_unfinished(differences):
        return Existing(disks, differences, completion_plan(template, wanted, actual, site))
    return Existing(disks, differences)


def _disks_of(pool: Pool, inventory: Inventory) -> dict[VdevRole, tuple[Device, ...]]:
    disks: dict[VdevRole, tuple[Device, ...]] = {}
    for vdev in pool.vdevs:
        found = (inventory.carrying(path) for path in vdev.disks)
        disks[vdev.role] = (*disks.get(vdev.role, ()), *(device for device in found if device))
    return disks

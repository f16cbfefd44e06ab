"""What to do about a pool that is there already: nothing, finish it, change it, or say what differs. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.layout.compare import (
    compare,
    compare_with_template,
    missing_vdevs,
    only_unfinished,
    state_of,
    template_of,
)
from zmysql.layout.model import Assignment, Difference, Plan, Refusal
from zmysql.layout.plan import COMPLETE, being_made, completion_plan, directories, hand_over, wanted_pool
from zmysql.layout.reconcile import ADDABLE, changes
from zmysql.layout.roles import assign, resolve
from zmysql.layout.rules.case import Case
from zmysql.layout.rules.ruling import ruling
from zmysql.zfs.commands import set_properties
from zmysql.zfs.read import LAYOUT_MARK, SETTINGS_MARK, STATE_MARK, TEMPLATE_MARK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zmysql.layout.inventory import Site
    from zmysql.layout.model import Inventory, PoolSpec, Request
    from zmysql.layout.reconcile import Stays
    from zmysql.platforms.device import Device
    from zmysql.zfs.model import Pool, Vdev, VdevRole


@dataclass(frozen=True, slots=True)
class Existing:
    """The pool as it is, against what is wanted. Without differences and without a plan there is nothing to do.

    `stays` are the differences that a plan doesn't change.
    """

    disks: Mapping[VdevRole, tuple[Device, ...]]
    differences: tuple[Difference, ...] = ()
    plan: Plan | None = None
    stays: tuple[Stays, ...] = ()


@dataclass(frozen=True, slots=True)
class _Compared:
    """A pool, what is wanted of it, made of which disks, and how it differs."""

    actual: Pool
    disks: Mapping[VdevRole, tuple[Device, ...]]
    wanted: Pool
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class _Additions:
    """The vdevs that a running pool gets, their disks, and whether zpool add takes them with -f only."""

    assignment: Assignment
    vdevs: tuple[Vdev, ...]
    force: bool


def judge(
    request: Request, spec: PoolSpec, inventory: Inventory, actual: Pool, site: Site
) -> Existing | tuple[Refusal, ...]:
    """Compare a pool with a template, and with the disks if any are named; plan what an interrupted run left undone.

    `spec` is what `fit` leaves of the template's on this host. When the pool is to be reconciled, plan all that can be
    changed in a running pool. A pool of somebody else's is refused.
    """
    if refusal := _not_ours(request, actual, site):
        return (refusal,)
    marks = _marks(request, actual)
    if any(one.what == TEMPLATE_MARK for one in marks) and not request.reconcile:
        return Existing(_disks_of(actual, inventory), marks)
    found = _compared(request, spec, inventory, actual)
    if not isinstance(found, _Compared):
        return found
    found = replace(found, differences=(*marks, *found.differences))
    if state_of(actual) != COMPLETE and only_unfinished(found.differences):
        plan = completion_plan(request.template, found.wanted, actual, site)
        return Existing(found.disks, found.differences, plan)
    if request.reconcile and found.differences:
        return _reconciled(request, spec, inventory, found, site)
    return Existing(found.disks, found.differences)


def _reconciled(
    request: Request, spec: PoolSpec, inventory: Inventory, found: _Compared, site: Site
) -> Existing | tuple[Refusal, ...]:
    """Plan the changes that a running pool takes."""
    actual = found.actual
    added = _additions(request, spec, inventory, found, site)
    if not isinstance(added, _Additions):
        return added
    change = changes(found.wanted, actual, found.differences, added.vdevs, force=added.force)
    there = {dataset.name for dataset in actual.datasets}
    owned = directories(
        replace(found.wanted, datasets=tuple(one for one in found.wanted.datasets if one.name not in there))
    )
    steps = (
        *change.steps,
        *(hand_over(owned) if owned and site.has_mysql_user else ()),
        *(() if state_of(actual) == COMPLETE else (set_properties(actual.name, {STATE_MARK: COMPLETE}),)),
    )
    plan = Plan(
        template=request.template.name,
        wanted=found.wanted,
        disks=added.assignment.disks,
        steps=steps,
        reasons=(*added.assignment.reasons, *change.reasons),
    )
    return Existing(found.disks, found.differences, plan if change.steps else None, change.stays)


def _not_ours(request: Request, actual: Pool, site: Site) -> Refusal | None:
    if site.making_pid is not None:
        return being_made(actual.name, site.making_pid)
    if template_of(actual) is None:
        return Refusal(actual.name, "this pool exists and zmysql didn't make it", "it is left alone: take another name")
    layout = actual.property_of_root(LAYOUT_MARK) or actual.name
    if layout != request.layout:
        return Refusal(actual.name, f"this pool belongs to the layout {layout}", "it is left alone: take another name")
    return None


def _marks(request: Request, actual: Pool) -> tuple[Difference, ...]:
    """Give what the pool says of where it comes from, where that differs."""
    wanted = {TEMPLATE_MARK: request.template.name, SETTINGS_MARK: " ".join(request.template.settings) or None}
    return tuple(
        Difference(actual.name, mark, value, actual.property_of_root(mark))
        for mark, value in wanted.items()
        if actual.property_of_root(mark) != value
    )


def _compared(request: Request, spec: PoolSpec, inventory: Inventory, actual: Pool) -> _Compared | tuple[Refusal, ...]:
    if not any(request.named_for(spec).values()):
        disks = _disks_of(actual, inventory)
        wanted = wanted_pool(request.layout, spec, disks)
        return _Compared(actual, disks, wanted, compare_with_template(spec, wanted, actual, inventory))
    assignment = resolve(request.template.name, spec, inventory, request.named_for(spec))
    if not isinstance(assignment, Assignment):
        return assignment
    wanted = wanted_pool(request.layout, spec, assignment.disks)
    return _Compared(actual, assignment.disks, wanted, compare(wanted, actual, inventory))


def _additions(
    request: Request, spec: PoolSpec, inventory: Inventory, found: _Compared, site: Site
) -> _Additions | tuple[Refusal, ...]:
    """Give the vdevs that can be added to a running pool: of named disks, or of free ones where a role has none."""
    named: dict[VdevRole, list[str]] = {}
    if any(request.named_for(spec).values()):
        for vdev in missing_vdevs(found.wanted, found.actual, inventory):
            named.setdefault(vdev.role, []).extend(vdev.disks)
        lacking = set(named)
    else:
        lacking = {role.role for role in spec.roles if len(found.actual.with_role(role.role)) < role.min_vdevs}
    addable = replace(spec, roles=tuple(role for role in spec.roles if role.role in lacking & set(ADDABLE)))
    if not addable.roles:
        return _Additions(Assignment({}, ()), (), force=False)
    named = {role: names for role, names in named.items() if role in ADDABLE}
    assignment = assign(request.template.name, addable, inventory, named)
    if not isinstance(assignment, Assignment):
        return assignment
    judged = ruling(Case(addable, assignment.disks, site), request.allow)
    assignment = replace(assignment, reasons=(*assignment.reasons, *judged.reasons))
    vdevs = wanted_pool(request.layout, addable, assignment.disks).vdevs
    return judged.refusals or _Additions(assignment, vdevs, judged.force)


def _disks_of(pool: Pool, inventory: Inventory) -> dict[VdevRole, tuple[Device, ...]]:
    disks: dict[VdevRole, tuple[Device, ...]] = {}
    for vdev in pool.vdevs:
        found = (inventory.carrying(path) for path in vdev.disks)
        disks[vdev.role] = (*disks.get(vdev.role, ()), *(device for device in found if device))
    return disks

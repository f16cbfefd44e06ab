"""What to do about a whole layout: each of its pools is made, finished, changed, or left as it is. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zmysql.layout.existing import Existing, judge
from zmysql.layout.fit import fit
from zmysql.layout.inventory import without
from zmysql.layout.model import Allow, Plan, Refusal
from zmysql.layout.plan import make_plan
from zmysql.platforms.device import UseKind

if TYPE_CHECKING:
    from zmysql.layout.inventory import Seen
    from zmysql.layout.model import Inventory, PoolSpec, Request


def decide(request: Request, seen: Seen) -> dict[str, Existing] | tuple[Refusal, ...]:
    """Give what to do about each pool of a layout, in the order in which it is to be done; or why nothing can be.

    Disks that one pool takes aren't there for the next.
    """
    if refusals := _unnamed(request, seen):
        return refusals
    found, against = dict[str, Existing](), list[Refusal]()
    inventory = seen.inventory
    for spec in request.template.pools:
        name = spec.name_of_pool(request.layout)
        decided = _decide_one(request, spec, inventory, seen)
        if isinstance(decided, Existing):
            found[name] = decided
            inventory = without(inventory, decided.plan.devices if decided.plan else ())
        else:
            # Where there are several pools, `data` alone doesn't say whose.
            of = f"{name}: " if len(request.template.pools) > 1 else ""
            against += (replace(one, about=f"{of}{one.about}") for one in decided)
    return tuple(against) or found


def _decide_one(request: Request, spec: PoolSpec, inventory: Inventory, seen: Seen) -> Existing | tuple[Refusal, ...]:
    name, named = spec.name_of_pool(request.layout), request.named_for(spec)
    if name in seen.actual:
        fitted = fit(spec, seen.sites[name].zfs)
        return fitted.refusals or judge(request, fitted.spec, inventory, seen.actual[name], seen.sites[name])
    if Allow.IN_USE not in request.allow and (refusal := _not_imported(name, inventory)):
        return (refusal,)
    plan = make_plan(request.layout, request.template, spec, inventory, named, seen.sites[name], request.allow)
    return Existing(plan.disks, plan=plan) if isinstance(plan, Plan) else plan


def _not_imported(name: str, inventory: Inventory) -> Refusal | None:
    """Refuse to make a pool when disks say that they belong to one of that name, which isn't imported.

    After a power cut that may well be the one that was being made; a second one of its name would hide it.
    """
    labelled = [
        device.name
        for device in inventory.devices
        if any(use.kind is UseKind.LABEL and use.pool == name for use in device.used_by)
    ]
    if not labelled:
        return None
    way_out = f"`zpool import {name}` and run again; if `zpool import` doesn't list it, clear these labels"
    return Refusal(
        name, f"{' '.join(labelled)} belong to a pool of this name that isn't imported", way_out, Allow.IN_USE
    )


def _unnamed(request: Request, seen: Seen) -> tuple[Refusal, ...]:
    """Refuse disks named for some of the pools that are to be made, and none for another.

    Naming one disk turns automatic choice off, and that holds for the whole layout.
    """
    if not any(any(named.values()) for named in request.named.values()):
        return ()
    lacking = [
        spec
        for spec in request.template.pools
        if spec.name_of_pool(request.layout) not in seen.actual and not any(request.named_for(spec).values())
    ]
    return tuple(
        Refusal(
            spec.name_of_pool(request.layout),
            "disks are named, and none for this pool",
            f"name its disks too, as in --data {spec.key}:sdb" if spec.key else "name its disks too, with --data",
        )
        for spec in lacking
    )

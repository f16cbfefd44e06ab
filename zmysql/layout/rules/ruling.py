"""All rules over one case: what is refused, what a person lifted, and whether `zpool create` then needs -f."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.layout.model import NOTHING_ALLOWED, Allow, Refusal
from zmysql.layout.rules import disks, redundancy, sectors, sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zmysql.layout.rules.case import Case

_RULES = (
    disks.usable,
    disks.each_once,
    disks.right_class,
    disks.whole_vdevs,
    disks.equal_sizes,
    redundancy.survives_a_disk,
    redundancy.alike,
    redundancy.narrow,
    sectors.fit_ashift,
    sizes.data_size,
    sizes.special_size,
    sizes.log_size,
    sizes.l2arc_headers,
    sizes.l2arc_persistence,
    sizes.spare_size,
)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules say of a case. `force` is whether zpool create refuses it without -f."""

    refusals: tuple[Refusal, ...]
    reasons: tuple[str, ...]
    force: bool


def ruling(case: Case, allow: frozenset[Allow] = NOTHING_ALLOWED) -> Ruling:
    """Judge a case by every rule. What a person allows becomes a line that says so."""
    found = [one for rule in _RULES for one in rule(case)]
    refusals = tuple(one for one in found if isinstance(one, Refusal) and one.allow not in allow)
    lifted = [one for one in found if isinstance(one, Refusal) and one.allow in allow]
    reasons = (
        *(one for one in found if isinstance(one, str)),
        *(f"{one.about}: {one.why}{_loss(one)}: allowed with --allow-{one.allow}" for one in lifted),
    )
    objections = [*_in_use(lifted), *redundancy.zpool_objects(case)]
    if objections and not refusals:
        reasons = (*reasons, f"-f: zpool create takes {' and '.join(objections)} only so")
    return Ruling(refusals, reasons, force=bool(objections))


def _loss(lifted: Refusal) -> str:
    return ", and all that is on it will be lost" if lifted.allow is Allow.IN_USE else ""


def _in_use(lifted: Iterable[Refusal]) -> list[str]:
    return ["disks with something on them"] if any(one.allow is Allow.IN_USE for one in lifted) else []

"""What create-pool found and did, for a terminal, a script, and as JSON."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from zmysql.layout.plan import as_shell
from zmysql.report.output import output_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zmysql.layout.existing import Existing
    from zmysql.layout.model import Difference, Plan, Refusal
    from zmysql.zfs.model import VdevRole


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of a layout at the end.

    `pools` are in the order in which they are made. `left` are the differences that were read back after a plan ran,
    by pool; a pool that isn't in it was not touched. `failed` is why a step failed, where one did.
    """

    layout: str
    template: str
    dry_run: bool
    pools: Mapping[str, Existing] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    left: Mapping[str, tuple[Difference, ...]] = field(default_factory=dict)
    failed: str | None = None

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plans of the pools that have one, in order."""
        return tuple(pool.plan for pool in self.pools.values() if pool.plan)

    @property
    def nothing_to_do(self) -> bool:
        """Whether all is as wanted already."""
        return bool(self.pools) and not any(pool.plan or pool.differences for pool in self.pools.values())

    @property
    def done(self) -> bool:
        """Whether all plans ran to their end."""
        return bool(self.left) and len(self.left) == len(self.plans) and self.failed is None

    def differences(self, name: str) -> tuple[Difference, ...]:
        """Give what is now known to differ in a pool."""
        return self.left.get(name, self.pools[name].differences)

    @property
    def exit_status(self) -> int:
        """1 when something stands against the layout; what a plan adds is no failure while it is only looked at."""
        if self.refusals or self.failed:
            return 1
        differs = (
            self.differences(name) for name, pool in self.pools.items() if pool.plan is None or pool.stays or self.done
        )
        return 1 if any(differs) else 0


def as_text(outcome: Outcome) -> Iterator[str]:
    """Give the lines for standard output."""
    if outcome.dry_run:
        for plan in outcome.plans:
            yield from as_shell(plan).splitlines()
    if outcome.nothing_to_do:
        yield f"{outcome.layout} is as {outcome.template} wants it: nothing is to be done"
    if outcome.done and not any(outcome.left.values()):
        for name in outcome.left:
            did = "is created" if _creates(outcome.pools[name].plan) else "is changed"
            yield f"{name} {did} from {outcome.template} and was read back: all is as wanted"


def as_script(outcome: Outcome) -> Iterator[str]:
    """Give a line a step, pool and command separated by a tab, and a line a difference: of, what, wanted, actual."""
    for plan in outcome.plans:
        for step in plan.steps:
            yield f"{plan.wanted.name}\t{shlex.join(step)}"
    for name in outcome.pools:
        for one in outcome.differences(name):
            if name not in outcome.left and outcome.pools[name].plan:
                continue
            yield "\t".join((one.of, one.what, one.wanted or "-", one.actual or "-"))


def complaints(outcome: Outcome) -> Iterator[str]:
    """Give the lines for standard error: refusals, what differs and isn't changed, and the step that failed."""
    for refusal in outcome.refusals:
        yield f"zmysql: {refusal}"
    if outcome.failed:
        yield f"zmysql: {outcome.failed}"
    for name, pool in outcome.pools.items():
        ways = {stays.difference: stays.way_out for stays in pool.stays}
        differs = outcome.differences(name)
        # What a plan is about to add or has added is in the plan.
        if pool.plan and name not in outcome.left:
            differs = tuple(one for one in differs if one in ways)
        if not differs:
            continue
        if name in outcome.left:
            did = "was created, and differs" if _creates(pool.plan) else "was changed, and still differs"
        else:
            did = "exists and differs"
        what_now = "this can't be changed in a running pool" if ways else "nothing else is changed"
        yield f"zmysql: {name} {did} from what {outcome.template} wants; {what_now}:"
        for one in differs:
            yield f"  {one}: {ways[one]}" if one in ways else f"  {one}"
    if not outcome.failed and any(
        pool.differences and not (pool.plan or pool.stays) for pool in outcome.pools.values()
    ):
        yield "zmysql: --reconcile changes what can be changed in a running pool, -n --reconcile shows it"


def as_json(outcome: Outcome) -> dict[str, object]:
    """Give the outcome: the fields of the layout's first pool and of all, and each pool's own in `pools`."""
    first = next(iter(outcome.pools.values()), None)
    return {
        "output_version": output_version("create-pool"),
        "pool": outcome.layout,
        "template": outcome.template,
        "roles": _roles(first) if first else {},
        "plan": [list(step) for plan in outcome.plans for step in plan.steps],
        "reasons": [reason for plan in outcome.plans for reason in plan.reasons],
        "refusals": [asdict(refusal) for refusal in outcome.refusals],
        "differences": [asdict(one) for name in outcome.pools for one in outcome.differences(name)],
        "pools": [_pool(outcome, name) for name in outcome.pools],
        "nothing_to_do": outcome.nothing_to_do,
        "dry_run": outcome.dry_run,
        "done": outcome.done,
        "failed": outcome.failed,
    }


def _pool(outcome: Outcome, name: str) -> dict[str, object]:
    pool = outcome.pools[name]
    return {
        "pool": name,
        "roles": _roles(pool),
        "plan": [list(step) for step in pool.plan.steps] if pool.plan else [],
        "reasons": list(pool.plan.reasons) if pool.plan else [],
        "differences": [asdict(one) for one in outcome.differences(name)],
        "stays": [{**asdict(one.difference), "way_out": one.way_out} for one in pool.stays],
        "done": name in outcome.left,
    }


def _roles(pool: Existing) -> dict[VdevRole, list[str]]:
    return {role: [one.stable_path for one in devices] for role, devices in pool.disks.items()}


def _creates(plan: Plan | None) -> bool:
    return plan is not None and plan.steps[0][:2] == ("zpool", "create")

"""Rules that compare a pool with the template that it was created from."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from zmysql.check.facts import Need
from zmysql.check.model import Evidence, Hit, Severity, rule
from zmysql.layout.compare import compare_with_template, state_of
from zmysql.layout.plan import COMPLETE, hand_over
from zmysql.layout.reconcile import changes
from zmysql.zfs.read import STATE_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.check.facts import Facts, PoolFacts
    from zmysql.layout.model import Difference


def _differences(facts: Facts) -> Iterator[tuple[PoolFacts, Difference]]:
    for pool in facts.pools:
        if pool.wanted is not None and pool.spec is not None:
            for one in compare_with_template(pool.spec, pool.wanted, pool.pool, facts.inventory):
                yield pool, one


def _is_vdev(difference: Difference) -> bool:
    return difference.what.endswith(("vdev", "vdevs"))


@rule(
    Severity.WARNING,
    "The property isn't any more what the template gave it when the pool was created (`zmysql templates` has the "
    "reasons for each). If the change was meant, say so to the layout: zmysql create-pool --reconcile --set KEY=VALUE.",
    Need.TEMPLATE,
)
def property_drift(facts: Facts) -> Iterator[Hit]:
    """Look for properties of pools and datasets that differ from the template; the pool's state is another rule's."""
    for pool, one in _differences(facts):
        if _is_vdev(one) or one.what in {"dataset", "state"} or pool.wanted is None:
            continue
        change = changes(pool.wanted, pool.pool, (one,), ())
        stays = change.stays[0].way_out if change.stays else None
        note = change.reasons[0].rsplit(": ", 1)[-1] if change.reasons else None
        is_of_pool = one.what in pool.pool.properties
        command = "zpool get" if is_of_pool else "zfs get"
        evidence = Evidence(
            f"{one.what}={one.actual}, the template's is {one.wanted}", f"{command} {one.what} {one.of}"
        )
        yield Hit(one.of, evidence, change.steps, stays or note, about=one.what)


@rule(
    Severity.WARNING,
    "The template made this dataset, and it is gone: what was to lie there fills another, or mysqld doesn't start.",
    Need.TEMPLATE,
)
def dataset_missing(facts: Facts) -> Iterator[Hit]:
    """Look for datasets of the template that aren't there."""
    for pool, one in _differences(facts):
        if one.what == "dataset" and pool.wanted is not None:
            steps = changes(pool.wanted, pool.pool, (one,), ()).steps
            # It belongs to whom the others belong.
            owned = hand_over((f"/{one.of}",)) if one.of.count("/") > 1 else ()
            evidence = Evidence(f"no dataset {one.of}", f"zfs list -r {pool.name}")
            yield Hit(one.of, evidence, (*steps, *owned))


@rule(
    Severity.WARNING,
    "The vdevs aren't any more what the template laid out: what it is good for holds for its own vdevs only.",
    Need.TEMPLATE,
)
def vdev_drift(facts: Facts) -> Iterator[Hit]:
    """Look for vdevs that the template doesn't have, or that are missing, or of another shape."""
    for _, one in _differences(facts):
        if not _is_vdev(one) or facts.template is None:
            continue
        evidence = Evidence(
            f"{one.what}: {one.actual or 'none'}; the template's: {one.wanted or 'none'}", f"zpool status {one.of}"
        )
        again = shlex.join(("zmysql", "create-pool", facts.layout, "-t", facts.template.name, "--reconcile", "-n"))
        then = f"{again} shows what can be changed while the pool runs"
        yield Hit(one.of, evidence, then=then, about=one.what.removesuffix("s"))


@rule(
    Severity.WARNING,
    "An earlier create-pool began this pool and didn't finish it: datasets may be missing, or not mysqld's own.",
    Need.TEMPLATE,
)
def unfinished(facts: Facts) -> Iterator[Hit]:
    """Look for a pool that doesn't say of itself that it is complete."""
    for pool in facts.pools:
        state = state_of(pool.pool)
        if state != COMPLETE and facts.template is not None:
            settings = [word for setting in facts.template.settings for word in ("--set", setting)]
            again = ("zmysql", "create-pool", facts.layout, "-t", facts.template.name, *settings, "-y")
            evidence = Evidence(f"{STATE_MARK}={state or 'none'}", f"zfs get {STATE_MARK} {pool.name}")
            yield Hit(pool.name, evidence, (again,))


RULES = (property_drift, dataset_missing, vdev_drift, unfinished)

"""From a template and disks to the exact commands. Pure: what it needs of the host comes in as values."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, printable
from zmysql.layout.fit import fit
from zmysql.layout.model import NOTHING_ALLOWED, Plan, Refusal
from zmysql.layout.roles import assign
from zmysql.layout.rules.case import Case
from zmysql.layout.rules.ruling import ruling
from zmysql.layout.rules.sectors import ashift_of
from zmysql.zfs.commands import create_dataset, create_pool, set_properties
from zmysql.zfs.model import Dataset, Pool, Vdev
from zmysql.zfs.read import LAYOUT_MARK, SETTINGS_MARK, STATE_MARK, TEMPLATE_MARK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zmysql.layout.inventory import Site
    from zmysql.layout.model import Allow, Assignment, Inventory, PoolSpec, Template
    from zmysql.layout.roles import Named
    from zmysql.platforms.device import Device
    from zmysql.zfs.commands import Argv
    from zmysql.zfs.model import VdevRole

# How far the making of a pool got. A run that takes over an unfinished pool says so, and thereby tells the run that
# created it, should that still be alive, to keep its hands off: only `creating` may be destroyed again.
CREATING, COMPLETING, COMPLETE = "creating", "completing", "complete"

# All datasets hang under POOL/mysql: one recursive snapshot takes them at one instant, one `zfs allow` covers them.
CONTAINER = "mysql"

# zpool-create(8) also takes blanks in a name, which nobody who writes shell scripts wants.
_POOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]*")
_RESERVED = re.compile(r"(mirror|raidz|draid|spare).*|log|c[0-9].*")
_LONGEST_NAME = 200  # ZFS_MAX_DATASET_NAME_LEN is 256, less what comes after the pool's name


def check_pool_name(name: str) -> str:
    """Give the name back when ZFS takes it for a pool.

    Raises UsageError otherwise.
    """
    if not _POOL_NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise UsageError(f"{name!r} is no pool name: begin with a letter, go on with letters, digits, _ - . or :")
    if _RESERVED.fullmatch(name):
        raise UsageError(
            f"{name!r} is reserved by ZFS, as log and all that begins with mirror, raidz, draid, spare or c0-c9"
        )
    return name


def make_plan(  # noqa: PLR0917 - all that a plan depends on, and nothing hidden
    name: str,
    template: Template,
    spec: PoolSpec,
    inventory: Inventory,
    named: Named,
    site: Site,
    allow: frozenset[Allow] = NOTHING_ALLOWED,
) -> Plan | tuple[Refusal, ...]:
    """Give the plan for one pool of a template that isn't there yet, or every reason against it.

    `name` is that of the layout, which the first pool of a template has too.
    """
    pool_name = spec.name_of_pool(name)
    if site.making_pid is not None:
        return (being_made(pool_name, site.making_pid),)
    fitted = fit(spec, site.zfs)
    spec, refusals = fitted.spec, fitted.refusals
    if site.mountpoint_is_taken:
        why = "the pool would mount there, and it holds files"
        refusals = (*refusals, Refusal(f"/{pool_name}", why, "move them, or give the pool another name"))
    assignment = assign(template.name, spec, inventory, named)
    if isinstance(assignment, tuple):
        return (*assignment, *refusals)
    judged = ruling(Case(spec, assignment.disks, site), allow)
    if judged.refusals or refusals:
        return (*judged.refusals, *refusals)
    wanted = wanted_pool(name, spec, assignment.disks)
    root, *others = wanted.datasets
    marked = Dataset(root.name, {**root.properties, **_marks(name, template)})
    steps = (
        create_pool(replace(wanted, datasets=(marked,)), force=judged.force),
        *(create_dataset(dataset) for dataset in others),
        *_last_steps(wanted, site),
    )
    reasons = (*assignment.reasons, *fitted.reasons, *_name_reasons(assignment, wanted), *judged.reasons)
    return Plan(template.name, wanted, assignment.disks, steps, (*reasons, *_site_reasons(wanted, site)))


def being_made(name: str, pid: int) -> Refusal:
    """Say that another process makes this pool at this moment."""
    why = f"process {pid} runs `zpool create` for it, of another create-pool or of one that was killed"
    return Refusal(name, why, "wait for it to end, then run again")


def completion_plan(template: Template, wanted: Pool, actual: Pool, site: Site) -> Plan:
    """Give the plan that finishes a pool of ours: the datasets that it lacks, and what comes after them."""
    there = {dataset.name: dataset.properties for dataset in actual.datasets}
    unmounted = [name for name, properties in there.items() if properties.get("mounted") == "no"]
    steps = (
        set_properties(wanted.name, {STATE_MARK: COMPLETING}),
        *(("zfs", "mount", name) for name in unmounted),
        *(create_dataset(dataset) for dataset in wanted.datasets if dataset.name not in there),
        *_last_steps(wanted, site),
    )
    reason = f"{wanted.name}: an earlier create-pool began it and didn't finish; this adds what is missing"
    return Plan(template.name, wanted, {}, steps, (reason, *_site_reasons(wanted, site)))


def wanted_pool(name: str, spec: PoolSpec, disks: Mapping[VdevRole, tuple[Device, ...]]) -> Pool:
    """Give the pool that a template makes of these disks.

    `name` is that of the layout; `spec` is what `fit` leaves of the template's on this host.
    """
    pool_name = spec.name_of_pool(name)
    container = f"{pool_name}/{CONTAINER}"
    return Pool(
        name=pool_name,
        vdevs=tuple(_vdevs(spec, disks)),
        properties={**spec.properties, "ashift": str(ashift_of(spec, disks))},
        datasets=(
            Dataset(pool_name, spec.root_properties),
            Dataset(container),
            *(Dataset(f"{container}/{key}", properties) for key, properties in spec.datasets.items()),
        ),
    )


def as_shell(plan: Plan) -> str:
    """Give a plan as a shell script, with the reasons as comments.

    A reason may quote a label that somebody wrote on a disk: what isn't printable in it would end the comment.
    """
    return "\n".join(
        (*(f"# {printable(reason)}" for reason in plan.reasons), *(shlex.join(step) for step in plan.steps), "")
    )


def directories(pool: Pool) -> tuple[str, ...]:
    """Give the directories that mysqld writes to: where the datasets under POOL/mysql mount."""
    return tuple(f"/{dataset.name}" for dataset in pool.datasets if dataset.name.count("/") > 1)


def _marks(layout: str, template: Template) -> dict[str, str]:
    """Give what the root dataset says of a pool of ours from its first moment on."""
    settings = {SETTINGS_MARK: " ".join(template.settings)} if template.settings else {}
    return {TEMPLATE_MARK: template.name, LAYOUT_MARK: layout, **settings, STATE_MARK: CREATING}


def _vdevs(spec: PoolSpec, disks: Mapping[VdevRole, tuple[Device, ...]]) -> Iterable[Vdev]:
    for role in spec.roles:
        paths = [device.stable_path for device in disks.get(role.role, ())]
        for at in range(0, len(paths), role.width):
            yield Vdev(role.role, role.kind, tuple(paths[at : at + role.width]))


def hand_over(owned: tuple[str, ...]) -> tuple[Argv, ...]:
    """Give the steps that make directories mysqld's own."""
    return ("chown", "mysql:mysql", *owned), ("chmod", "0750", *owned)


def _last_steps(wanted: Pool, site: Site) -> tuple[Argv, ...]:
    """Give the last steps: the directories belong to mysqld, and the pool is complete."""
    owned = directories(wanted)
    return (
        *(hand_over(owned) if owned and site.has_mysql_user else ()),
        set_properties(wanted.name, {STATE_MARK: COMPLETE}),
    )


def _name_reasons(assignment: Assignment, wanted: Pool) -> tuple[str, ...]:
    unstable = [device.name for device in assignment.devices if device.by_id is None]
    names = (
        [f"{' '.join(unstable)}: no name that survives a reboot, so the pool goes by the kernel's, which may change"]
        if unstable
        else []
    )
    sector_bytes = max(device.physical_sector_bytes for device in assignment.devices)
    ashift = (
        f"ashift {wanted.properties['ashift']}: the biggest physical sector of these disks has {sector_bytes} bytes"
    )
    return (*names, ashift)


def _site_reasons(wanted: Pool, site: Site) -> tuple[str, ...]:
    if site.has_mysql_user:
        return ()
    return (f"there is no user mysql here: before mysqld starts, give it {' '.join(directories(wanted))} with chown",)

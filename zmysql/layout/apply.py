"""Run a plan: exactly its steps, on the disks that it was made for, and what was begun is undone when a step fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.host import CommandFailed
from zmysql.layout.compare import compare, compare_properties, state_of
from zmysql.layout.inventory import read_inventory, read_making_pid
from zmysql.layout.model import Difference
from zmysql.layout.plan import COMPLETE, CREATING
from zmysql.platforms.device import UseKind
from zmysql.platforms.system import system_of
from zmysql.zfs.commands import destroy_pool
from zmysql.zfs.read import STATE_MARK, read_guid, read_pool, read_properties

if TYPE_CHECKING:
    from collections.abc import Callable

    from zmysql.host import Host
    from zmysql.layout.model import Inventory, Plan
    from zmysql.platforms.device import Use
    from zmysql.zfs.commands import Argv

    Say = Callable[[Argv], None]


def apply(host: Host, plan: Plan, say: Say) -> tuple[Difference, ...]:
    """Run the steps of a plan, telling `say` each before it runs, and give what then differs from what is wanted.

    Raises ZmysqlError when the disks aren't any more what the plan was made for, and when a step fails. A pool that
    this run created is destroyed again then, and its disks are as free as before; the message says so.
    """
    creates = plan.steps[0][:2] == ("zpool", "create")
    if plan.devices:
        _check_unchanged(read_inventory(host), plan, creates=creates)
    if creates:
        _create(host, plan, say)
    else:
        _change(host, plan, say)
    return _read_back(host, plan, creates=creates)


def _change(host: Host, plan: Plan, say: Say) -> None:
    """Run the steps on a pool that is there; what they did before one failed is as wanted, and stays."""
    done = 0
    try:
        for step in plan.steps:
            _run_all(host, (step,), say)
            done += 1
    except CommandFailed as failed:
        so_far = f"{done} of {len(plan.steps)} steps were done; mend that and run again for the rest"
        raise ZmysqlError(f"{failed}; {so_far}") from failed


def _create(host: Host, plan: Plan, say: Say) -> None:
    name = plan.wanted.name
    try:
        _run_all(host, plan.steps[:1], say)
    except CommandFailed as failed:
        # The whole command was shown; here its beginning tells which it was.
        said = " / ".join(line.strip() for line in failed.stderr.splitlines() if line.strip())
        raise ZmysqlError(f"`zpool create {name}` failed: {said}; {_after_failed_create(host, plan)}") from failed
    except KeyboardInterrupt:
        raise ZmysqlError(f"interrupted; {_after_failed_create(host, plan)}") from None
    # From here on there is a pool that this run made, and this number tells it from all others.
    guid = read_guid(host, name)
    try:
        _run_all(host, plan.steps[1:], say)
    except CommandFailed as failed:
        raise ZmysqlError(f"{failed}; {_undo(host, plan, guid)}") from failed
    except KeyboardInterrupt:
        raise ZmysqlError(f"interrupted; {_undo(host, plan, guid)}") from None


def _run_all(host: Host, steps: tuple[Argv, ...], say: Say) -> None:
    for step in steps:
        say(step)
        host.run(step)


def _check_unchanged(now: Inventory, plan: Plan, *, creates: bool) -> None:
    """Refuse to act on disks that aren't what the plan saw; other disks may come and go."""
    if creates and any(pool.name == plan.wanted.name for pool in now.pools):
        raise ZmysqlError(f"meanwhile there is a pool {plan.wanted.name}: run again to compare with it")
    for device in plan.devices:
        if device not in now.devices:
            found = now.named(device.name)
            what = f"now used: {', '.join(map(str, found.used_by))}" if found and found.used_by else "another or gone"
            raise ZmysqlError(f"{device.name} changed since the plan was made ({what}): run again for a new plan")


def _after_failed_create(host: Host, plan: Plan) -> str:
    """Clean the disks of a `zpool create` that failed: it partitions them before it finds a reason to stop."""
    name = plan.wanted.name
    if (pid := read_making_pid(host, name)) is not None:
        return f"process {pid} is making the pool {name} at this moment: run again when it has ended"
    if read_guid(host, name) is not None:
        return f"there is a pool {name} now: run again to compare with it"
    return f"no pool was made, {_blank(host, plan)}"


def _undo(host: Host, plan: Plan, guid: str | None) -> str:
    """Destroy the pool that this run created, and nothing else; say what was done."""
    name = plan.wanted.name
    pool = read_pool(host, name)
    if pool is None or guid is None or pool.guid != guid:
        return f"the pool {name} isn't the one that this run created, so it is left alone"
    if state_of(pool) != CREATING:
        return f"another create-pool has taken over the pool {name}, so it is left to that one"
    done = host.run(destroy_pool(name), check=False)
    if done.exit_status:
        return f"{CommandFailed(done)}, so the pool {name} stays: run again to finish it, or destroy it yourself"
    return f"the pool {name}, which this run created, is destroyed again, {_blank(host, plan)}"


def _blank(host: Host, plan: Plan) -> str:
    """Take ZFS's labels and partitions off the plan's disks, which were free when this run began; say how that went.

    A disk on which there is anything else by now is somebody else's and is left alone.
    """
    name, system = plan.wanted.name, system_of(host)
    system.settle(host)
    now = read_inventory(host)
    stuck = []
    for planned in plan.devices:
        device = now.named(planned.path)
        if device is None or not all(_is_left_by_pool(use, name) for use in device.used_by):
            stuck.append(planned.name)
        elif device.used_by:
            done = [host.run(argv, check=False) for argv in system.blank_disk(device)]
            stuck += [device.name] if done[-1].exit_status else []
    system.settle(host)
    return (
        f"but {' '.join(stuck)} may hold its traces: see `zmysql devices`" if stuck else "and its disks are free again"
    )


def _is_left_by_pool(use: Use, name: str) -> bool:
    """Tell whether that is what ZFS leaves on a disk that was in this pool or was to be; a cache names no pool."""
    return use.kind is UseKind.ZFS_PARTITION or (use.kind is UseKind.LABEL and use.pool in {name, None})


def _read_back(host: Host, plan: Plan, *, creates: bool) -> tuple[Difference, ...]:
    name, now = plan.wanted.name, read_inventory(host)
    pool = next((pool for pool in now.pools if pool.name == name), None)
    if pool is None:
        return (Difference(name, "pool", "there", None),)
    actual = read_properties(host, pool)
    if creates:
        differences = compare(plan.wanted, actual, now)
    else:
        differences = (*compare_properties(plan.wanted, actual), *_not_added(plan, now))
    state = state_of(actual)
    return differences if state == COMPLETE else (*differences, Difference(name, STATE_MARK, COMPLETE, state))


def _not_added(plan: Plan, now: Inventory) -> tuple[Difference, ...]:
    """Give the disks that a plan was to add and that aren't in the pool."""
    name = plan.wanted.name
    added = {device.name for device in now.devices if any(use.pool == name for use in device.used_by)}
    return tuple(Difference(name, "disk", one.name, None) for one in plan.devices if one.name not in added)

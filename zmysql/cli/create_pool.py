"""`zmysql create-pool`: plan, show, ask, run, read back."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from zmysql.errors import UsageError, ZmysqlError
from zmysql.host import Local
from zmysql.layout.apply import apply
from zmysql.layout.existing import Existing, judge
from zmysql.layout.inventory import read_inventory, read_site
from zmysql.layout.model import Difference, Plan, Refusal
from zmysql.layout.plan import as_shell, check_pool_name, make_plan
from zmysql.layout.template import load_template
from zmysql.report.output import output_version
from zmysql.zfs.model import VdevRole
from zmysql.zfs.read import read_pool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zmysql.host import Host
    from zmysql.layout.model import Template
    from zmysql.layout.roles import Named
    from zmysql.platforms.device import Device


@dataclass(frozen=True, slots=True)
class Outcome:
    """What create-pool found and did; what isn't known is empty."""

    disks: Mapping[VdevRole, tuple[Device, ...]]
    plan: Plan | None = None
    refusals: tuple[Refusal, ...] = ()
    differences: tuple[Difference, ...] = ()
    nothing_to_do: bool = False
    done: bool = False


@click.command("create-pool")
@click.argument("pool")
@click.option("-t", "--template", "template_name", required=True, metavar="TEMPLATE", help="See `zmysql templates`.")
@click.option("--data", multiple=True, metavar="DEV", help="A disk for the data vdevs; repeat it.")
@click.option("--cache", multiple=True, metavar="DEV", help="A disk that caches reads (L2ARC).")
@click.option("--log", multiple=True, metavar="DEV", help="A disk for the log vdevs; repeat it.")
@click.option("-n", "--dry-run", is_flag=True, help="Print the commands and run none.")
@click.option("-y", "--yes", is_flag=True, help="Don't ask.")
@click.option("-j", "as_json", is_flag=True, help="Print JSON.")
def create_pool(
    pool: str,
    template_name: str,
    data: tuple[str, ...],
    cache: tuple[str, ...],
    log: tuple[str, ...],
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Create POOL from a template.

    Without --data, --cache and --log, free disks are taken by class and size. Once one disk is named, only named disks
    are taken. DEV is a name or path: sdb, /dev/sdb, /dev/disk/by-id/…

    For a pool that is there already: says that nothing is to be done, or finishes what an interrupted run began, or
    lists what differs from the template and changes nothing.
    """
    check_pool_name(pool)
    template = load_template(template_name)
    host = Local()
    outcome = _plan(host, pool, template, {VdevRole.DATA: data, VdevRole.CACHE: cache, VdevRole.LOG: log})
    if outcome.plan is not None and not dry_run:
        _check_may_run(host, outcome.plan, yes=yes)
        outcome = _run(host, outcome, outcome.plan, quiet=as_json)
    if as_json:
        click.echo(json.dumps(_as_json(pool, template, outcome, dry_run=dry_run), indent=2))
    _tell(pool, template, outcome, dry_run=dry_run, as_json=as_json)
    # What an unfinished pool lacks is no failure as long as it is only looked at: the plan adds it.
    failed = outcome.refusals or (outcome.differences and (outcome.plan is None or outcome.done))
    return 1 if failed else 0


def _plan(host: Host, pool: str, template: Template, named: Named) -> Outcome:
    inventory = read_inventory(host)
    site = read_site(host, pool)
    actual = read_pool(host, pool)
    if actual is None:
        plan = make_plan(pool, template, inventory, named, site)
        return Outcome(plan.disks, plan) if isinstance(plan, Plan) else Outcome({}, refusals=plan)
    found = judge(template, inventory, actual, named, site)
    if not isinstance(found, Existing):
        return Outcome({}, refusals=found)
    nothing_to_do = not found.differences and found.plan is None
    return Outcome(found.disks, found.plan, differences=found.differences, nothing_to_do=nothing_to_do)


def _check_may_run(host: Host, plan: Plan, *, yes: bool) -> None:
    """Stop where the commands can't run, and ask where nobody has said yes."""
    if host.run(("id", "-u")).stdout.strip() != "0":
        raise ZmysqlError("creating a pool needs root: use sudo, or look at the plan with -n")
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on: say -y to run the plan, or -n to see it")
    click.echo(as_shell(plan), nl=False, err=True)
    click.confirm(f"Run these {len(plan.steps)} commands?", abort=True, err=True)


def _run(host: Host, outcome: Outcome, plan: Plan, *, quiet: bool) -> Outcome:
    def say(step: tuple[str, ...]) -> None:
        if not quiet:
            click.echo(shlex.join(step), err=True)

    return Outcome(outcome.disks, plan, differences=apply(host, plan, say), done=True)


def _tell(pool: str, template: Template, outcome: Outcome, *, dry_run: bool, as_json: bool) -> None:
    """Say what there is to say: results to standard output unless JSON is there, refusals to standard error."""
    for refusal in outcome.refusals:
        click.echo(f"zmysql: {refusal}", err=True)
    if as_json:
        return
    if dry_run and outcome.plan is not None:
        click.echo(as_shell(outcome.plan), nl=False)
    elif outcome.nothing_to_do:
        click.echo(f"{pool} is as {template.name} wants it: nothing is to be done")
    elif outcome.done and not outcome.differences:
        click.echo(f"{pool} is created from {template.name} and was read back: all is as wanted")
    elif outcome.differences:
        did = "was created, and differs" if outcome.done else "exists and differs"
        click.echo(f"zmysql: {pool} {did} from what {template.name} wants; nothing else is changed:", err=True)
        for difference in outcome.differences:
            click.echo(f"  {difference}", err=True)


def _as_json(pool: str, template: Template, outcome: Outcome, *, dry_run: bool) -> dict[str, object]:
    plan = outcome.plan
    return {
        "output_version": output_version("create-pool"),
        "pool": pool,
        "template": template.name,
        "roles": {role: [one.stable_path for one in devices] for role, devices in outcome.disks.items()},
        "plan": [list(step) for step in plan.steps] if plan else [],
        "reasons": list(plan.reasons) if plan else [],
        "refusals": [asdict(refusal) for refusal in outcome.refusals],
        "differences": [asdict(difference) for difference in outcome.differences],
        "nothing_to_do": outcome.nothing_to_do,
        "dry_run": dry_run,
        "done": outcome.done,
    }

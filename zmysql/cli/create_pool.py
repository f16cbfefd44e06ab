"""`zmysql create-pool`: plan, show, ask, run, read back."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import click

from zmysql.cli.hosts import on_host
from zmysql.errors import UsageError, ZmysqlError
from zmysql.layout.apply import apply
from zmysql.layout.decide import decide
from zmysql.layout.inventory import read_seen
from zmysql.layout.model import Allow, Plan, Request
from zmysql.layout.plan import as_shell, check_pool_name
from zmysql.layout.template import load_template
from zmysql.report.create_pool import Outcome, as_json, as_script, as_text, complaints
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zmysql.host import Host
    from zmysql.layout.model import Difference, Template

F = TypeVar("F", bound="Callable[..., object]")

ROLES = {
    VdevRole.DATA: "A disk for the data vdevs; repeat it.",
    VdevRole.SPECIAL: "A disk for the special vdevs: metadata, and datasets with special_small_blocks.",
    VdevRole.LOG: "A disk for the log vdevs (SLOG).",
    VdevRole.CACHE: "A disk that caches reads (L2ARC).",
    VdevRole.SPARE: "A hot spare.",
}
ALLOW = {
    Allow.IN_USE: "Take a named disk though there is an old label, file system or partition on it.",
    Allow.UNEQUAL: "Take disks of unequal size for one vdev.",
    Allow.ASHIFT_MISMATCH: "Take an ashift that doesn't fit the disks' sectors.",
    Allow.CLASS_MISMATCH: "Take disks of another class than the template wants.",
    Allow.REPLICATION_MISMATCH: "Take a special vdev that is less redundant than the data.",
    Allow.NO_REDUNDANCY: "Take vdevs without redundancy where the loss of one is the loss of the pool.",
    Allow.WIDE: "Take vdevs wider than is wise.",
    Allow.SMALL_LOG: "Take a log device that is too small for a few seconds of writes.",
    Allow.L2ARC_HEADERS: "Take a cache whose headers eat a large share of the ARC.",
}


def _role_options(command: F) -> F:
    for role, words in reversed(ROLES.items()):
        command = click.option(f"--{role}", multiple=True, metavar="DEV", help=words)(command)
    return command


def _allow_options(command: F) -> F:
    for allow, words in reversed(ALLOW.items()):
        command = click.option(f"--allow-{allow}", is_flag=True, help=words)(command)
    return command


@click.command("create-pool")
@click.argument("pool")
@click.option("-t", "--template", "template_name", required=True, metavar="TEMPLATE", help="A name, or a file's path.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Such as data.recordsize=32K; repeat it.")
@_role_options
@_allow_options
@click.option("--reconcile", is_flag=True, help="Change what differs and can be changed in a running pool.")
@click.option("-n", "--dry-run", is_flag=True, help="Print the commands and run none.")
@click.option("-y", "--yes", is_flag=True, help="Don't ask.")
@click.option("-j", "--json", "to_json", is_flag=True, help="Print JSON.")
@click.option("-H", "to_script", is_flag=True, help="Print tab-separated lines without headings.")
@on_host
def create_pool(
    pool: str,
    template_name: str,
    settings: tuple[str, ...],
    host: Host,
    *,
    reconcile: bool,
    dry_run: bool,
    yes: bool,
    to_json: bool,
    to_script: bool,
    **more: tuple[str, ...] | bool,
) -> int:
    """Create POOL from a template.

    Without --data, --cache and the like, free disks are taken by class and size. Once one disk is named, only named
    disks are taken. DEV is a name or path: sdb, /dev/sdb, /dev/disk/by-id/…; for another pool of a template of several,
    the pool's key comes first: --data log:sdb.

    For a pool that is there already: says that nothing is to be done, or finishes what an interrupted run began, or
    lists what differs from the template and changes nothing, unless --reconcile says so.
    """
    check_pool_name(pool)
    template = load_template(template_name, settings)
    allow = frozenset(one for one in Allow if more[f"allow_{one.replace('-', '_')}"])
    request = Request(pool, template, _named(template, more), allow, reconcile)
    found = decide(request, read_seen(host, [spec.name_of_pool(pool) for spec in template.pools]))
    outcome = Outcome(pool, template.name, dry_run)
    outcome = replace(outcome, refusals=found) if isinstance(found, tuple) else replace(outcome, pools=found)
    if outcome.plans and not dry_run:
        _check_may_run(host, outcome.plans, yes=yes)
        outcome = _run(host, outcome, quiet=to_json or to_script)
    _tell(outcome, to_json=to_json, to_script=to_script)
    return outcome.exit_status


def _named(template: Template, more: Mapping[str, object]) -> dict[str | None, dict[VdevRole, list[str]]]:
    """Give the disks that were named, by pool and role; a disk's own name may have a colon in it, too."""
    keys = {spec.key for spec in template.pools if spec.key}
    named: dict[str | None, dict[VdevRole, list[str]]] = {}
    for role in ROLES:
        words = more[role.value]
        for word in words if isinstance(words, tuple) else ():
            key, colon, rest = word.partition(":")
            of = (key, rest) if colon and key in keys else (None, word)
            named.setdefault(of[0], {}).setdefault(role, []).append(of[1])
    return named


def _check_may_run(host: Host, plans: tuple[Plan, ...], *, yes: bool) -> None:
    """Stop where the commands can't run, and ask where nobody has said yes."""
    if host.run(("id", "-u")).stdout.strip() != "0":
        raise ZmysqlError("creating a pool needs root: use sudo, or look at the plan with -n")
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on: say -y to run the plan, or -n to see it")
    for plan in plans:
        click.echo(as_shell(plan), nl=False, err=True)
    click.confirm(f"Run these {sum(len(plan.steps) for plan in plans)} commands on {host.name}?", abort=True, err=True)


def _run(host: Host, outcome: Outcome, *, quiet: bool) -> Outcome:
    """Run the plans one after the other; when one fails, those before it are done and the rest isn't begun."""

    def say(step: tuple[str, ...]) -> None:
        if not quiet:
            click.echo(shlex.join(step), err=True)

    left: dict[str, tuple[Difference, ...]] = {}
    for plan in outcome.plans:
        name = plan.wanted.name
        try:
            differs = apply(host, plan, say)
        except ZmysqlError as error:
            return replace(outcome, left=left, failed=str(error))
        # What no plan changes is still there, whether or not reading back looked for it.
        left[name] = tuple(dict.fromkeys((*differs, *(stays.difference for stays in outcome.pools[name].stays))))
    return replace(outcome, left=left)


def _tell(outcome: Outcome, *, to_json: bool, to_script: bool) -> None:
    """Say what there is to say: results to standard output, what stands against them to standard error."""
    for line in complaints(outcome):
        click.echo(line, err=True)
    if to_json:
        click.echo(json.dumps(as_json(outcome), indent=2))
        return
    for line in as_script(outcome) if to_script else as_text(outcome):
        click.echo(line)

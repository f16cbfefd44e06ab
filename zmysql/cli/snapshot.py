"""`zmysql snapshot`: of all datasets of a layout, consistent with MySQL, and back."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from rich.console import Console

from zmysql.cli.hosts import on_host
from zmysql.errors import UsageError, ZmysqlError
from zmysql.layout.plan import check_pool_name
from zmysql.mysql.client import Dsn, parse_dsn
from zmysql.report.snapshot import (
    Outcome,
    age,
    as_shell,
    list_json,
    list_script,
    list_table,
    outcome_json,
)
from zmysql.snapshot import change
from zmysql.snapshot.create import against_create, create, create_consistent, create_steps
from zmysql.snapshot.job import Job
from zmysql.snapshot.model import Kind, Layout, LayoutSnapshot, check_word
from zmysql.snapshot.place import against_server
from zmysql.snapshot.read import find, read_all, read_layout, taken_by_zmysql
from zmysql.snapshot.rollback import (
    against_openers,
    against_rollback,
    plan_rollback,
    read_newer,
    read_openers,
    roll_back,
)
from zmysql.units import parse_duration
from zmysql.zfs.snapshot import destroy_argv, hold_argv, read_holds, release_argv
from zmysql.zfs.snapshot_lzc import snapshot_calls

if TYPE_CHECKING:
    from zmysql.host import Host
    from zmysql.zfs.commands import Argv
    from zmysql.zfs.snapshot import Snapshot

_WIDE = 1000
_LOCK_SECONDS = "10s"

_dry_run = click.option("-n", "--dry-run", is_flag=True, help="Print the commands and run none.")
_yes = click.option("-y", "--yes", is_flag=True, help="Don't ask.")
_json = click.option("-j", "--json", "to_json", is_flag=True, help="Print JSON.")


@click.group()
def snapshot() -> None:
    """Take snapshots of a layout: data, redo log and binary log at one moment; and roll all of them back."""


@snapshot.command("create")
@click.argument("pool")
@click.argument("name", required=False)
@click.option(
    "--consistent", is_flag=True, help="Take it under MySQL's backup lock, and note the binary log's position."
)
@click.option(
    "--mysql",
    "dsn",
    type=parse_dsn,
    envvar="ZMYSQL_DSN",
    metavar="DSN",
    help="The server, seen from the host: mysql://[user[:password]@][host[:port]]/[?socket=PATH&defaults-file=PATH]. "
    "Others see a command line: a password is better in the file, or in the environment as ZMYSQL_DSN.",
)
@click.option(
    "--lock-timeout",
    type=parse_duration,
    default=_LOCK_SECONDS,
    show_default=True,
    metavar="TIME",
    help="How long to wait for each part of the lock; new writes wait as long.",
)
@click.option("--allow-not-atomic", is_flag=True, help="Take several pools one after the other without a lock.")
@click.option("--allow-elsewhere", is_flag=True, help="Take a server whose directories aren't on POOL by name.")
@_dry_run
@_json
@on_host
def create_(
    pool: str,
    name: str | None,
    dsn: Dsn | None,
    lock_timeout: float,
    host: Host,
    *,
    consistent: bool,
    allow_not_atomic: bool,
    allow_elsewhere: bool,
    dry_run: bool,
    to_json: bool,
) -> int:
    """Take a snapshot of all datasets of the layout POOL; NAME is the time if it isn't given.

    The snapshot of a pool is of one moment. Without --consistent it is as after a power cut: InnoDB recovers from it,
    other engines may not. With it, DDL and commits are held back for that moment. A layout of two pools has no one
    moment, so it needs --consistent.
    """
    name = (
        datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ") if name is None else check_word("the name of a snapshot", name)
    )
    check_pool_name(pool)
    if not consistent and click.get_current_context().get_parameter_source("dsn") is ParameterSource.COMMANDLINE:
        raise UsageError("--mysql names the server to lock: say --consistent too, or leave it away")
    if not dry_run:
        _check_root(host)
    layout = read_layout(host, pool)
    apart = allow_not_atomic and len(layout.trees) > 1
    kind = Kind.CONSISTENT if consistent else Kind.NOT_ATOMIC if apart else Kind.CRASH_CONSISTENT
    refusals = against_create(layout, read_all(host, layout), name, kind)
    server = dsn or Dsn()
    if consistent and not allow_elsewhere and not refusals:
        refusals = against_server(host, server, layout)
    outcome = Outcome("create", pool, name, create_steps(layout, name, kind), refusals, dry_run)
    if not refusals and not dry_run:
        job = _job(host, layout, name, quiet=to_json)
        taken = create_consistent(job, server, max(int(lock_timeout), 1)) if consistent else create(job, kind)
        outcome = replace(outcome, taken=taken, done=True)
        if taken.lacks_gtid:
            _say("its GTIDs are longer than a property may be, so they aren't noted")
    if dry_run and consistent and not to_json:
        click.echo("# between these: the backup lock of MySQL, and its release before the last of them")
    return _end(outcome, f"{pool}@{name} is taken: {_described(outcome)}", to_json=to_json)


@snapshot.command("list")
@click.argument("pool")
@_json
@click.option("-H", "to_script", is_flag=True, help="Print tab-separated lines without headings.")
@on_host
def list_(pool: str, host: Host, *, to_json: bool, to_script: bool) -> None:
    """List the snapshots of the layout POOL that zmysql took, oldest first."""
    if to_json and to_script:
        raise UsageError("-j and -H print different things: ask for one of them")
    layout = read_layout(host, check_pool_name(pool))
    everything = read_all(host, layout)
    found = taken_by_zmysql(everything)
    holds = read_holds(host, [held for one in found for held in one.held])
    foreign = len(everything) - sum(len(one.parts) for one in found)
    if to_json:
        click.echo(json.dumps(list_json(pool, found, holds, foreign), indent=2))
    elif to_script:
        for line in list_script(found, holds):
            click.echo(line)
    else:
        console = Console()
        (console if console.is_terminal else Console(width=_WIDE)).print(list_table(found, holds, time.time()))
        if foreign:
            _say(f"{foreign} more on these datasets were taken by others: `zfs list -t snapshot -r {pool}/mysql`")
    if layout.rolling_back_to:
        _say(f"a rollback to {layout.rolling_back_to} was interrupted: roll back to it again to finish it")


@snapshot.command("rollback")
@click.argument("pool")
@click.argument("name")
@click.option("--allow-destroy-newer", is_flag=True, help="Destroy all snapshots and bookmarks that are newer.")
@click.option("--allow-inconsistent", is_flag=True, help="Go back to one that is unconfirmed or not atomic.")
@_dry_run
@_yes
@_json
@on_host
def rollback_(
    pool: str,
    name: str,
    host: Host,
    *,
    allow_destroy_newer: bool,
    allow_inconsistent: bool,
    dry_run: bool,
    yes: bool,
    to_json: bool,
) -> int:
    """Roll all datasets of the layout POOL back to the snapshot NAME, and lose what was written since.

    The server must be shut down. The datasets are unmounted, rolled back in one transaction a pool, and mounted again.
    The binary log goes back too: replicas that have read further must be made anew.
    """
    layout, everything, wanted = _found(host, pool, name)
    newer = read_newer(host, layout, wanted, everything)
    refusals = against_rollback(
        layout, wanted, newer, destroy_newer=allow_destroy_newer, inconsistent=allow_inconsistent
    )
    refusals += against_openers(layout, read_openers(host, layout))
    plan = plan_rollback(layout, wanted, newer)
    outcome = Outcome("rollback", pool, name, plan.steps, refusals, dry_run)
    if not refusals and not dry_run:
        lost = f"all that was written in the last {age(time.time() - wanted.created_s)}"
        lost += f", and {len(newer.names)} newer snapshots and bookmarks" if newer.names else ""
        _check_may_run(host, outcome, f"Roll {pool} back to {name}, and lose {lost}?", yes=yes)
        roll_back(_job(host, layout, name, quiet=to_json), wanted, newer, plan)
        outcome = replace(outcome, done=True)
    where = f"; the binary log is at {wanted.binlog}" if wanted.binlog else ""
    return _end(outcome, f"{pool} is rolled back to {name}{where}", to_json=to_json)


@snapshot.command("destroy")
@click.argument("pool")
@click.argument("name")
@_dry_run
@_yes
@_json
@on_host
def destroy_(pool: str, name: str, host: Host, *, dry_run: bool, yes: bool, to_json: bool) -> int:
    """Destroy the snapshot NAME of the layout POOL, if zmysql took it and nothing holds it."""
    layout, _, wanted = _found(host, pool, name)
    refusals = change.against_destroy(layout, wanted, read_holds(host, wanted.held))
    sets = change.to_destroy(layout, wanted)
    outcome = Outcome("destroy", pool, name, tuple(map(destroy_argv, sets)), refusals, dry_run)
    if not refusals and not dry_run:
        _check_may_run(host, outcome, f"Destroy {pool}@{name}?", yes=yes)
        change.destroy(_job(host, layout, name, quiet=to_json), sets)
        outcome = replace(outcome, done=True)
    return _end(outcome, f"{pool}@{name} is destroyed", to_json=to_json)


@snapshot.command("hold")
@click.argument("pool")
@click.argument("name")
@click.argument("tag")
@_dry_run
@_json
@on_host
def hold_(pool: str, name: str, tag: str, host: Host, *, dry_run: bool, to_json: bool) -> int:
    """Hold the snapshot NAME of the layout POOL by TAG, so that nothing destroys it."""
    check_word("a tag", tag)
    layout, _, wanted = _found(host, pool, name)
    sets = change.to_hold(layout, wanted, read_holds(host, wanted.held), tag)
    outcome = Outcome("hold", pool, name, tuple(hold_argv(one, tag) for one in sets), dry_run=dry_run)
    if not dry_run:
        _check_root(host)
        change.hold(_job(host, layout, name, quiet=to_json), sets, tag)
        outcome = replace(outcome, done=True)
    return _end(outcome, f"{pool}@{name} is held by {tag}" + ("" if sets else " already"), to_json=to_json)


@snapshot.command("release")
@click.argument("pool")
@click.argument("name")
@click.argument("tag")
@_dry_run
@_json
@on_host
def release_(pool: str, name: str, tag: str, host: Host, *, dry_run: bool, to_json: bool) -> int:
    """Take the hold TAG off the snapshot NAME of the layout POOL."""
    check_word("a tag", tag)
    layout, _, wanted = _found(host, pool, name)
    holds = read_holds(host, wanted.held)
    sets = change.to_release(layout, wanted, holds, tag)
    if not sets:
        tags = ", ".join(dict.fromkeys(tag for tags in holds.values() for tag in tags)) or "nothing"
        raise ZmysqlError(f"{pool}@{name} isn't held by {tag}: it is held by {tags}")
    outcome = Outcome("release", pool, name, tuple(release_argv(one, tag) for one in sets), dry_run=dry_run)
    if not dry_run:
        _check_root(host)
        change.release(_job(host, layout, name, quiet=to_json), sets, tag)
        outcome = replace(outcome, done=True)
    return _end(outcome, f"{pool}@{name} is no longer held by {tag}", to_json=to_json)


def _found(host: Host, pool: str, name: str) -> tuple[Layout, tuple[Snapshot, ...], LayoutSnapshot]:
    check_word("the name of a snapshot", name)
    layout = read_layout(host, check_pool_name(pool))
    everything = read_all(host, layout)
    return layout, everything, find(layout, everything, name)


def _job(host: Host, layout: Layout, name: str, *, quiet: bool) -> Job:
    def say(argv: Argv) -> None:
        if not quiet:
            click.echo(as_shell(argv), err=True)

    return Job(host, snapshot_calls(host), layout, name, say)


def _check_root(host: Host) -> None:
    if host.run(("id", "-u")).stdout.strip() != "0":
        raise ZmysqlError("changing snapshots needs root: use sudo, or look at the commands with -n")


def _check_may_run(host: Host, outcome: Outcome, question: str, *, yes: bool) -> None:
    """Stop where the commands can't run, and ask where nobody has said yes."""
    _check_root(host)
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on: say -y to run the commands, or -n to see them")
    for step in outcome.steps:
        click.echo(as_shell(step), err=True)
    click.confirm(question, abort=True, err=True)


def _end(outcome: Outcome, done: str, *, to_json: bool) -> int:
    """Say how it ended, and give the exit status."""
    for refusal in outcome.refusals:
        _say(str(refusal))
    if to_json:
        click.echo(json.dumps(outcome_json(outcome), indent=2))
    elif outcome.dry_run and not outcome.refusals:
        for step in outcome.steps:
            click.echo(as_shell(step))
    elif outcome.done:
        click.echo(done)
    return 1 if outcome.refusals else 0


def _described(outcome: Outcome) -> str:
    taken = outcome.taken
    if taken is None:
        return ""
    if taken.position is None or taken.locked_seconds is None:
        return str(taken.kind)
    where = f"binary log at {taken.position.binlog}" if taken.position.binlog else "no binary log"
    return f"{taken.kind}, {where}, writes held back for {taken.locked_seconds:.1f} s"


def _say(text: str) -> None:
    click.echo(f"zmysql: {text}", err=True)

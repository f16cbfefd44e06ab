"""The my.cnf that goes with a layout. Pure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from zmysql.mysql.directories import directory_notes, directory_settings
from zmysql.mysql.load import disk_settings, memory_settings
from zmysql.mysql.safety import safety_settings
from zmysql.mysql.server import parse_server
from zmysql.mysql.setting import TITLES
from zmysql.mysql.sizing import arc_tuning, arc_tuning_live, plan_memory
from zmysql.units import format_size
from zmysql.zfs.read import TEMPLATE_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.mysql.served import ServedLayout
    from zmysql.mysql.server import Server
    from zmysql.mysql.setting import Setting
    from zmysql.mysql.sizing import Budget

_COMMENT_WIDTH = 100


def render(server: str, served: ServedLayout, memory: int | Budget) -> str:
    """Give the text of a my.cnf for mysqld with so many bytes of its own, or with its part of a budget.

    Raises UsageError for an unknown server, and for memory that is too little.
    """
    of = parse_server(server)
    budget = plan_memory(served, memory, None) if isinstance(memory, int) else memory
    settings = settings_for(of, served, budget)
    lines = [*_header(of, served, budget), *_legend(settings), "", "[mysqld]"]
    for setting in settings:
        lines += [
            "",
            *_comment(f"{setting.why} [{', '.join(setting.sources)}]"),
            f"{setting.variable} = {setting.value}",
        ]
    return "\n".join(lines) + "\n"


def settings_for(server: Server, served: ServedLayout, budget: Budget) -> tuple[Setting, ...]:
    """Give all settings for a server on a layout, in the order of my.cnf; only such as the server knows."""
    return (
        *directory_settings(server, served),
        *safety_settings(server, served),
        *memory_settings(server, budget),
        *disk_settings(server, served, budget),
    )


def arc_text(system: str, budget: Budget) -> str:
    """Give the lines that cap the ARC as a file of the system's, with where it goes; empty without a cap."""
    tuning = arc_tuning(system, budget)
    if tuning is None:
        return ""
    mark = "*" if system == "illumos" else "#"  # system(5) knows no other comment
    comments = [f"{mark} {line}" for line in (*_arc_words(tuning[0], budget), *_arc_live(system, budget))]
    return "\n".join((*comments, *tuning[1], ""))


def _header(server: Server, served: ServedLayout, budget: Budget) -> Iterator[str]:
    template = served.pools[0].property_of_root(TEMPLATE_MARK)
    made_from = f", made from the template {template}" if template else ""
    pools = "pool" if len(served.pools) == 1 else "pools"
    names = ", ".join(pool.name for pool in served.pools)
    yield from _comment(f"my.cnf for {server.name} on the ZFS {pools} {names}{made_from}")
    yield from _memory_header(served, budget)
    yield "# The directories must be set before the data directory is initialised (mysqld --initialize)."
    if served.owner != "mysql":
        directories = " ".join(served.directories)
        yield from _comment(f"They belong to {served.owner or 'nobody'}: chown mysql:mysql {directories}")
    for note in directory_notes(server, served):
        yield from _comment(note)
    yield "# Under AppArmor or SELinux, allow mysqld these directories."


def _memory_header(served: ServedLayout, budget: Budget) -> Iterator[str]:
    mysqld = f"mysqld has {format_size(budget.mysqld_bytes)}, and the ARC comes on top"
    tuning = arc_tuning(served.system, budget)
    if tuning is None:
        fit = "cap zfs_arc_max so that both fit into memory"
        yield from _comment(f"{mysqld}: {'; '.join((fit, *budget.why))}.")
        return
    yield from _comment(f"{mysqld}: {'; '.join(budget.why)}.")
    file, lines = tuning
    for words in _arc_words(file, budget):
        yield from _comment(words)
    yield from (f"#   {line}" for line in (*lines, *_arc_live(served.system, budget)))


def _arc_words(file: str, budget: Budget) -> Iterator[str]:
    yield f"Cap the ARC at {format_size(budget.arc_max_bytes or 0)}, in {file} and in the running system [zfs(4)]:"
    if budget.arc_min_bytes is not None:
        yield "zfs_arc_min too: a zfs_arc_max that isn't above it is ignored without a word."


def _arc_live(system: str, budget: Budget) -> tuple[str, ...]:
    return arc_tuning_live(system, budget) or ("reboot: the running system takes no other cap",)


def _legend(settings: tuple[Setting, ...]) -> Iterator[str]:
    """Give the titles of what is cited."""
    cited = {source for setting in settings for source in setting.sources}
    yield "#"
    for source, title in TITLES.items():
        if source in cited:
            yield from _comment(f"[{source}] {title}")


def _comment(text: str) -> list[str]:
    # A path must stay whole: whoever copies the line runs it.
    return textwrap.wrap(
        text,
        _COMMENT_WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )

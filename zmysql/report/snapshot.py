"""Snapshots of a layout, and what was done to them, for a terminal, a script, and as JSON."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from importlib import resources
from typing import TYPE_CHECKING

from rich.table import Table

from zmysql.report.output import output_version
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zmysql.snapshot.create import Taken
    from zmysql.snapshot.model import LayoutSnapshot, Refusal
    from zmysql.zfs.commands import Argv

    Holds = Mapping[str, tuple[str, ...]]

_AGES = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_PROGRAM = resources.files("zmysql.zfs").joinpath("roll-back.lua")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was asked for, what stands against it, and the commands that do it; `taken` is what create gave."""

    command: str
    layout: str
    snapshot: str
    steps: tuple[Argv, ...]
    refusals: tuple[Refusal, ...] = ()
    dry_run: bool = False
    done: bool = False
    taken: Taken | None = None


def as_shell(argv: Argv) -> str:
    """Give a command as it would be typed; a channel program is read from a file of zmysql's."""
    program = f" <{shlex.quote(str(_PROGRAM))}" if argv[:2] == ("zfs", "program") else ""
    return shlex.join(argv) + program


def outcome_json(outcome: Outcome) -> dict[str, object]:
    """Give an outcome as JSON."""
    taken = outcome.taken
    position = taken.position if taken else None
    return {
        "output_version": output_version(f"snapshot {outcome.command}"),
        "layout": outcome.layout,
        "snapshot": outcome.snapshot,
        "plan": [list(step) for step in outcome.steps],
        "refusals": [asdict(refusal) for refusal in outcome.refusals],
        "dry_run": outcome.dry_run,
        "done": outcome.done,
        **({"kind": taken.kind, "locked_seconds": taken.locked_seconds} if taken else {}),
        **(asdict(position) if position else {}),
    }


def list_json(layout: str, found: Sequence[LayoutSnapshot], holds: Holds, foreign: int) -> dict[str, object]:
    """Give the snapshots as JSON, oldest first; `foreign` is how many others took on the same datasets."""
    return {
        "output_version": output_version("snapshot list"),
        "layout": layout,
        "snapshots": [
            {
                "name": one.name,
                "kind": one.kind,
                "created_s": one.created_s,
                "used_bytes": one.used_bytes,
                "referenced_bytes": one.referenced_bytes,
                "holds": tags_of(one, holds),
                "server": one.server,
                "binlog": one.binlog,
                "gtid": one.gtid,
                "datasets": [part.dataset for part in one.parts],
                "incomplete_pools": list(one.incomplete_pools),
            }
            for one in found
        ],
        "foreign": foreign,
    }


def list_script(found: Sequence[LayoutSnapshot], holds: Holds) -> Iterator[str]:
    """Give a line a snapshot: name, kind, seconds since 1970, bytes used and referenced, holds, binary log, GTIDs."""
    for one in found:
        sizes = (str(one.created_s), str(one.used_bytes), str(one.referenced_bytes))
        yield "\t".join((one.name, kind_of(one), *sizes, ",".join(tags_of(one, holds)) or "-", *_position(one)))


def list_table(found: Sequence[LayoutSnapshot], holds: Holds, now_s: float) -> Table:
    """Give the snapshots as a table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("snapshot", "kind", "age", "used", "refer", "held by", "binary log"):
        table.add_column(heading, no_wrap=heading in {"snapshot", "age"})
    for one in found:
        sizes = (format_size(one.used_bytes), format_size(one.referenced_bytes))
        held = ", ".join(tags_of(one, holds)) or "-"
        table.add_row(one.name, kind_of(one), age(now_s - one.created_s), *sizes, held, one.binlog or "-")
    return table


def kind_of(one: LayoutSnapshot) -> str:
    """Say how far a snapshot can be trusted, in a word."""
    return "incomplete" if one.incomplete_pools else str(one.kind)


def tags_of(one: LayoutSnapshot, holds: Holds) -> list[str]:
    """Give the tags that hold any part of a snapshot."""
    return sorted({tag for part in one.parts for tag in holds.get(part.full_name, ())})


def age(seconds: float) -> str:
    """Give an age in its largest unit; clocks of two machines may differ a little."""
    for size_s, unit in _AGES:
        if seconds >= size_s:
            return f"{seconds / size_s:.0f} {unit}"
    return "0 s"


def _position(one: LayoutSnapshot) -> tuple[str, str]:
    return one.binlog or "-", one.gtid or "-"

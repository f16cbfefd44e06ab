"""What could be done, before anything is known of what it brings: from it follows what has to be simulated. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.errors import printable
from zmysql.locality.simulation import LARGEST_BYTES, Case
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_L2ARC_FACTORS = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4)  # of the size that is asked about: a curve to find break-evens on
_RAM_FACTORS = (1.5, 2.0, 4.0)
_SURESHS = 128 << 10  # the recordsize with which Suresh gained, and ZFS's default
_ENOUGH_MISSES = 0.8  # of all, for the tables that go to a special vdev
_MOST_OF_THE_DATA = 0.75  # tables with more of it are as good as all of it


class Choice(StrEnum):
    """What to do."""

    L2ARC = "l2arc"
    FULL_SSD = "full-ssd"
    SPECIAL_VDEV = "special-vdev"
    MORE_RAM = "more-ram"
    LEAVE_IT = "leave-it"
    RECORD_LONGER = "record-longer"


@dataclass(frozen=True, slots=True)
class Table:
    """A file of a database: its misses in the ARC that is there, and its bytes, as far as they were read."""

    objset: int
    object: int
    name: str
    misses: int
    distinct_bytes: int


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to do.

    `ssd_bytes` is what lies on SSD for good (not the L2ARC), of `tables` or, empty, of all; `ram_bytes` is memory to
    buy.
    """

    choice: Choice
    name: str
    case: Case
    ssd_bytes: int = 0
    ram_bytes: int = 0
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person said, or None: sizes in bytes.

    `l2arc_bytes` is a size that alone is to be judged. `db_bytes` is the database's, of which the trace shows a part;
    `ram_bytes` is the most that the machine takes.
    """

    l2arc_bytes: int | None = None
    db_bytes: int | None = None
    ram_bytes: int | None = None


def options(
    arc_bytes: int,
    l2arc_bytes: int,
    wishes: Wishes,
    *,
    most_ram_bytes: int,
    read_bytes: int,
    recordsizes: Iterable[int] = (),
    tables: Sequence[Table] = (),
) -> tuple[Option, ...]:
    """Give what could be done with an ARC of this size, to leave it first.

    `read_bytes` are the distinct bytes that were read (real ones also of a sample), `recordsizes` those that are larger
    than the trace's own and worth a try.
    """
    arc = Case(None, arc_bytes)
    found = [Option(Choice.LEAVE_IT, f"an ARC of {format_size(arc_bytes)} as it is", arc)]
    found += [_l2arc(Case(None, arc_bytes, size)) for size in l2arc_sizes(l2arc_bytes, wishes)]
    for recordsize in recordsizes:
        found += [_recordsize(Case(recordsize, arc_bytes)), _l2arc(Case(recordsize, arc_bytes, l2arc_bytes))]
    for factor in _RAM_FACTORS:
        more = round(factor * arc_bytes)
        if more <= min(wishes.ram_bytes or most_ram_bytes, most_ram_bytes, LARGEST_BYTES):
            found.append(
                Option(Choice.MORE_RAM, f"an ARC of {format_size(more)}", Case(None, more), ram_bytes=more - arc_bytes)
            )
    db_bytes = max(wishes.db_bytes or 0, read_bytes)
    found.append(Option(Choice.FULL_SSD, f"all {format_size(db_bytes)} on SSD", arc, db_bytes))
    if chosen := hottest(tables):
        # What wasn't read of the tables is taken to be in proportion.
        size = round(sum(table.distinct_bytes for table in chosen) * db_bytes / read_bytes)
        found.append(Option(Choice.SPECIAL_VDEV, _special_name(chosen, size), arc, size, tables=chosen))
    return tuple(found)


def l2arc_sizes(l2arc_bytes: int, wishes: Wishes) -> tuple[int, ...]:
    """Give the sizes of L2ARC to judge: around the one that is asked about, or only a size that was named."""
    if wishes.l2arc_bytes is not None:
        return (min(wishes.l2arc_bytes, LARGEST_BYTES),)
    return tuple(sorted({max(1, min(round(factor * l2arc_bytes), LARGEST_BYTES)) for factor in _L2ARC_FACTORS}))


def hottest(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Give the tables with the most misses a byte that together have most of the misses.

    None where these are nearly all of the data: then all of it can as well lie there.
    """
    misses, size = sum(table.misses for table in tables), sum(table.distinct_bytes for table in tables)
    chosen: list[Table] = []
    for table in sorted(tables, key=lambda table: (-table.misses / max(table.distinct_bytes, 1), table.name)):
        if sum(one.misses for one in chosen) >= _ENOUGH_MISSES * misses:
            break
        chosen.append(table)
    if sum(one.distinct_bytes for one in chosen) > _MOST_OF_THE_DATA * size:
        return ()
    return tuple(chosen)


def cases(found: Iterable[Option]) -> tuple[Case, ...]:
    """Give what has to be simulated for these options, each once."""
    return tuple(dict.fromkeys(option.case for option in found))


def larger_recordsizes(own: int | None, disk_times: Mapping[int, float]) -> tuple[int, ...]:
    """Give the recordsizes above the trace's own that are worth a simulation: 128K, and the one that takes least time.

    `disk_times` are what the disks take for the reads of the trace, by recordsize, with a cache of one size. Where none
    takes less than the trace's own, none is worth it.
    """
    if own is None or own not in disk_times:
        return ()
    less = {size: time for size, time in disk_times.items() if size > own and time < disk_times[own]}
    if not less:
        return ()
    best = min(less, key=lambda size: (less[size], size))
    return tuple(sorted({best, *({_SURESHS} & set(less))}))


def _l2arc(case: Case) -> Option:
    return Option(Choice.L2ARC, f"an L2ARC of {format_size(case.l2arc_bytes)}{_with(case)}", case)


def _recordsize(case: Case) -> Option:
    """Give what costs nothing: it is shown, so that an L2ARC isn't praised for what the records bring."""
    return Option(Choice.LEAVE_IT, f"recordsize={format_size(case.recordsize or 0)} alone", case)


def _with(case: Case) -> str:
    return f", recordsize={format_size(case.recordsize)}" if case.recordsize else ""


def _special_name(tables: tuple[Table, ...], size_bytes: int) -> str:
    others = f" and {len(tables) - 1} others" if len(tables) > 1 else ""
    return f"{printable(tables[0].name)}{others}, {format_size(size_bytes)}, on a special vdev"

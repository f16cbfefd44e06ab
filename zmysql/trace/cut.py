"""Takes a part out of a trace: some time of it, some datasets, some files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, ZmysqlError, did_you_mean
from zmysql.trace.clock import format_started, parse_started
from zmysql.trace.engine import engine_for
from zmysql.trace.format import Header, read_header
from zmysql.trace.made import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

CUT_OFF = "cut off"  # what ended a recording that says itself that it isn't complete


@dataclass(frozen=True, slots=True)
class Part:
    """What to keep: the time from `from_ns` on and before `to_ns`, and these datasets and files; None is all."""

    from_ns: int = 0
    to_ns: int | None = None
    objsets: frozenset[int] | None = None
    objects: frozenset[tuple[int, int]] | None = None

    @property
    def is_of_time_only(self) -> bool:
        """Whether all datasets and files are kept."""
        return self.objsets is None and self.objects is None


def objsets_named(header: Header, source: Path, names: Iterable[str]) -> frozenset[int]:
    """Give the objset ids of datasets.

    Raises UsageError for a name that the trace doesn't have.
    """
    by_name = {dataset.name: objset for objset, dataset in header.datasets.items()}
    for name in names:
        if name not in by_name:
            raise UsageError(f"{source} has no dataset {name!r}, only {', '.join(sorted(by_name)) or 'no names'}")
    return frozenset(by_name[name] for name in names)


def objects_at(header: Header, source: Path, paths: Iterable[str]) -> frozenset[tuple[int, int]]:
    """Give the objects with these paths, or with addresses such as 54:128.

    Raises UsageError for one that the trace doesn't have.
    """
    found: set[tuple[int, int]] = set()
    known = set(header.objects.values())
    for path in paths:
        here = {address for address, its_path in header.objects.items() if its_path == path}
        objset, _, number = path.partition(":")
        if not here and objset.isdecimal() and number.isdecimal():
            here = {(int(objset), int(number))}
        if not here:
            raise UsageError(f"{source} names no file {path!r}{did_you_mean(path, known)}")
        found |= here
    return frozenset(found)


def cut_trace(
    source: Path,
    target: Path,
    part: Part,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Header:
    """Write a part of a trace as a trace, whose times are from the part's start on, and give its header.

    Raises UsageError where `target` is taken, and ZmysqlError where the trace can't be read or the part is empty;
    nothing is left of the target then.
    """
    header = read_header(source)
    if part.to_ns is not None and part.to_ns <= part.from_ns:
        raise UsageError("the part ends before it begins: --to must be later than --from")
    if target.exists() and target.samefile(source):
        raise UsageError(f"{target} is FILE itself: name another file")
    with make_trace(target, overwrite=overwrite, progress=progress) as made:
        with engine_for("trace cut", source) as engine:
            last_ns, objects = engine.cut_trace(
                source,
                complete=header.complete,
                records=header.records,
                from_ns=part.from_ns,
                to_ns=part.to_ns,
                objsets=None if part.objsets is None else sorted(part.objsets),
                objects=None if part.objects is None else sorted(part.objects),
                sink=made.append,
            )
        if not made.records:
            raise ZmysqlError(f"{source} has no record in that part: `zmysql trace info {source}` says what it has")
        return made.close(_header_of_part(header, part, last_ns, frozenset(objects)))


def _header_of_part(header: Header, part: Part, last_ns: int, objects: frozenset[tuple[int, int]]) -> Header:
    started_ns = parse_started(header.started) if header.started else None
    end_ns = last_ns + part.from_ns if header.duration_ns is None else max(header.duration_ns, last_ns + part.from_ns)
    ended = header.ended if header.complete else CUT_OFF
    if part.to_ns is not None and part.to_ns < end_ns:
        end_ns, ended = part.to_ns, "duration"
    whole = part == Part() or (part.is_of_time_only and part.from_ns == 0 and (part.to_ns or end_ns) >= end_ns)
    objsets = {objset for objset, _ in objects}
    return replace(
        header,
        started=header.started if started_ns is None else format_started(started_ns + part.from_ns),
        duration_ns=end_ns - part.from_ns,
        ended=ended,
        # How many of the lost records belong to a part can't be known.
        drops=header.drops if header.drops == 0 or whole else None,
        datasets={objset: dataset for objset, dataset in header.datasets.items() if objset in objsets},
        objects={address: path for address, path in header.objects.items() if address in objects},
    )

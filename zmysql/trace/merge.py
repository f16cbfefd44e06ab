"""Makes one trace of several of the same host."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

from zmysql.errors import UsageError, ZmysqlError, shown
from zmysql.trace.clock import format_started, parse_started
from zmysql.trace.cut import CUT_OFF
from zmysql.trace.engine import engine_for
from zmysql.trace.format import Dataset, Header, read_header
from zmysql.trace.made import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

T = TypeVar("T")

_MOST = 256  # each has a file and a thread of its own
_SECOND_NS = 1_000_000_000  # starts were once written in whole seconds


@dataclass(frozen=True, slots=True)
class _Source:
    path: Path
    header: Header
    started_ns: int

    @property
    def end_ns(self) -> int:
        return self.started_ns + (self.header.duration_ns or 0)


def merge_traces(
    paths: Sequence[Path],
    target: Path,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Header:
    """Write the records of several traces in the order of their times, and give the header.

    Raises UsageError where they don't belong together (another host, clock, sampling, names for the same ids), or where
    `target` is taken, and ZmysqlError where one can't be read; nothing is left of the target then.
    """
    _check_files(paths, target)
    sources = [_source(path) for path in paths]
    start_ns = min(source.started_ns for source in sources)
    header = _joined(sources, start_ns)
    arguments = [
        (source.path, source.header.complete, source.header.records, source.started_ns - start_ns) for source in sources
    ]
    with make_trace(target, overwrite=overwrite, progress=progress) as made:
        with engine_for("trace merge", "them") as engine:
            try:
                engine.merge_traces(arguments, sink=made.append)
            except engine.TraceUnreadable as error:  # it names the file itself
                raise ZmysqlError(str(error)) from None
        return made.close(header)


def _check_files(paths: Sequence[Path], target: Path) -> None:
    if len(paths) > _MOST:
        raise UsageError(f"{len(paths)} traces are too many at once: merge up to {_MOST}, and then what came of it")
    for one, other in combinations(paths, 2):
        if one.exists() and other.exists() and one.samefile(other):
            raise UsageError(f"{other} is named twice: its records would count twice")
    for path in paths:
        if target.exists() and path.exists() and target.samefile(path):
            raise UsageError(f"{target} is one of the FILEs itself: name another file")


def _source(path: Path) -> _Source:
    header = read_header(path)
    started_ns = parse_started(header.started) if header.started else None
    if header.host is None or started_ns is None:
        raise UsageError(
            f"{path} doesn't say on which host and when it began, so that its times can't be put between others': only"
            " recordings can be merged"
        )
    return _Source(path, header, started_ns)


def _joined(sources: Sequence[_Source], start_ns: int) -> Header:
    """Give the header of all; what they don't agree on is unknown."""
    first = sources[0]
    for source in sources[1:]:
        if source.header.host != first.header.host:
            raise UsageError(
                f"{first.path} was recorded on {first.header.host} and {source.path} on {source.header.host}: their"
                " clocks and ids have nothing to do with each other"
            )
        if source.header.sampling != first.header.sampling:
            raise UsageError(
                f"{first.path} holds a sample of {first.header.sampling} and {source.path} of"
                f" {source.header.sampling}: only equal samples can be merged"
            )
    _check_overlap(sources)
    headers = [source.header for source in sources]
    lost = [header.drops for header in headers]
    last = max(sources, key=lambda source: source.end_ns)
    return Header(
        complete=True,
        os=_agreed(header.os for header in headers),
        zfs=_agreed(header.zfs for header in headers),
        mysql=_agreed(header.mysql for header in headers),
        started=format_started(start_ns),
        duration_ns=max(source.end_ns for source in sources) - start_ns,
        sampling=first.header.sampling,
        drops=None if None in lost else sum(drops or 0 for drops in lost),
        datasets=_datasets(sources),
        objects=_objects(sources),
        host=first.header.host,
        imported=_agreed(header.imported for header in headers),
        pid=_agreed(header.pid for header in headers),
        ended=last.header.ended if all(header.complete for header in headers) else CUT_OFF,
        arc_bytes=_largest(header.arc_bytes for header in headers),
        l2arc_bytes=_largest(header.l2arc_bytes for header in headers),
    )


def _check_overlap(sources: Sequence[_Source]) -> None:
    for one, other in combinations(sources, 2):
        shared_ns = min(one.end_ns, other.end_ns) - max(one.started_ns, other.started_ns)
        if one.header.pid is not None and one.header.pid == other.header.pid and shared_ns > _SECOND_NS:
            raise UsageError(
                f"{one.path} and {other.path} traced process {one.header.pid} at the same time: its reads would count"
                " twice"
            )


def _datasets(sources: Sequence[_Source]) -> dict[int, Dataset]:
    joined: dict[int, Dataset] = {}
    for source in sources:
        for objset, dataset in source.header.datasets.items():
            before = joined.setdefault(objset, dataset)
            if before.name != dataset.name:
                raise _conflict(source, f"dataset {objset}", dataset.name, before.name)
            joined[objset] = dataset  # its recordsize may have changed
    return joined


def _objects(sources: Sequence[_Source]) -> dict[tuple[int, int], str]:
    joined: dict[tuple[int, int], str] = {}
    for source in sources:
        for (objset, number), path in source.header.objects.items():
            before = joined.setdefault((objset, number), path)
            if before != path:
                raise _conflict(source, f"object {objset}:{number}", path, before)
    return joined


def _conflict(source: _Source, what: str, name: str, before: str) -> UsageError:
    return UsageError(
        f"{what} is {shown(name)} in {source.path}, and {shown(before)} in one before it: the same number means"
        " different things, so judge them one by one"
    )


def _agreed(values: Iterable[T]) -> T | None:
    """Give what all agree on."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _largest(sizes: Iterable[int | None]) -> int | None:
    return max((size for size in sizes if size is not None), default=None)

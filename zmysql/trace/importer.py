"""Brings in foreign traces: CSV, and what other tracers and simulators write."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.errors import UsageError
from zmysql.trace.engine import engine_for, engine_or_none
from zmysql.trace.format import Dataset, Header
from zmysql.trace.importer_csv import OBJSET, CsvRows, open_text
from zmysql.trace.importer_iosnoop import Iosnoop
from zmysql.trace.made import make_trace
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zmysql.trace.made import Made

FORMATS = ("csv", "oracleGeneral", "vscsi", "zfs-reads", "blkparse", "iosnoop")
NEEDED = ("time", "object", "offset", "size")
IGNORED = "-"
DEFAULT_RECORDSIZE = 16384

_MIN_RECORDSIZE, _MAX_RECORDSIZE = 512, 16 << 20  # SPA_MINBLOCKSIZE, SPA_MAXBLOCKSIZE


@dataclass(frozen=True, slots=True)
class Foreign:
    """What is to be read, and how; `recordsize` is None where the format has sizes of its own."""

    source: Path
    kind: str = "csv"
    columns: tuple[str, ...] = NEEDED
    recordsize: int | None = DEFAULT_RECORDSIZE

    @property
    def name(self) -> str:
        """The source in messages."""
        return "standard input" if self.source == Path("-") else str(self.source)


@dataclass(frozen=True, slots=True)
class Found:
    """What was read; `skipped` counts what is no demand read of data, by words, and `drops` reads that were lost."""

    accesses: int
    empty_accesses: int
    last_ns: int
    largest_bytes: int
    objects: Mapping[tuple[int, int], str]
    skipped: Mapping[str, int] = field(default_factory=dict)
    drops: int | None = None
    objsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import made: accesses are what the source has, records are those that they read."""

    header: Header
    found: Found


def foreign(source: Path, kind: str, columns: Sequence[str] | None, recordsize: int | None) -> Foreign:
    """Check what is asked for; None are the defaults.

    Raises UsageError for columns or a record size that can't be, and for those that the format has no use for.
    """
    if kind != "csv" and columns is not None:
        raise UsageError(f"--columns is for CSV: {kind} has its own")
    if kind == "oracleGeneral":
        if recordsize is not None:
            raise UsageError("--recordsize is of no use here: each object of oracleGeneral has its own size")
        return Foreign(source, kind, recordsize=None)
    recordsize = DEFAULT_RECORDSIZE if recordsize is None else recordsize
    if not _MIN_RECORDSIZE <= recordsize <= _MAX_RECORDSIZE or recordsize & (recordsize - 1):
        raise UsageError(f"a recordsize of {format_size(recordsize)} can't be: ZFS has powers of two from 512 to 16M")
    names = tuple(columns or NEEDED)
    for name in NEEDED:
        if names.count(name) != 1:
            raise UsageError(f"the columns must name {name} once: such as time,object,offset,size, and - for others")
    unknown = [name for name in names if name not in (*NEEDED, IGNORED)]
    if unknown:
        raise UsageError(f"column {unknown[0]!r} is none of {', '.join(NEEDED)}: call it - to ignore it")
    return Foreign(source, kind, names, recordsize)


def import_trace(
    wanted: Foreign, target: Path, *, overwrite: bool = False, progress: Callable[[int], None] = lambda _: None
) -> Imported:
    """Write the reads of a foreign trace as a trace of records.

    An access that spans several records reads each; one of size 0 reads none. Times become relative to the first. The
    source may be compressed by gzip or zstd, and - is standard input. `progress` hears the records written so far.

    Raises ZmysqlError with the file and the place in it of what can't be read; the target is then what it was before.
    """
    if overwrite and target.exists() and wanted.source.exists() and target.samefile(wanted.source):
        raise UsageError(f"{target} is IN itself: name another file")
    with make_trace(target, overwrite=overwrite, progress=progress) as made:
        if wanted.kind == "iosnoop":
            found = read_iosnoop(wanted, made)
        elif wanted.kind == "csv" and engine_or_none() is None:
            found = read_csv(wanted, made)
        else:
            found = read_by_engine(wanted, made)
        return Imported(made.close(_header(wanted, found)), found)


def read_csv(wanted: Foreign, made: Made) -> Found:
    """Read CSV without the engine."""
    recordsize = wanted.recordsize or DEFAULT_RECORDSIZE
    with open_text(wanted.source, wanted.name) as text:
        rows = CsvRows(text, wanted.name, wanted.columns)
        for lines in rows.lines(recordsize):
            made.write(lines)
    objects = {(OBJSET, number): path for path, number in rows.objects.items()}
    return Found(rows.accesses, rows.empty_accesses, rows.last_ns, recordsize, objects)


def read_iosnoop(wanted: Foreign, made: Made) -> Found:
    """Read what the DTraceToolkit's iosnoop printed."""
    recordsize = wanted.recordsize or DEFAULT_RECORDSIZE
    with open_text(wanted.source, wanted.name) as text:
        rows = Iosnoop(text, wanted.name)
        for lines in rows.lines(recordsize):
            made.write(lines)
    skipped = {"writes": rows.writes} if rows.writes else {}
    if not rows.timed:
        skipped["times, which iosnoop -s or -t prints"] = rows.accesses
    objects = {(OBJSET, number): device for device, number in rows.objects.items()}
    return Found(rows.accesses, rows.empty_accesses, rows.last_ns, recordsize, objects, skipped, rows.drops)


def read_by_engine(wanted: Foreign, made: Made) -> Found:
    """Read any format."""
    with engine_for("trace import", wanted.name) as engine:
        found = engine.import_foreign(
            wanted.source,
            wanted.kind,
            columns=list(wanted.columns),
            recordsize=wanted.recordsize or DEFAULT_RECORDSIZE,
            sink=made.append,
        )
    # Object names may be in any encoding.
    objects = {(objset, number): name.decode(errors="backslashreplace") for objset, number, name in found["objects"]}
    return Found(
        accesses=found["accesses"],
        empty_accesses=found["empty"],
        last_ns=found["last_ns"],
        largest_bytes=found["largest_bytes"],
        objects=objects,
        skipped=dict(found["skipped"]),
        drops=found["drops"],
        objsets=tuple(found["objsets"]),
    )


def _header(wanted: Foreign, found: Found) -> Header:
    # A size that isn't a power of two lies in a record of the next one.
    recordsize = wanted.recordsize or max(_MIN_RECORDSIZE, 1 << (found.largest_bytes - 1).bit_length())
    datasets = {OBJSET: Dataset(wanted.name, recordsize)}
    if wanted.kind == "zfs-reads":  # the kernel has a file of this name for each dataset, with its name in it
        datasets = {objset: Dataset(f"objset-{objset:#x}", recordsize) for objset in sorted(found.objsets)}
    objects = found.objects
    if wanted.kind in ("oracleGeneral", "vscsi"):
        objects = {(OBJSET, 1): wanted.name}
    return Header(
        complete=True,
        duration_ns=found.last_ns,
        drops=found.drops,
        datasets=datasets,
        objects=objects,
        imported=wanted.name,
    )

"""What a trace is: its header, and the counts of its records where the engine is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.trace.engine import engine_for, engine_or_none
from zmysql.trace.format import Header, read_header, records_kept

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class ObjectReads:
    """The reads of one object over all of its levels; the path is None where the trace doesn't know it.

    `sequential` of the references were of the record that was read last, or of the one behind it.
    """

    objset: int
    object: int
    path: str | None
    references: int
    read_bytes: int
    sequential: int


@dataclass(frozen=True, slots=True)
class Counts:
    """What the records are; `objects` are sorted by reads, most first."""

    read_bytes: int
    first_ns: int
    last_ns: int
    out_of_order: int
    classes: Mapping[str, int]
    objects: tuple[ObjectReads, ...]


@dataclass(frozen=True, slots=True)
class Info:
    """A trace; `counts` is None where there is no engine to count with, or where there are no records."""

    path: Path
    file_bytes: int
    header: Header
    records: int
    counts: Counts | None


def read_info(path: Path) -> Info:
    """Read a trace once; memory grows with its objects only.

    Raises ZmysqlError, with the file and the way out, where it can't be read.
    """
    header = read_header(path)
    file_bytes = path.stat().st_size
    engine = engine_or_none()
    if engine is None or header.records == 0:
        records = records_kept(path) if header.records is None else header.records
        return Info(path, file_bytes, header, records, None)
    with engine_for("trace info", path):
        found = engine.summary(path, complete=header.complete, records=header.records)
    objects = (
        ObjectReads(objset, number, header.objects.get((objset, number)), references, read_bytes, sequential)
        for objset, number, references, read_bytes, sequential in found["objects"]
    )
    counts = Counts(
        read_bytes=found["bytes"],
        first_ns=found["first_ns"],
        last_ns=found["last_ns"],
        out_of_order=found["out_of_order"],
        classes=dict(found["classes"]),
        objects=tuple(objects),
    )
    return Info(path, file_bytes, header, found["records"], counts)

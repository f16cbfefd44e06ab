"""Which files are read, by the names of their tables: how often, how much of them, and how well each would cache.

A file is the finest that a trace tells: the indexes of a table share its file. Only full-text indexes have their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.locality.names import data_directories, name_of
from zmysql.locality.sampling import real_bytes, sampled_bytes

if TYPE_CHECKING:
    from collections.abc import Collection

    from zmysql.locality._engine import Reads
    from zmysql.locality.names import Kind
    from zmysql.trace.format import Header

MOST_CURVES = 20


@dataclass(frozen=True, slots=True)
class ObjectReads:
    """Reads of an object (a file), its indirect blocks with it.

    `name` is for people, such as sbtest.sbtest1; `path` is None where the trace doesn't know it. Counts and bytes are
    of the records in the file. `misses` are its part of the misses of an LRU cache that all objects share. `mrc` is
    (real cache bytes, miss ratio) of an LRU cache that the object had for itself, exact at each point; it is empty for
    objects that aren't among the most read.
    """

    objset: int
    object: int
    path: str | None
    name: str
    kind: Kind
    references: int
    distinct_blocks: int
    distinct_bytes: int
    misses: int
    mrc: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Objects:
    """All objects, the most read first; `misses` are those of an LRU cache of `cache_bytes` that they share."""

    cache_bytes: int
    references: int
    misses: int
    objects: tuple[ObjectReads, ...]


def objects(
    reads: Reads, header: Header, *, cache_bytes: int, curves: int = MOST_CURVES, threads: int | None = None
) -> Objects:
    """Give the objects of a trace, with their own miss-ratio curves for this many of the most read.

    `threads` are as many as there are processors, unless given.
    """
    from zmysql.locality import _engine  # noqa: PLC0415 - who has reads has the engine

    directories = data_directories(header.objects.values())
    found = []
    for one in _engine.objects(reads, sampled_bytes(header, cache_bytes), curves, threads):
        path = header.objects.get((one.objset, one.object))
        found.append(
            replace(
                unseen(one.objset, one.object, path, directories),
                references=one.references,
                distinct_blocks=one.distinct_blocks,
                distinct_bytes=one.distinct_bytes,
                misses=one.misses,
                mrc=tuple((real_bytes(header, size), miss_ratio) for size, miss_ratio in one.mrc()),
            )
        )
    return Objects(cache_bytes, len(reads), sum(one.misses for one in found), tuple(found))


def unseen(objset: int, number: int, path: str | None, directories: Collection[str]) -> ObjectReads:
    """Give an object by its name, without any reads; `directories` are the server's data directories."""
    name = name_of(path, directories)
    called = name.text or f"object {number} of objset {objset}"
    return ObjectReads(objset, number, path, called, name.kind, 0, 0, 0, 0, ())

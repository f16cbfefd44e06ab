"""Synthetic traces, each with a verdict of its own: what a machine reads in ten minutes."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.trace.format import Dataset, Header, header_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Reads = Iterator[tuple[int, int, str]]  # (object, blkid, class)

MIB, GIB = 1 << 20, 1 << 30
RECORD = 16 << 10
SPAN_NS = 600 * 10**9
PATHS = {(54, 128): "/tank/mysql/data/shop/orders.ibd", (54, 129): "/tank/mysql/data/shop/archive.ibd"}
RECORDED = Header(
    complete=True,
    os="Debian GNU/Linux 13",
    zfs="2.3.9",
    mysql="9.7.0",
    started="2026-11-20T07:00:00Z",
    duration_ns=SPAN_NS,
    drops=0,
    datasets={54: Dataset("tank/mysql/data", RECORD)},
    objects=PATHS,
    host="db1",
    arc_bytes=64 * MIB,
    l2arc_bytes=GIB,
)


@dataclass(frozen=True)
class Load:
    """How a load reads, of which machine, and with which options it is judged."""

    reads: Callable[[random.Random], Reads]
    header: Header = RECORDED
    options: tuple[str, ...] = ()


def write(load: Load, path: Path) -> Path:
    """Write a load's trace, the same each time."""
    reads = list(load.reads(random.Random(7)))  # noqa: S311 - reads, not secrets
    step = SPAN_NS // len(reads)
    lines = (f"{at * step} 54 {number} 0 {blkid} {RECORD} {kind}\n" for at, (number, blkid, kind) in enumerate(reads))
    path.write_bytes(gzip.compress((header_text(load.header) + "".join(lines)).encode(), mtime=0))
    return path


def _uniform(chosen: random.Random, size_bytes: int, reads: int, kind: str = "-") -> Reads:
    """Read records of a table of this size at random."""
    for _ in range(reads):
        yield 128, chosen.randrange(size_bytes // RECORD), kind


def _fits(chosen: random.Random) -> Reads:
    """Read what the ARC holds, again and again: only first reads miss."""
    seen = set()
    for number, blkid, _ in _uniform(chosen, 4 * MIB, 40_000):
        yield number, blkid, "arc" if blkid in seen else "miss"
        seen.add(blkid)


def _neighbours(chosen: random.Random) -> Reads:
    """Read each page of a large table once, in any order: what Suresh had, but for the time that he had."""
    pages = list(range(600 * MIB // RECORD))
    chosen.shuffle(pages)
    for blkid in pages:
        yield 128, blkid, "-"


def _two_tables(chosen: random.Random) -> Reads:
    """Read a small table often, and a large one now and then."""
    for at in range(60_000):
        hot = at % 20 > 0
        yield (128, chosen.randrange(100 * MIB // RECORD), "-") if hot else (129, chosen.randrange(GIB // RECORD), "-")


LOADS = {
    "fits": Load(_fits),
    "l2arc": Load(lambda chosen: _uniform(chosen, 200 * MIB, 60_000), RECORDED, ("--ram", "128M")),
    "drops": Load(
        lambda chosen: _uniform(chosen, 200 * MIB, 60_000), replace(RECORDED, drops=6_000), ("--ram", "128M")
    ),
    "memory": Load(lambda chosen: _uniform(chosen, 100 * MIB, 60_000), RECORDED, ("--ssd", "optane", "--goal", "cost")),
    "short": Load(lambda chosen: _uniform(chosen, 10 * GIB, 20_000)),
    "neighbours": Load(_neighbours),
    "tables": Load(_two_tables, RECORDED, ("--l2arc", "1M", "--ram", "64M", "--db-size", "100T")),
    "database": Load(
        lambda chosen: _uniform(chosen, 100 * MIB, 60_000),
        replace(RECORDED, arc_bytes=8 * MIB),
        ("--l2arc", "8M", "--db-size", "200M"),
    ),
    "sampled": Load(
        lambda chosen: _uniform(chosen, 20 * MIB, 30_000), replace(RECORDED, sampling="1/10"), ("--ram", "128M")
    ),
    "share": Load(_two_tables, RECORDED, ("--sample", "2000", "--ram", "128M")),
    "imported": Load(
        lambda chosen: _uniform(chosen, 200 * MIB, 30_000),
        Header(complete=True, imported="old.csv"),
        ("--arc", "64M", "--ram", "64M"),
    ),
}

"""Traces for tests: written from reads, and read back without the engine."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from reference import Read

from zmysql.trace.format import CLASSES, Dataset, Header, header_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HEADER = Header(
    complete=True,
    os="Debian GNU/Linux 13 (trixie)",
    zfs="2.3.9",
    mysql="9.7.4",
    started="2026-11-20T07:00:00Z",
    duration_ns=10_000_000_000,
    drops=0,
    datasets={54: Dataset("tank/mysql/data", 16384), 55: Dataset("tank/mysql/log", 131072)},
    objects={
        (54, 128): "/tank/mysql/data/shop/orders.ibd",
        (54, 129): "/tank/mysql/data/shop/items#p#p0.ibd",
        (54, 130): "/tank/mysql/data/shop/items#p#p1.ibd",
        (55, 128): "/tank/mysql/log/ib_logfile0",
    },
    host="db1",
    arc_bytes=1 << 30,
    pid=4711,
    ended="duration",
)

SECOND_NS = 1_000_000_000


def read(time_ns: int, objset: int = 54, number: int = 128, blkid: int = 0, **others: Any) -> Read:
    """Give a read of a 16K record at level 0 that missed, unless said otherwise."""
    return replace(Read(time_ns, objset, number, 0, blkid, 16384, "miss"), **others)


def write_trace(path: Path, reads: Sequence[Read], header: Header = HEADER) -> Path:
    path.write_bytes(gzip.compress((header_text(header) + "".join(one.line() for one in reads)).encode()))
    return path


def reads_of(path: Path) -> list[Read]:
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    found = []
    for line in lines:
        if not line.startswith("#"):
            time_ns, objset, number, level, blkid, size, kind = line.split(" ")
            found.append(Read(int(time_ns), int(objset), int(number), int(level), int(blkid), int(size), kind))
    return found


def any_records() -> st.SearchStrategy[list[Read]]:
    """Give records with any values that the format can hold: reads, and what is none."""
    large = st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1))
    return st.lists(
        st.builds(
            Read,
            time_ns=large,
            objset=large,
            object=large,
            level=st.integers(0, 255),
            blkid=large,
            size=st.integers(1, 16 << 20),
            kind=st.sampled_from(CLASSES),
        ),
        min_size=1,
        max_size=30,
    )

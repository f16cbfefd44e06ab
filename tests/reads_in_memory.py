"""Traces for the tests of what is computed from reads in memory."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from reference import Read

from zmysql.locality import _engine

if TYPE_CHECKING:
    from collections.abc import Sequence

# (objset, object, size of its records): three files with records, one of a small block, one that can't be grouped.
FILES = ((54, 2, 16384), (54, 3, 16384), (55, 2, 4096), (55, 9, 2048), (54, 5, 1536))
# Files of one block grow, and 131072 is what an indirect block may have.
ODD_SIZES = (512, 1024, 131072)


def loaded(reads: Sequence[Read]) -> _engine.Reads:
    """Write the reads as a trace and load it."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "trace")
        path.write_bytes(gzip.compress("".join(read.line() for read in reads).encode(), compresslevel=1))
        return _engine.load(path, complete=True, records=len(reads))


@st.composite
def file_reads(draw: st.DrawFn) -> list[Read]:
    """Give reads of a few files whose records lie close to each other."""
    files = draw(st.lists(st.sampled_from(FILES), min_size=1, max_size=3))
    times = draw(st.sampled_from([3, 1000, 2**64 - 1]))

    @st.composite
    def one(draw: st.DrawFn) -> Read:
        objset, number, size = draw(st.sampled_from(files))
        level = draw(st.sampled_from([0, 0, 0, 0, 1]))
        blkid = draw(st.integers(0, 40) | st.sampled_from([0, 0, 1, 2**64 - 1, 2**64 - 2]))
        if level or draw(st.integers(0, 30)) == 0:
            size = draw(st.sampled_from(ODD_SIZES))
        return Read(draw(st.integers(0, times)), objset, number, level, 0 if number == 9 else blkid, size, "arc")

    return draw(st.lists(one(), min_size=1, max_size=60))

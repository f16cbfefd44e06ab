"""Loading a trace."""

from __future__ import annotations

import gzip
import sys
from typing import TYPE_CHECKING

import pytest

import zmysql.locality
from zmysql.errors import ZmysqlError
from zmysql.locality.reads import load
from zmysql.trace.format import Header, header_text, read_header

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.trace"
    path.write_bytes(gzip.compress((header_text(Header(complete=True)) + "1 54 2 0 0 512 -\n" * 3).encode()))
    return path


def test_a_trace_is_loaded(path: Path) -> None:
    assert len(load(path, read_header(path))) == 3


def test_a_trace_that_is_not_whole_is_named(path: Path) -> None:
    with pytest.raises(ZmysqlError, match=r"a\.trace holds 3 records where its header says 4"):
        load(path, Header(complete=True, records=4))


def test_without_the_engine_it_says_where_to_go(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(zmysql.locality, "_engine", raising=False)
    monkeypatch.setitem(sys.modules, "zmysql.locality._engine", None)
    with pytest.raises(ZmysqlError, match=r"the engine isn't built here.*copy .*a\.trace to a machine where it is"):
        load(path, read_header(path))

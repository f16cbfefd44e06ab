"""Loads a trace for the analyses that look at its reads more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.locality.memory import READ_BYTES, require

if TYPE_CHECKING:
    from pathlib import Path

    from zmysql.locality._engine import Reads
    from zmysql.locality.share import Share
    from zmysql.trace.format import Header


def load(path: Path, header: Header, share: Share | None = None) -> Reads:
    """Read a trace, or a share of its blocks, into memory.

    Raises ZmysqlError, with the file and the way out, where the trace can't be read, is larger than the memory, or the
    engine isn't built.
    """
    try:
        from zmysql.locality import _engine  # noqa: PLC0415 - a database host has none, and needs none to record
    except ImportError:
        raise ZmysqlError(
            f"the engine isn't built here, as there was no Rust when zmysql was installed: copy {path} to a machine"
            " where it is, and run `zmysql locality` there"
        ) from None
    if share is not None:
        require(share.references * READ_BYTES, f"{path}: the {share.references:,} records of its sample")
    elif header.records is not None:
        require(header.records * READ_BYTES, f"{path}: its {header.records:,} records")
    one_in = 1 if share is None else share.one_in
    try:
        return _engine.load(path, complete=header.complete, records=header.records, one_in=one_in)
    except _engine.TraceUnreadable as error:
        raise ZmysqlError(f"{path} {error}") from None

"""The engine, imported when it is needed: a database host may have none."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


def engine_or_none() -> ModuleType | None:
    """Give the engine where it is built."""
    try:
        from zmysql.locality import _engine  # noqa: PLC0415 - see above
    except ImportError:
        return None
    return _engine


@contextmanager
def engine_for(command: str, name: object) -> Iterator[ModuleType]:
    """Give the engine, and say of what it can't read that it is `name` that can't be.

    Raises ZmysqlError, with the way out, where the engine isn't built.
    """
    engine = engine_or_none()
    if engine is None:
        raise ZmysqlError(
            f"the engine isn't built here, as there was no Rust when zmysql was installed: copy {name} to a machine"
            f" where it is, and run `zmysql {command}` there"
        )
    try:
        yield engine
    except engine.TraceUnreadable as error:
        raise ZmysqlError(f"{name} {error}") from None

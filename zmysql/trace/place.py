"""Where a file is to go: what is there already, and how the new one takes its place whole or not at all."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, ZmysqlError
from zmysql.trace.format import read_header, records_kept

if TYPE_CHECKING:
    from collections.abc import Iterator


def beside(path: Path) -> Path:
    """Give the name under which the file is made before it takes its place."""
    return path.with_name(f".{path.name}.new")


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """Give the path of an empty file, which takes the place of `path` at the end of the block, or is removed.

    A link stays a link. Raises UsageError where `path` is taken, and ZmysqlError for any OSError in the block.
    """
    target = Path(os.path.realpath(path))
    check_free(target, overwrite=overwrite)
    new = beside(target)
    try:
        made = _locked(new, target)
        try:
            yield new
            os.fsync(made)
            check_free(target, overwrite=overwrite)
            new.replace(target)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        finally:
            os.close(made)
        make_durable(target)
    except OSError as error:
        raise ZmysqlError(f"{path} can't be written: {error.strerror or error}") from None


def _locked(new: Path, target: Path) -> int:
    """Open the new file, empty and under a lock: it may be there after a kill -9, and another may be making it."""
    while True:
        made = os.open(new, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(made, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(made, new):
                os.truncate(made, 0)
                return made
        except BlockingIOError:
            os.close(made)
            raise UsageError(f"{target} is being made by another zmysql right now: name another file") from None
        os.close(made)  # the other took it away meanwhile


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def make_durable(path: Path) -> None:
    """See that a new name of a file survives a power cut."""
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def check_free(path: Path, *, overwrite: bool) -> None:
    """Raise UsageError where there is something that isn't to be replaced: a recording in progress never is."""
    if not path.exists():
        return
    if not overwrite or not path.is_file():
        raise UsageError(occupied(path))
    try:
        with path.open("rb") as old:
            fcntl.flock(old, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"{path} is being recorded right now: name another file") from None
    except OSError as error:
        raise ZmysqlError(f"{path} can't be replaced: {error.strerror}; name another file") from None


def occupied(path: Path) -> str:
    """Say what is there already, and above all whether it is a recording that nobody has looked at."""
    if not path.is_file():
        return f"{path} exists and is no file: name another"
    way_out = "name another file, or let it go with --overwrite"
    try:
        header = read_header(path)
    except ZmysqlError:
        return f"{path} exists: {way_out}"
    if header.complete:
        return f"{path} exists, a trace of {header.records} records: {way_out}"
    held = f"a recording that was cut off, with {records_kept(path)} records"
    return f"{path} exists, {held} that `zmysql locality report` reads as they are: {way_out}"

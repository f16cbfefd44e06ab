"""Snapshots by libzfs_core, through pyzfs: no process, and no text to read. For this machine only."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from zmysql.errors import ZmysqlError
from zmysql.host import Host, Local
from zmysql.zfs.snapshot import (
    ROLL_BACK,
    ByCommand,
    SnapshotCalls,
    SnapshotSet,
    roll_back_arguments,
    roll_back_failed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def snapshot_calls(host: Host) -> SnapshotCalls:
    """Give libzfs_core's calls where it can be had, and those of zfs(8) elsewhere."""
    if isinstance(host, Local):
        try:
            return ByLibrary()
        except (ImportError, OSError):  # no pyzfs, or no library that it fits
            pass
    return ByCommand(host)


class ByLibrary(SnapshotCalls):
    """By libzfs_core, on this machine."""

    def __init__(self) -> None:
        """Load pyzfs. Raises ImportError or OSError where it can't be."""
        # Not at the top: loading takes longer than most commands need.
        self._lzc: Any = import_module("libzfs_core")
        self._exceptions: Any = import_module("libzfs_core.exceptions")

    def create(self, of: SnapshotSet, marks: Mapping[str, str]) -> None:
        """Call lzc_snapshot: all or none, at one moment."""
        with self._errors("take", of):
            properties = {name.encode(): value.encode() for name, value in marks.items()}
            self._lzc.lzc_snapshot(_encoded(of.full_names), properties)

    def destroy(self, of: SnapshotSet) -> None:
        """Call lzc_destroy_snaps: all or none."""
        with self._errors("destroy", of):
            self._lzc.lzc_destroy_snaps(_encoded(of.full_names), defer=False)

    def hold(self, of: SnapshotSet, tag: str) -> None:
        """Call lzc_hold, which passes over snapshots that aren't there."""
        with self._errors("hold", of):
            missing = self._lzc.lzc_hold(dict.fromkeys(_encoded(of.full_names), tag.encode()))
        if missing:
            raise ZmysqlError(f"can't hold {missing[0].decode()}: it isn't there any more")

    def release(self, of: SnapshotSet, tag: str) -> None:
        """Call lzc_release, which passes over tags that aren't there."""
        with self._errors("release", of):
            missing = self._lzc.lzc_release({name: [tag.encode()] for name in _encoded(of.full_names)})
        if missing:
            raise ZmysqlError(f"can't release {missing[0].decode()}: it isn't there")

    def roll_back(self, to: SnapshotSet, newer: Sequence[str]) -> None:
        """Run the channel program by lzc_channel_program."""
        with self._errors("roll back to", to):
            try:
                arguments = _encoded(roll_back_arguments(to, newer))
                self._lzc.lzc_channel_program(to.pool.encode(), ROLL_BACK.encode(), params=arguments)
            except self._exceptions.ZCPRuntimeError as error:
                raise roll_back_failed(to, error.details.decode(errors="replace")) from None

    @contextmanager
    def _errors(self, what: str, of: SnapshotSet) -> Iterator[None]:
        try:
            yield
        except self._exceptions.ZFSError as error:
            # What failed for several snapshots says nothing itself; the errors in it do.
            reasons = getattr(error, "errors", [error])
            said = "; ".join(sorted({f"{_decoded(one.name)}{one.message}" for one in reasons}))
            raise ZmysqlError(f"can't {what} {of.root}@{of.name}: {said}") from None


def _encoded(names: Sequence[str]) -> list[bytes]:
    return [name.encode() for name in names]


def _decoded(name: bytes | None) -> str:
    return f"{name.decode(errors='replace')}: " if name else ""

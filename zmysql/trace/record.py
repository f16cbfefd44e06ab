"""Records a trace: finds mysqld, runs blkaccess.d on it, writes what it prints, and says what ended it."""

from __future__ import annotations

import math
import os
import select
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import resources
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.mysql.process import Server, find_server, server_version
from zmysql.platforms.tracer import Tracer, find_tracer
from zmysql.trace.format import Header
from zmysql.trace.machine import arc_bytes, describe_system, l2arc_bytes, zfs_version
from zmysql.trace.objects import Files, Mounted, direct_io, mounted_datasets, server_files, walk
from zmysql.trace.tracer_output import Reader, complaints, parse_drops
from zmysql.trace.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zmysql.host import Host, Process

SCRIPT = "blkaccess.d"
_TICK_SECONDS = 0.25
_PIECE_BYTES = 1 << 18
# The script ends by itself this long after we should have ended it, should we be gone.
_BACKSTOP_SECONDS = 10
# dtrace compiles and loads for seconds; in an emulated machine for half a minute.
_START_SECONDS = 180.0
_END_SECONDS = 30.0
# The script prints a sign of life each second.
_SILENT_SECONDS = 60.0


class Ended(StrEnum):
    """What ended a recording."""

    DURATION = "duration"
    INTERRUPTED = "interrupted"
    SERVER = "mysqld ended"
    TRACER = "tracer died"


@dataclass(frozen=True, slots=True)
class Target:
    """What will be traced, and with what: all that is looked up before the tracer starts."""

    server: Server
    tracer: Tracer
    mounted: Mounted
    files: Files
    header: Header
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How a recording stands; `elapsed_seconds` is None until the tracer works."""

    records: int
    drops: int
    elapsed_seconds: float | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A finished recording: the trace's header, and what dtrace complained of."""

    header: Header
    complaint: str


def find_target(host: Host, pid: int | None = None) -> Target:
    """Look up what can be traced on a host.

    Raises ZmysqlError or UsageError, with the way out, where nothing can.
    """
    tracer = find_tracer(host)
    server = find_server(host, pid)
    mounted = mounted_datasets(host)
    files = server_files(host, server, mounted)
    names = [mounted.datasets[objset].name for objset in sorted(files.objsets)]
    header = Header(
        complete=False,
        os=describe_system(host),
        zfs=zfs_version(host),
        mysql=server_version(host, server),
        datasets={objset: mounted.datasets[objset] for objset in sorted(files.objsets)},
        objects=files.paths,
        host=host.run(("uname", "-n")).stdout.strip(),
        arc_bytes=arc_bytes(host),
        l2arc_bytes=l2arc_bytes(host, names),
        pid=server.pid,
    )
    warning = direct_io(host, server, files, mounted)
    return Target(server, tracer, mounted, files, header, (warning,) if warning else ())


def record(
    host: Host,
    target: Target,
    path: Path,
    duration_seconds: float,
    *,
    rate: int = 1,
    overwrite: bool = False,
    interrupted: Callable[[], bool] = lambda: False,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Recorded:
    """Trace for a duration, or until `interrupted` says so, the server ends, or the tracer dies; keep all there is.

    Of `rate` records one is traced (zmysql.trace.sampling says which).

    Raises UsageError where `path` exists already, and ZmysqlError where nothing could be traced or written; then
    nothing new is left behind.
    """
    target = replace(target, header=replace(target.header, sampling=f"1/{rate}"))
    arguments = (str(target.server.pid), str(math.ceil(duration_seconds) + _BACKSTOP_SECONDS), str(rate))
    with (
        resources.as_file(resources.files("zmysql.dscripts") / SCRIPT) as script,
        Writer(path, target.header, overwrite=overwrite) as writer,
        host.start(target.tracer.command(str(script), arguments)) as process,
    ):
        recording = _Recording(process, writer, duration_seconds, interrupted, progress)
        ended = recording.run()
        if ended is None:
            writer.discard()
            raise ZmysqlError("interrupted before the tracer had begun: nothing was recorded")
        reader, errors = recording.reader, process.stderr()
        if reader.began is None:
            writer.discard()
            raise ZmysqlError(f"dtrace couldn't start on {host.name}: {complaints(errors) or 'it said nothing'}")
        header = replace(
            _named(host, target, reader),
            started=reader.began.time_of_day,
            duration_ns=round(recording.elapsed_seconds * 1e9),
            drops=None if ended is Ended.TRACER else parse_drops(errors),
            ended=ended,
        )
        return Recorded(writer.close(header), complaints(errors))


class _Recording:
    """The time from the tracer's start to its end."""

    def __init__(
        self,
        process: Process,
        writer: Writer,
        duration_seconds: float,
        interrupted: Callable[[], bool],
        progress: Callable[[Progress], None],
    ) -> None:
        self.reader = Reader()
        self.elapsed_seconds = 0.0
        self._process = process
        self._writer = writer
        self._duration_seconds = duration_seconds
        self._interrupted = interrupted
        self._progress = progress
        self._started = self._heard = time.monotonic()
        self._began: float | None = None

    def run(self) -> Ended | None:
        """Write records until the end, and say what it was; None if it came before the beginning."""
        ended = None
        while ended is None and self._listen():
            ended = self._reason_to_end()
        if self._began is None:
            return None if ended is Ended.INTERRUPTED else Ended.TRACER
        self.elapsed_seconds = min(time.monotonic() - self._began, self._duration_seconds)
        if ended is None:  # the tracer closed its output by itself
            ended = Ended.SERVER if self.reader.process_exited else Ended.TRACER
        self._finish()
        return ended

    def _reason_to_end(self) -> Ended | None:
        now = time.monotonic()
        if self._interrupted():
            return Ended.INTERRUPTED
        if self._began is not None and now - self._began >= self._duration_seconds:
            return Ended.DURATION
        if now - self._heard > (_START_SECONDS if self._began is None else _SILENT_SECONDS):
            return Ended.TRACER
        return None

    def _listen(self) -> bool:
        """Wait a moment for output and write what came; False when there will be no more."""
        readable, _, _ = select.select([self._process.stdout_fd], [], [], _TICK_SECONDS)
        piece = os.read(self._process.stdout_fd, _PIECE_BYTES) if readable else None
        if piece:
            self._heard = time.monotonic()
            self._feed(piece)
            if self._began is None and self.reader.began:
                self._began = self._heard
            records = self.reader.take()
            if records:
                self._writer.write(records)
        self._writer.tick()
        elapsed = None if self._began is None else time.monotonic() - self._began
        self._progress(Progress(self._writer.records, parse_drops(self._process.stderr()), elapsed))
        return piece != b""

    def _feed(self, piece: bytes) -> None:
        try:
            self.reader.feed(piece)
        except ValueError:
            # Whatever came before stays in the trace, as of a recording that was cut off.
            raise ZmysqlError(
                f"dtrace printed a line that {SCRIPT} has no words for: run `dtrace -s {SCRIPT} PID` by hand to see it"
            ) from None

    def _finish(self) -> None:
        """Let the tracer print what it still holds, and write that."""
        self._process.interrupt()
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline and self._listen():
            pass
        records = self.reader.take(everything=True)
        if records:
            self._writer.write(records)
        with suppress(TimeoutError):
            self._process.wait(1.0)


def _named(host: Host, target: Target, reader: Reader) -> Header:
    """Give the header with the files and datasets that were read, by the names that they have now, or had before."""
    files = target.files
    # A server that ended has no root directory any more; its files are where they were, unless in a container.
    root = f"/proc/{target.server.pid}/root"
    root = root if host.run(("test", "-e", root), check=False).exit_status == 0 else ""
    paths = {**files.paths, **walk(host, root, files.data_directory, files.opened, target.mounted)}
    objsets = {objset for objset, _ in reader.addresses} | files.objsets
    return replace(
        target.header,
        arc_bytes=arc_bytes(host),
        datasets={
            objset: target.mounted.datasets[objset] for objset in sorted(objsets & target.mounted.datasets.keys())
        },
        objects={address: paths[address] for address in sorted(reader.addresses & paths.keys())},
    )

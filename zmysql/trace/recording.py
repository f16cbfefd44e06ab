"""The time of a recording: the tracer's output goes to the file, through restarts of the server, until the end."""

from __future__ import annotations

import math
import os
import posixpath
import select
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.trace.tracer_output import Reader, complaints, parse_drops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zmysql.host import Host, Process
    from zmysql.mysql.process import Server
    from zmysql.trace.follow import FollowedFiles
    from zmysql.trace.format import Header
    from zmysql.trace.parts import Parts

_TICK_SECONDS = 0.25
_PIECE_BYTES = 1 << 18
# The script ends by itself this long after we should have ended it, should we be gone.
_BACKSTOP_SECONDS = 10
# dtrace compiles and loads for seconds; in an emulated machine for half a minute.
_START_SECONDS = 180.0
_END_SECONDS = 30.0
# The script prints a sign of life each second.
_SILENT_SECONDS = 60.0
_NS_PER_SECOND = 1_000_000_000


class Ended(StrEnum):
    """What ended a recording."""

    DURATION = "duration"
    INTERRUPTED = "interrupted"
    SERVER = "mysqld ended"
    TRACER = "tracer died"


@dataclass(frozen=True, slots=True)
class Progress:
    """How a recording stands.

    `records` is None where the kernel sums them up, `elapsed_seconds` until the tracer works; `waiting` is for a server
    to come back, and the tracer with it.
    """

    records: int | None
    drops: int
    elapsed_seconds: float | None
    waiting: bool = False


@dataclass(frozen=True, slots=True)
class Watch:
    """How long to record, whether to go on with a server that restarted, who may interrupt and who hears of it."""

    duration_seconds: float
    follow: bool
    interrupted: Callable[[], bool]
    progress: Callable[[Progress], None]


class Recording:
    """A recording that is being made: `command` gives the argv that traces a process for some seconds.

    `header` makes a header of a part for the addresses that were read.
    """

    def __init__(
        self,
        host: Host,
        command: Callable[[Server, int], Sequence[str]],
        parts: Parts,
        *,
        files: FollowedFiles,
        header: Callable[[Reader], Header],
        watch: Watch,
    ) -> None:
        """Take all that is looked up before the tracer starts."""
        self.reader = Reader()
        self.restarts = 0
        self.complaint = ""
        self._host, self._command, self._parts, self._files = host, command, parts, files
        self._header, self._watch = header, watch
        self._running: Process | None = None
        self._drops = self._drops_before = 0  # of tracers that ended, and of the parts before this one
        self._part_began_ns = self._ended_ns = 0
        self._heard = 0.0
        self._began: float | None = None

    def run(self) -> Header:
        """Record until the end, and give the final header.

        Raises ZmysqlError where the tracer can't begin, or the trace can't be written.
        """
        ended = self._trace(self._files.server)
        while ended is Ended.SERVER and self._watch.follow:
            server = self._wait_for_server()
            if server is None:
                ended = Ended.INTERRUPTED if self._watch.interrupted() else Ended.SERVER
                break
            self.restarts += 1
            ended = self._trace(server)
        records = self.reader.take(everything=True)
        if records:
            self._parts.write(records)
        header = self._part_header(self._ended_ns, ended)
        return self._parts.close(replace(header, drops=None) if ended is Ended.TRACER else header)

    @property
    def _elapsed_seconds(self) -> float:
        return 0.0 if self._began is None else time.monotonic() - self._began

    @property
    def _left_seconds(self) -> float:
        return self._watch.duration_seconds - self._elapsed_seconds

    def _trace(self, server: Server) -> Ended:
        """Run the tracer once, until it, the server or the time ends."""
        seconds = math.ceil(self._left_seconds) + _BACKSTOP_SECONDS
        self.reader.another()
        first = self._began is None
        with self._host.start(self._command(server, seconds)) as process:
            self._heard, self._running = time.monotonic(), process
            ended = None
            while ended is None and self._listen(process):
                ended = self._reason_to_end()
            if ended is None:  # the tracer closed its output by itself
                ended = Ended.SERVER if self.reader.process_exited else Ended.TRACER
            self._note_end()
            if self._began is not None:
                self._finish(process)
            errors, self._running = process.stderr(), None
        self._drops += parse_drops(errors)
        self.complaint = complaints(errors)
        if self._began is None:
            self._parts.discard()
            if ended is Ended.INTERRUPTED:
                raise ZmysqlError("interrupted before the tracer had begun: nothing was recorded")
            program = posixpath.basename(process.argv[0])
            raise ZmysqlError(f"{program} couldn't start on {self._host.name}: {self.complaint or 'it said nothing'}")
        if not first and ended is Ended.TRACER and not self._host_has(server):
            ended = Ended.SERVER  # it ended once more before the tracer could begin
        return ended

    def _host_has(self, server: Server) -> bool:
        return self._host.run(("test", "-e", f"/proc/{server.pid}"), check=False).exit_status == 0

    def _reason_to_end(self) -> Ended | None:
        if self._watch.interrupted():
            return Ended.INTERRUPTED
        if self._left_seconds <= 0:
            return Ended.DURATION
        if time.monotonic() - self._heard > (_START_SECONDS if self._began is None else _SILENT_SECONDS):
            return Ended.TRACER
        return None

    def _note_end(self) -> None:
        self._ended_ns = round(min(self._elapsed_seconds, self._watch.duration_seconds) * _NS_PER_SECOND)

    def _listen(self, process: Process) -> bool:
        """Wait a moment for output and write what came; False when there will be no more."""
        readable, _, _ = select.select([process.stdout_fd], [], [], _TICK_SECONDS)
        piece = os.read(process.stdout_fd, _PIECE_BYTES) if readable else None
        if piece:
            self._heard = time.monotonic()
            self._feed(process, piece)
            if self._began is None and self.reader.began:
                self._began = self._heard
            records = self.reader.take()
            if records:
                self._parts.write(records)
            self._files.see(self.reader.addresses)
        self._parts.tick()
        if self._parts.full and self.reader.held:  # so that none is empty
            self._next_part()
        self._show(waiting=not self.reader.working)
        return piece != b""

    def _feed(self, process: Process, piece: bytes) -> None:
        try:
            self.reader.feed(piece)
        except ValueError:
            # Whatever came before stays in the trace, as of a recording that was cut off.
            command = " ".join(process.argv)
            raise ZmysqlError(f"the tracer printed a line that isn't blkaccess': run `{command}` to see it") from None

    def _finish(self, process: Process) -> None:
        """Let the tracer print what it still holds, and write that."""
        process.interrupt()
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline and self._listen(process):
            pass
        with suppress(TimeoutError):
            process.wait(1.0)

    def _wait_for_server(self) -> Server | None:
        """Give the server that runs again; None when the time is over."""
        while self._left_seconds > 0 and not self._watch.interrupted():
            server = self._files.restarted()
            if server:
                return server
            self._parts.tick()
            self._show(waiting=True)
            time.sleep(_TICK_SECONDS)
        self._note_end()
        return None

    def _next_part(self) -> None:
        until_ns = self.reader.split()
        final = self._part_header(until_ns, Ended.DURATION)
        self._part_began_ns, self._drops_before = until_ns, self._all_drops()
        self._parts.begin(final, replace(final, drops=None, ended=None, duration_ns=None))
        self.reader.addresses.clear()

    def _part_header(self, until_ns: int, ended: Ended) -> Header:
        """Give the header of the part that ends now."""
        if self.reader.began is None:
            raise ValueError("nothing has begun")
        return replace(
            self._header(self.reader),
            started=self.reader.began.time_of_day(self._part_began_ns),
            duration_ns=max(until_ns - self._part_began_ns, 0),
            drops=self._all_drops() - self._drops_before,
            ended=ended,
            restarts=self.restarts,
        )

    def _all_drops(self) -> int:
        now = parse_drops(self._running.stderr()) if self._running else 0
        return self._drops + self.reader.lost + now

    def _show(self, *, waiting: bool) -> None:
        elapsed = None if self._began is None else self._elapsed_seconds
        self._watch.progress(Progress(self._parts.records, self._all_drops(), elapsed, waiting))

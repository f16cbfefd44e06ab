"""Runs a script that sums up in the kernel, and keeps what it prints at its end."""

from __future__ import annotations

import math
import os
import posixpath
import select
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, ZmysqlError
from zmysql.mysql.process import find_server, server_version
from zmysql.platforms.tracer import Kind, find_tracer
from zmysql.trace.machine import describe_system, zfs_version
from zmysql.trace.objects import mounted_datasets, server_files
from zmysql.trace.recording import Ended, Progress
from zmysql.trace.script_output import ScriptFile, parse_output
from zmysql.trace.tracer_output import Comments, complaints, parse_drops

if TYPE_CHECKING:
    from zmysql.host import Host, Process
    from zmysql.trace.recording import Watch

# What watches a process, and what watches the pools.
OF_PROCESS = ("locality", "filerw")
OF_POOLS = ("zilcommit", "vdevio")
SAMPLED = ("locality",)
_TICK_SECONDS = 0.25
_START_SECONDS = 180.0
_END_SECONDS = 60.0
_SILENT_SECONDS = 60.0
_BACKSTOP_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Summed:
    """A finished run: the file of it, and what the tracer complained of."""

    file: ScriptFile
    complaint: str


def run_script(
    host: Host, script: str, watch: Watch, *, pid: int | None = None, kind: Kind | None = None, rate: int = 1
) -> Summed:
    """Run a script until `watch` says so, the process ends, or the tracer dies, and give what it printed.

    Raises ZmysqlError or UsageError, with the way out, where it can't run or printed nothing.
    """
    tracer = find_tracer(host, kind)
    if tracer.kind is Kind.HISTORY:
        raise UsageError(f"{script} needs dtrace or bpftrace: `zmysql trace doctor` says what is missing")
    if rate != 1 and script not in SAMPLED:
        raise UsageError(f"{script} doesn't sample: leave --sample out")
    server = find_server(host, pid) if script in OF_PROCESS else None
    if pid is not None and server is None:
        raise UsageError(f"{script} watches the pools, not a process: leave --pid out")
    facts: dict[str, object] = {
        "os": describe_system(host),
        "zfs": zfs_version(host),
        "mysql": server and server_version(host, server),
        "host": host.run(("uname", "-n")).stdout.strip(),
        "pid": server and server.pid,
        "tracer": f"{tracer.kind} {tracer.version}",
    }
    arguments = [str(server.pid)] if server else []
    arguments.append(str(math.ceil(watch.duration_seconds) + _BACKSTOP_SECONDS))
    arguments += [str(rate)] if script in SAMPLED else []
    files = server_files(host, server, mounted_datasets(host)) if server else None
    with (
        resources.as_file(resources.files("zmysql.dscripts") / tracer.file_name(script)) as path,
        host.start(tracer.command(path, arguments)) as process,
    ):
        run = _Run(process, watch)
        ended = run.until_end()
        errors = process.stderr()
    text = run.text.decode(errors="replace")
    if run.comments.began is None:
        if ended is Ended.INTERRUPTED:
            raise ZmysqlError("interrupted before the tracer had begun: nothing was recorded")
        program = posixpath.basename(tracer.program)
        raise ZmysqlError(f"{program} couldn't start on {host.name}: {complaints(errors) or 'it said nothing'}")
    facts |= {
        "started": run.comments.began.time_of_day(),
        "duration_ns": run.duration_ns,
        "drops": None if ended is Ended.TRACER else parse_drops(errors) + run.comments.lost,
        "ended": ended,
        "objects": {f"{objset}:{number}": path for (objset, number), path in files.paths.items()} if files else {},
    }
    return Summed(ScriptFile(script, _only_read(facts, text), text), complaints(errors))


def _only_read(facts: dict[str, object], text: str) -> dict[str, object]:
    """Give the facts with the names of only those objects that the rows have."""
    try:
        output = parse_output(text)
        at = output.columns.index("objset"), output.columns.index("object")
    except ValueError:
        return facts | {"objects": {}}
    read = {f"{row[at[0]]}:{row[at[1]]}" for row in output.rows}
    objects = facts["objects"]
    named = {key: path for key, path in objects.items() if key in read} if isinstance(objects, dict) else {}
    return facts | {"objects": named}


class _Run:
    """The time from the tracer's start to its end."""

    def __init__(self, process: Process, watch: Watch) -> None:
        self.text = b""
        self.comments = Comments()
        self.duration_ns = 0
        self._process, self._watch = process, watch
        self._began: float | None = None

    def until_end(self) -> Ended:
        """Wait until something ends the run, and let the script print its sums."""
        heard = time.monotonic()
        ended: Ended | None = None
        while ended is None:
            more = self._listen()
            heard = time.monotonic() if more else heard
            elapsed = 0.0 if self._began is None else time.monotonic() - self._began
            silent = time.monotonic() - heard > (_START_SECONDS if self._began is None else _SILENT_SECONDS)
            if more is None:
                ended = Ended.SERVER if self.comments.process_exited else Ended.TRACER
            elif self._watch.interrupted():
                ended = Ended.INTERRUPTED
            elif elapsed >= self._watch.duration_seconds:
                ended = Ended.DURATION
            elif silent:
                ended = Ended.TRACER
            self.duration_ns = round(min(elapsed, self._watch.duration_seconds) * 1e9)
            drops = parse_drops(self._process.stderr()) + self.comments.lost
            self._watch.progress(Progress(None, drops, elapsed if self._began else None))
        if self._began is not None:
            self._process.interrupt()
            deadline = time.monotonic() + _END_SECONDS
            while time.monotonic() < deadline and self._listen() is not None:
                pass
            with suppress(TimeoutError):
                self._process.wait(1.0)
        return ended

    def _listen(self) -> bool | None:
        """Wait a moment for output: whether there was any; None when there will be no more."""
        readable, _, _ = select.select([self._process.stdout_fd], [], [], _TICK_SECONDS)
        if not readable:
            return False
        piece = os.read(self._process.stdout_fd, 1 << 18)
        self.text += piece
        self.comments.feed(piece)
        if self._began is None and self.comments.began:
            self._began = time.monotonic()
        return bool(piece) or None

"""Where commands run: on this machine, or on another over the system's ssh. The only importer of subprocess."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

EXIT_NOT_FOUND = 127  # what sh and ssh give for a command that isn't there
EXIT_NOT_EXECUTABLE = 126
EXIT_TIMED_OUT = 124  # as timeout(1)
SSH_FAILED = 255
SHARED_SECONDS = 60
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ran to its end."""

    argv: tuple[str, ...]
    exit_status: int
    stdout: str
    stderr: str


class CommandFailed(ZmysqlError):
    """A command ended with a status other than 0."""

    def __init__(self, done: Completed) -> None:
        """Keep what ran, and say it in one line with the end of what it complained of."""
        self.argv, self.exit_status_of_command, self.stderr = done.argv, done.exit_status, done.stderr
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        why = " / ".join(said[-3:]) or "it said nothing"
        super().__init__(f"`{shlex.join(done.argv)}` failed with status {done.exit_status}: {why}")


def checked(done: Completed) -> Completed:
    """Give back a command that succeeded; raise CommandFailed for one that didn't."""
    if done.exit_status != 0:
        raise CommandFailed(done)
    return done


class Process:
    """A command that runs while its standard output is read line by line. Its standard error goes to a file."""

    def __init__(self, argv: Sequence[str], popen: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        """Take over a started process and the file that holds its standard error."""
        self.argv = tuple(argv)
        self._popen = popen
        self._errors = errors

    def lines(self) -> Iterator[bytes]:
        """Yield standard output line by line, newline included, until the process closes it."""
        if self._popen.stdout is not None:
            yield from self._popen.stdout

    def write(self, text: bytes) -> None:
        """Write to standard input, of a process that was started with `feed`.

        Raises BrokenPipeError when the process doesn't read any more.
        """
        if self._popen.stdin is None:
            raise ValueError("the process was started without a pipe to its standard input")
        self._popen.stdin.write(text)
        self._popen.stdin.flush()

    def close_stdin(self) -> None:
        """End standard input, at which a process that reads it ends."""
        if self._popen.stdin is not None:
            with suppress(BrokenPipeError):
                self._popen.stdin.close()

    @property
    def pid(self) -> int:
        """The local process's id, for signals."""
        return self._popen.pid

    @property
    def stdout_fd(self) -> int:
        """The descriptor of standard output, for select(2)."""
        if self._popen.stdout is None:
            raise ValueError("the process was started without a pipe")
        return self._popen.stdout.fileno()

    def interrupt(self) -> None:
        """Send SIGINT, at which a tracer prints what it has and ends."""
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End the process at once."""
        if self._popen.poll() is None:
            self._popen.kill()

    def poll(self) -> int | None:
        """Give the exit status, or None while it runs."""
        return self._popen.poll()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and give the exit status.

        Raises TimeoutError when it still runs after `timeout` seconds.
        """
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(str(error)) from None

    def stderr(self) -> str:
        """Give all that it has written to standard error so far."""
        # pread, since the process writes through the same file offset: a seek would make it overwrite what it wrote.
        descriptor = self._errors.fileno()
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_stdin()
        self.kill()
        self._popen.wait()
        if self._popen.stdout is not None:
            self._popen.stdout.close()
        self._errors.close()


class Host(ABC):
    """A machine on which argv lists run with LC_ALL=C."""

    name: str

    @abstractmethod
    def command(self, argv: Sequence[str]) -> list[str]:
        """Give the local argv that runs `argv` on this host."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str | None = None,
        check: bool = True,
        timeout: float | None = None,
    ) -> Completed:
        """Run a command to its end.

        Raises CommandFailed when `check` and the status isn't 0. A command that isn't there has status 127,
        one that ran longer than `timeout` seconds is killed and has status 124.
        """
        done = self._run(argv, stdin, timeout)
        return checked(done) if check else done

    def _run(self, argv: Sequence[str], stdin: str | None, timeout: float | None) -> Completed:
        try:
            ended = subprocess.run(  # noqa: PLW1510 - run() above checks, with its own exception
                self.command(argv),
                input=None if stdin is None else stdin.encode(errors="surrogateescape"),
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                env=_environment(),
                timeout=timeout,
            )
        except FileNotFoundError:
            return Completed(tuple(argv), EXIT_NOT_FOUND, "", f"{argv[0]}: command not found")
        except OSError as error:  # no permission, or nothing that this machine can execute
            return Completed(tuple(argv), EXIT_NOT_EXECUTABLE, "", f"{argv[0]}: {error.strerror}")
        except subprocess.TimeoutExpired:
            return Completed(tuple(argv), EXIT_TIMED_OUT, "", f"killed after {timeout:g} s")
        # Decoded here, since subprocess would also make newlines of the carriage returns in a value.
        out, errors = ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace")
        return Completed(tuple(argv), ended.returncode, out, errors)

    def start(
        self,
        argv: Sequence[str],
        *,
        merge_stderr: bool = False,
        feed: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> Process:
        """Start a command whose output is read while it runs; `merge_stderr` makes its two outputs one.

        With `feed` its standard input is a pipe, which ends when this process does, however it ends. `env` adds to the
        environment of the local command. Raises CommandFailed when it can't be started.
        """
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - Process closes it
        try:
            popen = subprocess.Popen(
                self.command(argv),
                stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merge_stderr else errors,
                env=_environment() | dict(env or {}),
                # Ctrl-C is ours to handle: the tracer must live until it was told to print what it has.
                start_new_session=True,
            )
        except OSError as error:
            errors.close()
            raise CommandFailed(Completed(tuple(argv), EXIT_NOT_FOUND, "", str(error))) from None
        return Process(argv, popen, errors)

    def call(self, argv: Sequence[str]) -> int:
        """Run a command on our own terminal and give its exit status."""
        try:
            return subprocess.run(self.command(argv), check=False).returncode
        except FileNotFoundError:
            raise CommandFailed(Completed(tuple(argv), EXIT_NOT_FOUND, "", f"{argv[0]}: command not found")) from None

    @abstractmethod
    def put(self, path: Path, remote: str) -> None:
        """Copy a local file to `remote` on this host."""

    @abstractmethod
    def get(self, remote: str, path: Path) -> None:
        """Copy the file `remote` of this host to a local path."""

    def has(self, program: str) -> bool:
        """Tell whether a program is in the host's PATH."""
        return self.run(["sh", "-c", 'command -v -- "$1"', "sh", program], check=False).exit_status == 0

    def read_text(self, path: str) -> str:
        """Give a file's text, also of a file in /proc.

        Raises CommandFailed when it can't be read.
        """
        return self.run(["cat", "--", path]).stdout


class Local(Host):
    """This machine."""

    name = "this machine"

    def command(self, argv: Sequence[str]) -> list[str]:
        """Give `argv` as it is."""
        return list(argv)

    def put(self, path: Path, remote: str) -> None:
        """Copy a file."""
        shutil.copyfile(path, remote)

    def get(self, remote: str, path: Path) -> None:
        """Copy a file."""
        shutil.copyfile(remote, path)

    def start_detached(self, argv: Sequence[str], log: Path, *, env: Mapping[str, str] | None = None) -> int:
        """Start a command that outlives this process, in the folder of `log`, and give its process id.

        Its output goes to `log`; `env` adds to its environment.
        """
        with log.open("ab") as out:
            popen = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                env=_environment() | dict(env or {}),
                start_new_session=True,
            )
        return popen.pid


class Ssh(Host):
    """Another machine, reached by the system's ssh, so that the admin's own ssh_config holds."""

    def __init__(
        self, destination: str, *, options: Sequence[str] = (), connect_timeout_s: int = 10, share: bool = False
    ) -> None:
        """Name the machine as for ssh(1), with further options.

        `share` has all commands go through one connection, which ends a while after the last of them: a plan is some
        twenty commands, and a handshake with a distant machine takes longer than most of them. Raises ZmysqlError when
        there is no place for its socket.
        """
        self.name = destination
        self.options = [*options, "-o", "BatchMode=yes", "-o", f"ConnectTimeout={connect_timeout_s}"]
        if share:
            # %C is a hash of who goes where. The folder is the user's own: whoever has the socket has the machine.
            self.options += ["-o", "ControlMaster=auto", "-o", f"ControlPath={_socket_folder()}/%C"]
            self.options += ["-o", f"ControlPersist={SHARED_SECONDS}"]

    def command(self, argv: Sequence[str]) -> list[str]:
        """Give the ssh command; ssh hands a string to the remote shell, so each word is quoted."""
        # In braces, since the csh of FreeBSD's root takes a colon after a bare $PATH for a modifier.
        line = f'env LC_ALL=C "PATH=${{PATH}}:{_SBIN}" {_for_any_shell(shlex.join(argv))}'
        return ["ssh", *self.options, "-T", self.name, "--", line]

    def put(self, path: Path, remote: str) -> None:
        """Copy a file there with scp(1)."""
        Local().run(["scp", "-q", *self.options, str(path), f"{self.name}:{remote}"])

    def get(self, remote: str, path: Path) -> None:
        """Copy a file here with scp(1)."""
        Local().run(["scp", "-q", *self.options, f"{self.name}:{remote}", str(path)])


def _environment() -> dict[str, str]:
    """Give our environment with locale C, since parsers read what comes back."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LC_") and name != "LANGUAGE"}
    # zfs and zpool live in sbin, which a user's PATH often lacks.
    return {**kept, "LC_ALL": "C", "PATH": os.environ.get("PATH", "") + f":{_SBIN}"}


def _for_any_shell(line: str) -> str:
    """Give a line of sh(1) that csh(1) reads as well, which can't quote a newline or an exclamation mark."""
    if not set(line) & set("\n!"):
        return line
    escaped = line.replace("\\", r"\\").replace("\n", r"\0012").replace("!", r"\0041")
    return f"""sh -c 'eval "$(printf %b "$1")"' sh {shlex.quote(escaped)}"""


def _socket_folder() -> str:
    """Give a folder that only this user can enter, with a short path, as sockets' must be."""
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"zmysql-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise ZmysqlError(f"no place for ssh's socket: {folder}: {error.strerror}; set XDG_RUNTIME_DIR") from None
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise ZmysqlError(f"{folder} isn't a folder of yours alone: remove it, or set XDG_RUNTIME_DIR")
    return str(folder)

"""Questions to a MySQL or MariaDB server, asked by the mysql or mariadb client program of a host.

The client is what every database host has, and it knows the admin's own option files. A password goes to it through a
FIFO that it reads as an option file: never through argv, the environment or a file on a disk.
"""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from zmysql.errors import UsageError, ZmysqlError
from zmysql.host import EXIT_NOT_FOUND, SSH_FAILED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zmysql.host import Host, Process

Rows = tuple[dict[str, str | None], ...]

FORM = "write mysql://[user[:password]@][host[:port]]/[?socket=PATH&defaults-file=PATH], special characters as %XX"

_CONNECT_SECONDS = 10
_LEAVE_SECONDS = 10.0
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ERROR = re.compile(r"^ERROR (\d+) ", re.MULTILINE)
_ACCESS_DENIED = (1044, 1045, 1130, 1698)  # database, password, host, socket authentication
_CANNOT_CONNECT = range(2001, 2014)  # CR_SOCKET_CREATE_ERROR to CR_SERVER_LOST, errmsg.h

# What mysql --batch escapes, and nothing else: print_tab_data/safe_put_field in client/mysql.cc.
_ESCAPED = re.compile(r"\\([nt0\\])")
_MEANS = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}

# $1 and on are the client's options. The first line of stdin is the password's line of an option file, or empty; the
# rest is SQL. read(1) takes no byte more than its line. With HOME elsewhere the client finds no ~/.my.cnf and no
# ~/.mylogin.cnf, which it would believe more than the FIFO. Option files of the system still hold.
_SCRIPT = r"""
PATH=$PATH:/usr/local/bin:/opt/ooce/bin:/opt/local/bin
for client in mysql mariadb none; do command -v "$client" >/dev/null 2>&1 && break; done
[ "$client" != none ] || exit 127
IFS= read -r password
[ -n "$password" ] || exec "$client" "$@"
umask 077
folder=$(mktemp -d /tmp/zmysql.XXXXXX) || exit 1
mkfifo "$folder/my.cnf" || exit 1
{ printf '[client]\n%s\n' "$password" >"$folder/my.cnf"; rm -rf "$folder"; } 2>/dev/null &
trap 'kill $! 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
HOME=$folder "$client" --defaults-extra-file="$folder/my.cnf" "$@"
"""
# A person's [mysql] section may ask for another form of output.
_OPTIONS = (
    *("--batch", "--unbuffered", "--column-names", "--skip-raw", "--skip-table", "--skip-vertical", "--skip-html"),
    *("--skip-xml", "--skip-reconnect", "--default-character-set=utf8mb4", f"--connect-timeout={_CONNECT_SECONDS}"),
)


@dataclass(frozen=True, slots=True)
class Dsn:
    """How to reach a server, as seen from the host on which the client runs; what is None is the client's default."""

    user: str | None = None
    password: str | None = field(default=None, repr=False)
    host: str | None = None
    port: int | None = None
    socket: str | None = None
    defaults_file: str | None = None

    def __str__(self) -> str:
        """Name the server for people, without the password."""
        if self.socket:
            return f"socket {self.socket}"
        if self.host:
            return self.host if self.port is None else f"{self.host}:{self.port}"
        return "its default socket"


class QueryFailed(ZmysqlError):
    """The server, or the client, answered with an error; `code` is its number in errmsg or mysqld_error.h."""

    def __init__(self, message: str, code: int | None) -> None:
        """Keep the number beside the message."""
        super().__init__(message)
        self.code = code


def parse_dsn(text: str) -> Dsn:
    """Give the server that `mysql://[user[:password]@][host[:port]]/[?socket=PATH&defaults-file=PATH]` means.

    Percent-encoding is undone. Raises UsageError, without the text, since there may be a password in it.
    """
    if not text.startswith("mysql://") or _CONTROL.search(text):
        raise UsageError(f"this is no address of a MySQL server: {FORM}")
    try:
        parts = urlsplit(text)
        port = parts.port
        user, password, host = (_decoded(part) for part in (parts.username, parts.password, parts.hostname))
        asked = dict(_query_of(parts.query))
    except ValueError:
        raise UsageError(f"the address of the MySQL server can't be read: {FORM}") from None
    if parts.path not in {"", "/"} or parts.fragment:
        raise UsageError(f"the address of a MySQL server names no database, and has no bare / ? or # in it: {FORM}")
    if unknown := set(asked) - {"socket", "defaults-file"}:
        raise UsageError(f"the address of the MySQL server has unknown parameters ({len(unknown)}): {FORM}")
    dsn = Dsn(user, password, host or None, port, asked.get("socket"), asked.get("defaults-file"))
    if port is not None and dsn.host is None:
        raise UsageError(f"the address of the MySQL server has a port without a host: {FORM}")
    if dsn.socket and dsn.host not in {None, "localhost"}:
        raise UsageError("the address of the MySQL server has a host and a socket: give one of them")
    if dsn.defaults_file and dsn.password is not None:
        raise UsageError("the address of the MySQL server has a password and a defaults-file: give one of them")
    return dsn


def query(host: Host, dsn: Dsn, sql: str) -> Rows:
    r"""Run one statement and give its rows: column → text, None for NULL.

    mysql --batch prints the text `NULL` and NULL alike, so that text is taken for NULL. Raises QueryFailed.
    """
    done = host.run(_argv(dsn), stdin=_first_line(dsn) + sql + "\n;\n", check=False)
    if done.exit_status:
        raise _failure(host, dsn, done.exit_status, done.stderr)
    return parse_batch(done.stdout)


def parse_batch(text: str) -> Rows:
    """Give the rows that `mysql --batch` printed, the first line being the names of the columns.

    The client escapes no names, so a column must not be called something with a tab or newline in it. Raises
    ZmysqlError when a row hasn't as many fields as there are names.
    """
    lines = text.split("\n")[:-1]  # not splitlines(): a carriage return isn't escaped
    if not lines:
        return ()
    names = lines[0].split("\t")
    rows = []
    for line in lines[1:]:
        fields = line.split("\t")
        if len(fields) != len(names):
            raise ZmysqlError(f"the MySQL client printed a row of {len(fields)} fields under {len(names)} columns")
        values = [None if given == "NULL" else _unescaped(given) for given in fields]
        rows.append(dict(zip(names, values, strict=True)))
    return tuple(rows)


class Session:
    """A connection that stays open, and with it the locks that it holds.

    They go when this process ends, however it ends: the client's standard input ends then, and with it the client.
    """

    def __init__(self, host: Host, dsn: Dsn, process: Process) -> None:
        """Take over a client that reads SQL from its standard input."""
        self._host, self._dsn, self._process = host, dsn, process
        self._lines = process.lines()

    def query(self, sql: str) -> Rows:
        """Run one statement and give its rows. After QueryFailed the session is over, and its locks are gone."""
        mark = f"zmysql-{secrets.token_hex(8)}"
        try:
            self._process.write(f"{sql}\n;\nSELECT '{mark}' AS '{mark}';\n".encode())
        except BrokenPipeError:
            raise self._failed() from None
        printed: list[str] = []
        for line in self._lines:
            printed.append(line.decode(errors="replace"))
            if printed[-2:] == [f"{mark}\n"] * 2:  # as a heading and as a value
                return parse_batch("".join(printed[:-2]))
        raise self._failed()

    def _failed(self) -> ZmysqlError:
        status = SSH_FAILED
        with suppress(TimeoutError):
            status = self._process.wait(_LEAVE_SECONDS)
        return _failure(self._host, self._dsn, status, self._process.stderr())


@contextmanager
def session(host: Host, dsn: Dsn) -> Iterator[Session]:
    """Open a session, and close it at the end. Raises QueryFailed at the first question when there is no server."""
    with host.start(_argv(dsn), feed=True) as process:
        with suppress(BrokenPipeError):  # then the first question says why
            process.write(_first_line(dsn).encode())
        yield Session(host, dsn, process)
        process.close_stdin()
        with suppress(TimeoutError):  # then it is killed
            process.wait(_LEAVE_SECONDS)


def _argv(dsn: Dsn) -> Sequence[str]:
    # The client takes --defaults-file only as its first option.
    first = (f"--defaults-file={dsn.defaults_file}",) if dsn.defaults_file else ()
    where = []
    if dsn.user is not None:
        where.append(f"--user={dsn.user}")
    if dsn.socket:
        where += ["--protocol=SOCKET", f"--socket={dsn.socket}"]
    elif dsn.host:
        where.append(f"--host={dsn.host}")
        # The client takes `localhost` for its socket, also when a port is given, unless it is told otherwise.
        if dsn.host != "localhost" or dsn.port is not None:
            where.append("--protocol=TCP")
        if dsn.port is not None:
            where.append(f"--port={dsn.port}")
    return ("sh", "-c", _SCRIPT, "sh", *first, *_OPTIONS, *where)


def _first_line(dsn: Dsn) -> str:
    if dsn.password is None:
        return "\n"
    # Between quotes an option file knows these escapes: Using Option Files, in the reference manual.
    escaped = dsn.password.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'password="{escaped}"\n'


def _decoded(part: str | None) -> str | None:
    return None if part is None else unquote(part, errors="strict")


def _query_of(text: str) -> Iterator[tuple[str, str]]:
    """Take a query apart by hand: a + in a path is a +."""
    for pair in filter(None, text.split("&")):
        name, equals, value = pair.partition("=")
        if not equals or not value:
            raise ValueError(name)
        yield name, unquote(value, errors="strict")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _MEANS[match[1]], text)


def _failure(host: Host, dsn: Dsn, status: int, stderr: str) -> ZmysqlError:
    """Give the one line that says what the client complained of, and the way out."""
    if status == EXIT_NOT_FOUND:
        return ZmysqlError(f"no mysql or mariadb client on {host.name}: install one (Debian: default-mysql-client)")
    said = [line.strip() for line in stderr.splitlines() if line.strip() and "[Warning]" not in line]
    match = _ERROR.search(stderr)
    code = int(match[1]) if match else None
    line = next((line for line in said if line.startswith("ERROR")), " / ".join(said[-2:]) or "it said nothing")
    if status == SSH_FAILED and code is None:
        return ZmysqlError(f"{host.name} can't be reached: {line}")
    if code in _ACCESS_DENIED:
        return QueryFailed(f"MySQL at {dsn} refuses the login: {line}; give another user or password, or root", code)
    if code in _CANNOT_CONNECT:
        return QueryFailed(f"can't talk to MySQL at {dsn}: {line}; does it run, and is this its address?", code)
    return QueryFailed(f"MySQL at {dsn}: {line}", code)

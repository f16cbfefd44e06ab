"""What an audit knows of the server: its variables, where its files lie, and how to change a variable of it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zmysql.mysql.client import Dsn
    from zmysql.zfs.commands import Argv

_PERSISTS_SINCE = (8, 0)
# Error 1238 of MySQL 9.7: "is a non persistent variable".
_NOT_PERSISTENT = frozenset(("innodb_doublewrite",))


@dataclass(frozen=True, slots=True)
class Place:
    """A directory or file of the server: which variable says it, the path, and the file system and its mount point."""

    variable: str
    path: str
    file_system: str
    mountpoint: str


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its global variables, and its places by what they hold (data, redo, binlog, …)."""

    dsn: Dsn
    variables: Mapping[str, str]
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB."""
        return "mariadb" in self.variables.get("version", "").lower()

    @property
    def version(self) -> tuple[int, int]:
        """Its version, (0, 0) where it says none."""
        found = re.match(r"(\d+)\.(\d+)", self.variables.get("version", ""))
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def value(self, name: str) -> str:
        """Give a variable, empty where the server has none of that name."""
        return self.variables.get(name, "")

    def is_on(self, name: str) -> bool:
        """Tell whether a variable is on."""
        return self.value(name).upper() in {"ON", "1"}

    def size(self, name: str) -> int:
        """Give a variable that is a number, 0 where there is none."""
        text = self.value(name)
        return int(text) if text.isdigit() else 0

    @property
    def bypasses_cache(self) -> bool:
        """Whether it opens tablespaces with O_DIRECT."""
        if self.is_mariadb and "innodb_data_file_buffering" in self.variables:  # since 11.0
            return not self.is_on("innodb_data_file_buffering")
        return self.value("innodb_flush_method").startswith("O_DIRECT")

    def change(self, variable: str, value: str, *, live: bool) -> tuple[tuple[Argv, ...], str | None]:
        """Give the commands that change a variable for good, and what remains to do; `live`: without a restart."""
        persists = not self.is_mariadb and self.version >= _PERSISTS_SINCE and variable not in _NOT_PERSISTENT
        if persists:
            how = "PERSIST" if live else "PERSIST_ONLY"
            return (self.statement(f"SET {how} {variable} = {value}"),), None if live else "restart mysqld"
        in_file = f"set {variable} = {value} under [mysqld] in the server's option file"
        if live:
            return (self.statement(f"SET GLOBAL {variable} = {value}"),), f"and {in_file}, for the next start"
        return (), f"{in_file}, and restart mysqld"

    def statement(self, sql: str) -> Argv:
        """Give the client's command that runs a statement; it asks for the password where one is needed."""
        dsn = self.dsn
        options = (
            f"--defaults-file={dsn.defaults_file}" if dsn.defaults_file else None,
            f"--user={dsn.user}" if dsn.user else None,
            "--password" if dsn.password else None,
            f"--socket={dsn.socket}" if dsn.socket else None,
            f"--host={dsn.host}" if dsn.host and not dsn.socket else None,
            f"--port={dsn.port}" if dsn.port else None,
        )
        return ("mariadb" if self.is_mariadb else "mysql", *(one for one in options if one), "-e", sql)


def wanted_places(variables: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Give variable and path for each kind of file that the server keeps."""
    home = variables.get("datadir", "") or "/"

    def path(name: str, default: str = home) -> str:
        return posixpath.normpath(posixpath.join(home, variables.get(name) or default))

    def folder(name: str) -> str:
        return posixpath.dirname(path(name))

    system = re.split(r"[:;]", variables.get("innodb_data_file_path", ""))[0] or "ibdata1"
    found = {
        "data": ("datadir", path("datadir")),
        "system": ("innodb_data_file_path", posixpath.join(path("innodb_data_home_dir"), system)),
        "redo": ("innodb_log_group_home_dir", path("innodb_log_group_home_dir")),
        "undo": ("innodb_undo_directory", path("innodb_undo_directory")),
        "doublewrite": ("innodb_doublewrite_dir", path("innodb_doublewrite_dir", path("innodb_data_home_dir"))),
        "tmp": ("tmpdir", path("tmpdir", "/tmp").split(":")[0]),  # noqa: S108 - a server's default
        "binlog": ("log_bin_basename", folder("log_bin_basename")),
        "relay": ("relay_log_basename", folder("relay_log_basename")),
    }
    without = {
        "doublewrite" if "innodb_doublewrite_dir" not in variables else "",
        "binlog" if not variables.get("log_bin_basename") else "",
        "relay" if not variables.get("relay_log_basename") else "",
    }
    return {key: one for key, one in found.items() if key not in without}

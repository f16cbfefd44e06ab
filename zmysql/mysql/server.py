"""Which servers there are: flavour and version, by the names under which a person asks for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from zmysql.errors import UsageError, shown

Version = tuple[int, ...]

# The series that are known. Percona Server takes all that MySQL of the same version takes.
SERVERS = (
    *("mysql-9.7", "mysql-8.4", "mysql-8.0", "mysql-5.7"),
    *("percona-8.4", "percona-8.0", "percona-5.7"),
    *("mariadb-11.8", "mariadb-10.11"),
)

# A series without a patch release means its newest, whatever number that has.
_NEWEST = 1 << 16
_NAME = re.compile(r"([a-z]+)-(\d{1,3})\.(\d{1,3})(?:\.(\d{1,5}))?")
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,5})")


class Flavour(StrEnum):
    """Whose variables a server knows."""

    MYSQL = "mysql"
    MARIADB = "mariadb"


@dataclass(frozen=True, slots=True)
class Server:
    """A server: the name that a person gave it, whose variables it knows, and its version in three parts."""

    name: str
    flavour: Flavour
    version: Version

    def is_at_least(self, version: Version) -> bool:
        """Tell whether this is that version or a later one."""
        return self.version >= version


def parse_server(name: str) -> Server:
    """Give the server that a name such as mysql-8.0 means; mysql-8.0.28 means that release and no later one.

    Raises UsageError for a name that isn't known, with those that are.
    """
    match = _NAME.fullmatch(name)
    if match is None or f"{match[1]}-{match[2]}.{match[3]}" not in SERVERS:
        raise UsageError(
            f"unknown server {shown(name)}; known are {', '.join(SERVERS)}, "
            "and each with a patch release, such as mysql-8.0.28"
        )
    flavour = Flavour.MARIADB if match[1] == "mariadb" else Flavour.MYSQL
    return Server(name, flavour, (int(match[2]), int(match[3]), int(match[4]) if match[4] else _NEWEST))


def server_of(version: str) -> Server:
    """Give the server that says `version` of itself in `SELECT VERSION()`, such as 10.11.19-MariaDB or 8.0.40-31.

    Raises UsageError when no version is in it.
    """
    match = _VERSION.search(version)
    if match is None:
        raise UsageError(f"{shown(version)} is no version of a MySQL or MariaDB server")
    flavour = Flavour.MARIADB if "mariadb" in version.lower() else Flavour.MYSQL
    return Server(f"{flavour}-{match[0]}", flavour, tuple(int(part) for part in match.groups()))


def check_server(name: str) -> str:
    """Give the name of a known server back.

    Raises UsageError otherwise, with those that are known.
    """
    return parse_server(name).name

"""Which server knows which variable, since when and until when, and what it is there when nobody sets it.

This is the one table of it. It is held against what mysqld 9.7.4, mariadbd 10.11.19 and mariadbd 11.8.6 themselves say
to `--no-defaults --help --verbose`, and against recorded outputs and tables of the others. A server ends with an error
when it finds a variable in its my.cnf that it doesn't know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from zmysql.mysql.server import Flavour

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zmysql.mysql.server import Server, Version

T = TypeVar("T")

# The default of a variable that a server doesn't know.
ABSENT = None

# A default that the server works out, from its CPUs or from other variables, begins with this.
AUTO = "auto: "


@dataclass(frozen=True, slots=True)
class Fact:
    """A variable as one flavour has it.

    `defaults` are by the version since which they hold; an empty default is none. `until` is the first version without
    the variable. `instead` is the variable that does its work once the server knows that. `values` are all that it may
    be, where these are words.
    """

    defaults: Mapping[Version, str]
    until: Version | None = None
    instead: str | None = None
    values: Mapping[Version, tuple[str, ...]] = field(default_factory=dict)


_ALWAYS: Version = (0,)
_ON_OFF = {_ALWAYS: ("ON", "OFF")}
_TWICE = {_ALWAYS: f"{AUTO}2 x innodb_io_capacity, 2000 at least"}
_FLUSH_METHODS = {_ALWAYS: ("fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC")}


def _both(default: str, values: Mapping[Version, tuple[str, ...]] | None = None) -> dict[Flavour, Fact]:
    """Give the facts of a variable that has been the same everywhere, always."""
    return dict.fromkeys(Flavour, Fact({_ALWAYS: default}, values=values or {}))


VARIABLES: dict[str, dict[Flavour, Fact]] = {
    "datadir": _both(f"{AUTO}where it was installed"),
    "innodb_buffer_pool_size": _both("134217728"),
    "innodb_data_file_buffering": {Flavour.MARIADB: Fact({(11, 0): "OFF"}, values=_ON_OFF)},
    "innodb_data_file_path": {
        Flavour.MYSQL: Fact({_ALWAYS: "", (8, 0): "ibdata1:12M:autoextend"}),
        Flavour.MARIADB: Fact({_ALWAYS: "ibdata1:12M:autoextend"}),
    },
    "innodb_data_home_dir": _both(""),
    "innodb_doublewrite": {
        Flavour.MYSQL: Fact(
            {_ALWAYS: "ON"}, values={**_ON_OFF, (8, 0, 30): ("ON", "OFF", "DETECT_AND_RECOVER", "DETECT_ONLY")}
        ),
        Flavour.MARIADB: Fact({_ALWAYS: "ON"}, values={**_ON_OFF, (11, 0): ("ON", "OFF", "fast")}),
    },
    "innodb_doublewrite_dir": {Flavour.MYSQL: Fact({(8, 0, 20): ""})},
    # Gone with 8.0, and harmful to search for in articles: they stop a server of today.
    "innodb_file_format": {Flavour.MYSQL: Fact({(5, 7): "Barracuda"}, until=(8, 0))},
    "innodb_flush_method": {
        # Of 8.4 and later the help says fsync, but where the system has O_DIRECT, that is what the server starts with.
        Flavour.MYSQL: Fact({_ALWAYS: "", (8, 0): "fsync", (8, 4): "O_DIRECT"}, values=_FLUSH_METHODS),
        Flavour.MARIADB: Fact(
            {_ALWAYS: "fsync", (10, 6): "O_DIRECT"}, instead="innodb_data_file_buffering", values=_FLUSH_METHODS
        ),
    },
    "innodb_flush_neighbors": {
        Flavour.MYSQL: Fact({_ALWAYS: "1", (8, 0): "0"}, values={_ALWAYS: ("0", "1", "2")}),
        Flavour.MARIADB: Fact({_ALWAYS: "1"}, values={_ALWAYS: ("0", "1", "2")}),
    },
    "innodb_io_capacity": {
        Flavour.MYSQL: Fact({_ALWAYS: "200", (8, 4): "10000"}),
        Flavour.MARIADB: Fact({_ALWAYS: "200"}),
    },
    "innodb_io_capacity_max": {
        Flavour.MYSQL: Fact({**_TWICE, (8, 4): f"{AUTO}2 x innodb_io_capacity"}),
        Flavour.MARIADB: Fact(_TWICE),
    },
    "innodb_log_block_size": {},  # of XtraDB in Percona Server 5.1 to 5.6
    "innodb_log_buffer_size": {
        Flavour.MYSQL: Fact({_ALWAYS: "16777216", (8, 4): "67108864"}),
        Flavour.MARIADB: Fact({_ALWAYS: "16777216"}),
    },
    "innodb_log_file_size": {
        Flavour.MYSQL: Fact({_ALWAYS: "50331648"}, until=(9, 0), instead="innodb_redo_log_capacity"),
        Flavour.MARIADB: Fact({_ALWAYS: "50331648", (10, 5): "100663296"}),
    },
    "innodb_log_files_in_group": {
        Flavour.MYSQL: Fact({_ALWAYS: "2"}, until=(9, 0), instead="innodb_redo_log_capacity"),
        Flavour.MARIADB: Fact({_ALWAYS: "2", (10, 5): "1"}, until=(10, 6)),
    },
    "innodb_log_group_home_dir": _both(""),
    "innodb_lru_scan_depth": {
        Flavour.MYSQL: Fact({_ALWAYS: "1024"}),
        Flavour.MARIADB: Fact({_ALWAYS: "1024", (10, 5): "1536"}),
    },
    "innodb_page_cleaners": {
        Flavour.MYSQL: Fact({_ALWAYS: "4", (8, 4): f"{AUTO}innodb_buffer_pool_instances"}),
        Flavour.MARIADB: Fact({_ALWAYS: "4"}, until=(10, 6)),
    },
    "innodb_page_size": _both("16384", {_ALWAYS: ("4096", "8192", "16384", "32768", "65536")}),
    "innodb_read_io_threads": {
        Flavour.MYSQL: Fact({_ALWAYS: "4", (8, 4): f"{AUTO}half the CPUs, 4 at least"}),
        Flavour.MARIADB: Fact({_ALWAYS: "4"}),
    },
    "innodb_redo_log_capacity": {Flavour.MYSQL: Fact({(8, 0, 30): "104857600"})},
    "innodb_support_xa": {
        Flavour.MYSQL: Fact({_ALWAYS: "ON"}, until=(8, 0)),
        Flavour.MARIADB: Fact({_ALWAYS: "ON"}, until=(10, 3)),
    },
    "innodb_undo_directory": _both(""),
    "innodb_undo_tablespaces": {
        Flavour.MYSQL: Fact({_ALWAYS: "0", (8, 0): "2"}, until=(9, 0)),
        Flavour.MARIADB: Fact({_ALWAYS: "0", (11, 0): "3"}),
    },
    "innodb_use_atomic_writes": {Flavour.MARIADB: Fact({_ALWAYS: "ON"}, values=_ON_OFF)},
    "innodb_use_native_aio": _both("ON"),
    "innodb_write_io_threads": _both("4"),
    "log_bin": {
        Flavour.MYSQL: Fact({_ALWAYS: "", (8, 0): "binlog"}),
        Flavour.MARIADB: Fact({_ALWAYS: ""}),
    },
    "log_error": _both(f"{AUTO}standard error, or what its service says"),
    "relay_log": _both(f"{AUTO}HOST-relay-bin in the data directory"),
    "server_id": {
        Flavour.MYSQL: Fact({_ALWAYS: "0", (8, 0): "1"}),
        Flavour.MARIADB: Fact({_ALWAYS: "1"}),
    },
    "slow_query_log_file": _both(f"{AUTO}HOST-slow.log in the data directory"),
    "tmpdir": _both("/tmp"),  # noqa: S108 - a server's default, nothing that we write to
}


def knows(server: Server, variable: str) -> bool:
    """Tell whether a server starts with this variable in its my.cnf.

    Raises KeyError for a variable that isn't in the table: look it up and enter it there first.
    """
    return default_of(server, variable) is not ABSENT


def default_of(server: Server, variable: str) -> str | None:
    """Give what a variable is when it isn't set, as the server prints it but for ON and OFF; ABSENT if it isn't known.

    Raises KeyError for a variable that isn't in the table.
    """
    fact = VARIABLES[variable].get(server.flavour)
    if fact is None or (fact.until is not None and server.is_at_least(fact.until)):
        return ABSENT
    return _latest(fact.defaults, server)


def current_name(server: Server, variable: str) -> str:
    """Give the variable that does the work of this one on a server: itself, or what came in its place there."""
    fact = VARIABLES[variable].get(server.flavour)
    return fact.instead if fact and fact.instead and knows(server, fact.instead) else variable


def values_of(server: Server, variable: str) -> tuple[str, ...] | None:
    """Give the words that a variable may be on a server that knows it; None where it isn't a matter of words."""
    return _latest(VARIABLES[variable][server.flavour].values, server)


def _latest(by_version: Mapping[Version, T], server: Server) -> T | None:
    return next(
        (by_version[version] for version in sorted(by_version, reverse=True) if server.is_at_least(version)), None
    )

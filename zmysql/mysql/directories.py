"""Which variable puts which files into which dataset of a layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.mysql.server import Flavour
from zmysql.mysql.setting import ANANDTECH, BIANCHI, MATSUNOBU, MYSQL_MANUAL, ZFSPROPS, Setting, known_to
from zmysql.mysql.variables import default_of, knows
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.mysql.served import Place, ServedLayout
    from zmysql.mysql.server import Server

# As many as MariaDB 11 makes by itself; with two or more, one can be emptied and shrunk while the others work.
_UNDO_TABLESPACES = 3


def directory_settings(server: Server, served: ServedLayout) -> tuple[Setting, ...]:
    """Give the directories of those datasets that the layout has, as the server takes them."""
    return tuple(known_to(server, _settings(server, served)))


def directory_notes(server: Server, served: ServedLayout) -> Iterator[str]:
    """Say which datasets of the layout a server can't use."""
    if "doublewrite" in served.places and not knows(server, "innodb_doublewrite_dir"):
        where = served.places.get("system", served.data).directory
        yield (
            f"{server.name} keeps its doublewrite buffer in the system tablespace, so in {where}: "
            f"{served.places['doublewrite'].directory} stays empty."
        )


def _settings(server: Server, served: ServedLayout) -> Iterator[Setting]:
    data = served.data
    yield Setting("datadir", data.directory, f"Records of {format_size(data.record_bytes)}.", (ZFSPROPS,))
    makers = (_system, _redo, _doublewrite, _undo, _binlog, _relay, _tmp, _logs)
    for maker in makers:
        purpose = maker.__name__.removeprefix("_")
        if purpose in served.places:
            place = served.places[purpose]
            yield from maker(server, place.directory, _on(served, place))


def _on(served: ServedLayout, place: Place) -> str:
    """Name the pool of a dataset where that isn't the one of the tables."""
    return "" if place.pool.name == served.data.pool.name else f" In {place.pool.name}, on disks of its own."


def _system(_server: Server, directory: str, on: str) -> Iterator[Setting]:
    why = f"The system tablespace is written in sequence for the most part, and apart from the tables.{on}"
    yield Setting("innodb_data_home_dir", directory, why, (MATSUNOBU,))
    why = "What the server does anyway; said here, since the file can't be moved later."
    yield Setting("innodb_data_file_path", "ibdata1:12M:autoextend", why, (MYSQL_MANUAL,))


def _redo(_server: Server, directory: str, on: str) -> Iterator[Setting]:
    why = f"Written in sequence, so in its own dataset with large records.{on}"
    yield Setting("innodb_log_group_home_dir", directory, why, (ANANDTECH,))


def _doublewrite(_server: Server, directory: str, on: str) -> Iterator[Setting]:
    why = f"Every page once more, in sequence: half of what the tables' disks would have to write.{on}"
    yield Setting("innodb_doublewrite_dir", directory, why, (MATSUNOBU,))


def _undo(server: Server, directory: str, on: str) -> Iterator[Setting]:
    yield Setting("innodb_undo_directory", directory, f"Read at random by long transactions.{on}", (MATSUNOBU,))
    if knows(server, "innodb_undo_tablespaces") and default_of(server, "innodb_undo_tablespaces") == "0":
        why = "Without it the undo logs stay in the system tablespace. Fixed once initialised."
        yield Setting("innodb_undo_tablespaces", str(_UNDO_TABLESPACES), why, (MYSQL_MANUAL,))


def _binlog(server: Server, directory: str, on: str) -> Iterator[Setting]:
    yield Setting("log_bin", f"{directory}/binlog", f"As the redo log.{on}", (MATSUNOBU,))
    if server.flavour is Flavour.MYSQL and default_of(server, "server_id") == "0":
        why = "Without one, this version refuses to write a binary log. Give each server of a replication its own."
        yield Setting("server_id", "1", why, (MYSQL_MANUAL,))


def _relay(_server: Server, directory: str, on: str) -> Iterator[Setting]:
    why = f"Written and read in sequence, beside the other logs; a replica's lag fell by it.{on}"
    yield Setting("relay_log", f"{directory}/relay", why, (BIANCHI,))


def _tmp(_server: Server, directory: str, on: str) -> Iterator[Setting]:
    why = f"Sorts and temporary tables: kept out of the log device and the L2ARC.{on}"
    yield Setting("tmpdir", directory, why, (ZFSPROPS,))


def _logs(_server: Server, directory: str, on: str) -> Iterator[Setting]:
    why = f"Written in sequence, and nobody waits for it.{on}"
    yield Setting("log_error", f"{directory}/error.log", why, (MATSUNOBU,))
    why = "As the error log; slow_query_log=ON turns it on."
    yield Setting("slow_query_log_file", f"{directory}/slow.log", why, (MATSUNOBU,))

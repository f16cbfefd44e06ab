"""What the files of a MySQL or MariaDB server are, from their paths."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.mysql.filenames import decoded

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


class Kind(StrEnum):
    """What a file holds."""

    TABLE = "table"
    FULLTEXT = "fulltext"
    SYSTEM = "system"
    DICTIONARY = "dictionary"
    GENERAL = "general"
    UNDO = "undo"
    TEMPORARY = "temporary"
    REDO = "redo"
    BINLOG = "binlog"
    RELAY = "relay"
    SLOW = "slow"
    DOUBLEWRITE = "doublewrite"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Name:
    """What a file is, and its name for people; None where there is no path."""

    kind: Kind
    text: str | None


# By the file's name alone; InnoDB of MySQL 5.7 to 9.x and MariaDB 10 to 12.
_FIXED = (
    (re.compile(r"ibdata\d+"), Kind.SYSTEM, "system tablespace"),
    (re.compile(r"mysql\.ibd"), Kind.DICTIONARY, "data dictionary"),
    (re.compile(r"ibtmp\d+|temp_\d+\.ibt"), Kind.TEMPORARY, "temporary tablespace"),
    (re.compile(r"undo_?\d+|.+\.ibu"), Kind.UNDO, "undo tablespace"),
    (re.compile(r"ib_logfile\d+|#ib_redo\d+(_tmp)?"), Kind.REDO, "redo log"),
    (re.compile(r"#ib_\d+_\d+\.b?dblwr"), Kind.DOUBLEWRITE, "doublewrite buffer"),
    (re.compile(r".*relay[^.]*\.\d{6,}", re.IGNORECASE), Kind.RELAY, "relay log"),
    (re.compile(r"[^.]+\.\d{6,}"), Kind.BINLOG, "binary log"),
    (re.compile(r".*slow.*\.log", re.IGNORECASE), Kind.SLOW, "slow query log"),
)
# Files that only the data directory itself holds.
_OF_DATA_DIRECTORY = re.compile(r"ibdata\d+|mysql\.ibd|ib_buffer_pool|auto\.cnf|aria_log_control|undo_?\d+")
_TABLE_FILES = frozenset({".ibd", ".MYD", ".MYI", ".MAD", ".MAI"})
# MySQL 8.0 writes the marks in small letters, 5.7 and MariaDB in capitals; a # of a table's own name is @0023.
_PARTITION = re.compile(r"(?P<table>[^#]+)#p#(?P<partition>[^#]+)(?:#sp#(?P<part>[^#]+))?", re.IGNORECASE)
# fts_TABLE_INDEX_index_N.ibd holds a part of an index's words, fts_TABLE_config.ibd and the like are the table's.
_FULLTEXT = re.compile(
    r"fts_(?P<table>[0-9a-f]{16})_(?:(?P<index>[0-9a-f]{16})_index_(?P<part>\d)|(?P<rest>[a-z_]+))", re.IGNORECASE
)


def data_directories(paths: Iterable[str]) -> frozenset[str]:
    """Give the directories that are a server's data directory, not a schema's, as far as these files tell."""
    split = map(posixpath.split, paths)
    return frozenset(directory for directory, base in split if _OF_DATA_DIRECTORY.fullmatch(base))


def name_of(path: str | None, directories: Collection[str] = ()) -> Name:
    """Say what a file is: of a table `schema.table`, and its partition; else what InnoDB calls it, or its path.

    A tablespace that lies in one of the data `directories` itself belongs to no schema.
    """
    if path is None:
        return Name(Kind.OTHER, None)
    directory, base = posixpath.split(path)
    for pattern, kind, words in _FIXED:
        if pattern.fullmatch(base):
            return Name(kind, f"{words} {base}")
    stem, ending = posixpath.splitext(base)
    schema = decoded(posixpath.basename(directory))
    if ending not in _TABLE_FILES or not schema:
        return Name(Kind.OTHER, path)
    if directory in directories:
        return Name(Kind.GENERAL, f"tablespace {decoded(stem)}")
    fulltext = _FULLTEXT.fullmatch(stem)
    if fulltext:
        return Name(Kind.FULLTEXT, f"{schema}: {_fulltext(fulltext)}")
    return Name(Kind.TABLE, f"{schema}.{_table(stem)}")


def _table(stem: str) -> str:
    """Name a table, and its partition as a SELECT does."""
    found = _PARTITION.fullmatch(stem)
    if not found:
        return decoded(stem)
    return f"{decoded(found['table'])} PARTITION ({decoded(found['part'] or found['partition'])})"


def _fulltext(found: re.Match[str]) -> str:
    """Name a file of a full-text index by the ids in INNODB_TABLES and INNODB_INDEXES, which it has in hexadecimal."""
    table = f"of table id {int(found['table'], 16)}"
    if found["index"]:
        return f"full-text index id {int(found['index'], 16)} {table}, part {found['part']}"
    return f"full-text {found['rest'].lower().replace('_', ' ')} {table}"

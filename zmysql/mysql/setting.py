"""A line of my.cnf: a variable, its value, why it has it, and who says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.mysql.variables import default_of, knows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zmysql.mysql.server import Server

# The articles and manuals that settings come from, as my.cnf cites them, and their titles.
BIANCHI = "Bianchi 2014"
MATSUNOBU = "Matsunobu 2009"
ANANDTECH = "AnandTech 2008"
MYSQL_MANUAL = "MySQL manual"
MARIADB_DOCS = "MariaDB documentation"
ZFS4 = "zfs(4)"
ZFSPROPS = "zfsprops(7)"
TITLES = {
    BIANCHI: "Working with MySQL on SSD, wagnerbianchi.com",
    MATSUNOBU: "Tables on SSD, Redo/Binlog/SYSTEM-tablespace on HDD",
    ANANDTECH: "SSDs and the latency of the transaction log",
    MYSQL_MANUAL: "InnoDB Startup Options and System Variables, dev.mysql.com/doc",
    MARIADB_DOCS: "InnoDB System Variables, mariadb.com/kb",
    ZFS4: "tuning of the ZFS kernel module, openzfs.github.io/openzfs-docs",
    ZFSPROPS: "properties of datasets, openzfs.github.io/openzfs-docs",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable, its value, why it has it, and the articles and manuals that it comes from: keys of TITLES."""

    variable: str
    value: str
    why: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A setting beside what the server would do without it."""

    setting: Setting
    default: str


def known_to(server: Server, settings: Iterable[Setting]) -> Iterator[Setting]:
    """Give the settings whose variable the server knows: any other would stop it."""
    return (setting for setting in settings if knows(server, setting.variable))


def explain(server: Server, settings: Iterable[Setting]) -> tuple[Explained, ...]:
    """Give each setting with the server's own default."""
    return tuple(Explained(setting, default_of(server, setting.variable) or "none") for setting in settings)


def mebibytes(size_bytes: int) -> str:
    """Give a size as my.cnf takes it."""
    return f"{size_bytes >> 20}M"

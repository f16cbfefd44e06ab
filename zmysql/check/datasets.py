"""Rules on single properties of the datasets that hold a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.check.facts import DURABLE
from zmysql.check.model import Evidence, Hit, Rule, Severity
from zmysql.zfs.commands import set_properties

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from zmysql.check.facts import Facts


@dataclass(frozen=True, slots=True)
class Wrong:
    """A property, the values that are wrong on a dataset with files of a database, and the one to set instead."""

    name: str
    bad: Collection[str]
    good: str


@dataclass(frozen=True, slots=True)
class _Setting:
    id: str
    severity: Severity
    wrong: Wrong
    why: str

    def look(self, facts: Facts) -> Iterator[Hit]:
        return property_hits(facts, DURABLE, self.wrong)


def property_hits(facts: Facts, keys: tuple[str, ...], wrong: Wrong, because: str = "") -> Iterator[Hit]:
    """Find datasets of some kinds of files with a wrong value of a property that their template doesn't want so.

    What several inherit from one dataset is one hit, there. `because` is what else was seen.
    """
    told = set[str]()
    for pool, dataset in facts.databases(keys):
        value, at = pool.setting(dataset.name, wrong.name)
        if value is None or value not in wrong.bad or pool.is_meant(dataset.name, wrong.name, value):
            continue
        if at not in told:
            told.add(at)
            evidence = Evidence(f"{wrong.name}={value}{because}", f"zfs get {wrong.name} {at}")
            yield Hit(at, evidence, (set_properties(at, {wrong.name: wrong.good}),), about=wrong.name)


_SETTINGS = (
    _Setting(
        "sync-disabled",
        Severity.CRITICAL,
        Wrong("sync", ("disabled",), "standard"),
        "fsync(2) returns before anything is on a disk: a crash or power cut loses seconds of committed transactions, "
        "and without the doublewrite buffer redo log and data no longer fit each other (zfsprops(7)).",
    ),
    _Setting(
        "checksum-off",
        Severity.CRITICAL,
        Wrong("checksum", ("off",), "on"),
        "Without checksums a mirror can't tell which of its copies is right, and rot goes unnoticed (zfsprops(7)).",
    ),
    _Setting(
        "sync-always",
        Severity.WARNING,
        Wrong("sync", ("always",), "standard"),
        "Every write waits for the disk, also those that InnoDB doesn't ask to be synced; it syncs itself what a "
        "commit needs (zfsprops(7)).",
    ),
    _Setting(
        "atime-on",
        Severity.WARNING,
        Wrong("atime", ("on",), "off"),
        "Reads then write: each updates the time of last access, which nothing in MySQL looks at (zfsprops(7)).",
    ),
    _Setting(
        "compression-off",
        Severity.WARNING,
        Wrong("compression", ("off",), "lz4"),
        "lz4 gives up early on what doesn't compress, and pages of tables mostly do: fewer bytes to read, and more "
        "records in ARC and L2ARC, which hold them compressed (zfsprops(7)).",
    ),
    _Setting(
        "dedup-on",
        Severity.WARNING,
        Wrong("dedup", ("on", "verify", "sha256", "sha256,verify", "sha512", "skein", "edonr,verify", "blake3"), "off"),
        "No two pages of InnoDB are equal, since each has its own number and LSN in it: the table of checksums only "
        "costs memory and a random read for each write (zfsconcepts(7)).",
    ),
    _Setting(
        "copies-kept",
        Severity.WARNING,
        Wrong("copies", ("2", "3"), "1"),
        "Each record is written two or three times, and the copies save nothing when a disk fails: redundancy of vdevs "
        "does (zfsprops(7)).",
    ),
    _Setting(
        "xattr-in-directories",
        Severity.NOTE,
        Wrong("xattr", ("dir",), "sa"),
        "Extended attributes, which SELinux and ACLs use, lie in hidden directories: each costs further reads. As "
        "system attributes they lie with the file's own (zfsprops(7)).",
    ),
)

RULES = tuple(Rule(one.id, one.severity, one.why, (), one.look) for one in _SETTINGS)

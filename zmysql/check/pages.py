"""Rules on pages and records: whether a page can be torn, and which files still have the records of another time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zmysql.check.datasets import Wrong, property_hits
from zmysql.check.facts import TABLESPACES, Need
from zmysql.check.model import Evidence, Hit, Severity, rule
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.check.facts import Facts, File

_MOST_EXAMPLES = 3
_SMALL_RECORDS = tuple(str(1 << shift) for shift in range(9, 17))
# A table's own file: DATABASE/TABLE.ibd. What has a # is a partition or temporary, what has an @ is escaped.
_TABLE = re.compile(r".*/(?P<database>\w+)/(?P<table>\w+)\.ibd")
_SERVERS_OWN = ("mysql", "sys", "performance_schema", "information_schema")


def doublewrite_is_off(facts: Facts) -> bool:
    """Tell whether the server writes pages once only."""
    return facts.server is not None and facts.server.value("innodb_doublewrite").upper() in {"OFF", "0", "DETECT_ONLY"}


@rule(
    Severity.WARNING,
    "A page then spans several records: each write of a page is several, each with its own checksum and pointer, and "
    "the page can be torn without the doublewrite buffer (InnoDB's page size is 16K unless set).",
)
def recordsize_below_page(facts: Facts) -> Iterator[Hit]:
    """Look for datasets of tables with records smaller than a page."""
    page_bytes = facts.page_bytes()
    small = [size for size in _SMALL_RECORDS if int(size) < page_bytes]
    page = f", pages of {format_size(page_bytes)}"
    return property_hits(facts, TABLESPACES, Wrong("recordsize", small, format_size(page_bytes)), page)


@rule(
    Severity.CRITICAL,
    "The doublewrite buffer is off, and a page isn't one record here, or what was synced isn't on disk: a crash can "
    "leave half a page, which InnoDB can't repair. A file keeps its record size for life (zfsprops(7), recordsize).",
    Need.SERVER,
    Need.PLACES,
    Need.FILES,
)
def doublewrite_off(facts: Facts) -> Iterator[Hit]:
    """Look for reasons against innodb_doublewrite=OFF on the server that has it."""
    server = facts.server
    if server is None or not doublewrite_is_off(facts):
        return
    reasons = list(_reasons_for_doublewrite(facts))
    if not reasons:
        return
    value = f"innodb_doublewrite={server.value('innodb_doublewrite')}; {'; '.join(reasons)}"
    mend, then = server.change("innodb_doublewrite", "ON", live=False)
    sources = "SHOW GLOBAL VARIABLES, zfs get recordsize,sync, stat(1) of the files"
    yield Hit("innodb_doublewrite", Evidence(value, sources), mend, then)


@rule(
    Severity.NOTE,
    "Every page lies in one record, which ZFS writes whole or not at all: no page can be torn, and the doublewrite "
    "buffer doubles what is written for nothing. It is needed again on any other file system.",
    Need.SERVER,
    Need.PLACES,
    Need.FILES,
)
def doublewrite_needless(facts: Facts) -> Iterator[Hit]:
    """Look for a doublewrite buffer that protects from nothing."""
    server = facts.server
    if server is None or doublewrite_is_off(facts) or any(_reasons_for_doublewrite(facts)):
        return
    mend, then = server.change("innodb_doublewrite", "OFF", live=False)
    evidence = Evidence(f"innodb_doublewrite={server.value('innodb_doublewrite')}", "SHOW GLOBAL VARIABLES")
    yield Hit("innodb_doublewrite", evidence, mend, then)


@rule(
    Severity.WARNING,
    "A file keeps the record size that it got when it grew past its first record; a later `zfs set recordsize` holds "
    "for new files only (zfsprops(7)). To be written anew, a table is rebuilt.",
    Need.FILES,
)
def old_records(facts: Facts) -> Iterator[Hit]:
    """Look for files of tables whose records aren't what their dataset has now."""
    found: dict[tuple[str, int], list[File]] = {}
    for file in facts.files:
        home = _dataset_of(facts, file)
        if home and file.is_settled and file.record_bytes != home[1]:
            found.setdefault(home, []).append(file)
    for (dataset, record_bytes), files in sorted(found.items()):
        names = [file.path.rsplit("/", 1)[1] for file in files]
        some = ", ".join(names[:_MOST_EXAMPLES]) + (
            f" and {len(names) - _MOST_EXAMPLES} more" if names[_MOST_EXAMPLES:] else ""
        )
        sizes = " and ".join(format_size(size) for size in sorted({file.record_bytes for file in files}))
        value = f"records of {sizes} in {some}; recordsize={format_size(record_bytes)}"
        mend, rest = _rebuilds(facts, files)
        yield Hit(dataset, Evidence(value, f"stat(1), zfs get recordsize {dataset}"), mend, rest)


@rule(
    Severity.WARNING,
    "New tables go into the system tablespace then, whose file never shrinks, and can't have a place or record size of "
    "their own (Matsunobu 2009 has it on, to give tables a place of their own).",
    Need.SERVER,
)
def tables_in_system_tablespace(facts: Facts) -> Iterator[Hit]:
    """Look for innodb_file_per_table=OFF."""
    server = facts.server
    if server and server.value("innodb_file_per_table").upper() == "OFF":
        mend, then = server.change("innodb_file_per_table", "ON", live=True)
        yield Hit("innodb_file_per_table", Evidence("innodb_file_per_table=OFF", "SHOW GLOBAL VARIABLES"), mend, then)


def _reasons_for_doublewrite(facts: Facts) -> Iterator[str]:
    page_bytes = facts.page_bytes()
    server = facts.server
    for key, place in server.places.items() if server else ():
        if key in TABLESPACES and facts.dataset(place.file_system) is None:
            yield f"{place.path} isn't on {' or '.join(pool.name for pool in facts.pools)}"
    for _, dataset in facts.databases(TABLESPACES):
        if int(dataset.properties.get("recordsize", page_bytes)) < page_bytes:
            yield f"{dataset.name} has records of {format_size(int(dataset.properties['recordsize']))}"
    for _, dataset in facts.databases(("redo", *TABLESPACES)):
        if dataset.properties.get("sync") == "disabled":
            yield f"{dataset.name} has sync=disabled"
    small = [file for file in facts.files if file.is_settled and file.record_bytes < page_bytes]
    if small:
        more = f" and {len(small) - 1} more" if small[1:] else ""
        yield f"records smaller than a page in {small[0].path}{more}"


def _dataset_of(facts: Facts, file: File) -> tuple[str, int] | None:
    """Give name and record size of the dataset on which a file lies."""
    mounts = [
        (dataset.properties["mountpoint"].rstrip("/") + "/", dataset)
        for pool in facts.pools
        for dataset in pool.file_systems()
        if dataset.properties.get("mounted") == "yes"
    ]
    over = [(len(mount), dataset) for mount, dataset in mounts if file.path.startswith(mount)]
    if not over:
        return None
    dataset = max(over, key=lambda one: one[0])[1]
    return dataset.name, int(dataset.properties["recordsize"])


def _rebuilds(facts: Facts, files: list[File]) -> tuple[tuple[tuple[str, ...], ...], str | None]:
    """Give the statements that rebuild the tables, and what is left to do for the files that are no tables."""
    tables = [match for file in files if (match := _TABLE.fullmatch(file.path))]
    own = [match for match in tables if match["database"] not in _SERVERS_OWN]
    rest = "copy the other files anew with mysqld stopped: cp, then mv over the old" if len(own) < len(files) else None
    if facts.server is None:
        return (), "rebuild the tables: ALTER TABLE … ENGINE=InnoDB" + (f"; {rest}" if rest else "")
    server = facts.server
    statements = (f"ALTER TABLE `{one['database']}`.`{one['table']}` ENGINE=InnoDB" for one in own)
    return tuple(server.statement(statement) for statement in statements), rest


RULES = (
    recordsize_below_page,
    doublewrite_off,
    doublewrite_needless,
    old_records,
    tables_in_system_tablespace,
)

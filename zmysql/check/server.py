"""Rules on the server: where its files are, and what it does that ZFS makes needless or worse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.check.disks import FAST
from zmysql.check.facts import Need
from zmysql.check.model import Evidence, Hit, Severity, rule
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.check.facts import Facts
    from zmysql.check.mysqld import Place

_MOVE = "stop mysqld, move the files there, set {variable} = {wanted} in the server's option file, and start it"
# Kinds of files that a layout may have a dataset for, besides data and system, of which other rules speak.
_OTHERS = ("redo", "binlog", "relay", "undo", "doublewrite", "tmp")


def _elsewhere(facts: Facts, key: str, *planned: str, severity: Severity | None = None) -> Iterator[Hit]:
    """Find a kind of file that lies elsewhere than on the first of some datasets that the layout has."""
    place = facts.server.places.get(key) if facts.server else None
    wanted = next((found[1] for name in planned if (found := facts.planned(name))), None)
    if place is None or wanted is None or place.file_system == wanted.name:
        return
    mountpoint = wanted.properties.get("mountpoint", f"/{wanted.name}")
    evidence = Evidence(f"{place.path} is on {place.file_system}", f"SHOW GLOBAL VARIABLES: {place.variable}; df -P")
    yield Hit(
        place.variable, evidence, then=_MOVE.format(variable=_option(place), wanted=mountpoint), severity=severity
    )


def _option(place: Place) -> str:
    """Give the option by which a place is set, where that isn't the variable that shows it."""
    return {
        "log_bin_basename": "log_bin",
        "relay_log_basename": "relay_log",
        "innodb_data_file_path": "innodb_data_home_dir",
    }.get(place.variable, place.variable)


@rule(
    Severity.WARNING,
    "The tables aren't on the dataset that the layout made for them, with its record size and caching.",
    Need.PLACES,
    Need.TEMPLATE,
)
def datadir_elsewhere(facts: Facts) -> Iterator[Hit]:
    """Compare datadir with the layout's data dataset."""
    return _elsewhere(facts, "data", "data")


@rule(
    Severity.WARNING,
    "The system tablespace (ibdata1) isn't where the layout wants it. It is written in sequence, with the change "
    "buffer and once the doublewrite buffer in it: on HDD it doubled what the SSD had left for tables (Matsunobu "
    "2009).",
    Need.PLACES,
    Need.TEMPLATE,
)
def system_tablespace_elsewhere(facts: Facts) -> Iterator[Hit]:
    """Compare the place of the first system tablespace file with the layout's system dataset, or else with data."""
    return _elsewhere(facts, "system", "system", "data")


@rule(
    Severity.WARNING,
    "These files aren't on the dataset that the layout made for them: they have the record size, log and cache of "
    "another kind of file, and a snapshot or a quota of the wrong one.",
    Need.PLACES,
    Need.TEMPLATE,
)
def directory_elsewhere(facts: Facts) -> Iterator[Hit]:
    """Compare the places of logs, undo, doublewrite and temporary files with the layout's datasets."""
    for key in _OTHERS:
        # Memory, for one, may be the better place for what nobody misses.
        yield from _elsewhere(facts, key, key, severity=Severity.NOTE if key == "tmp" else None)


@rule(
    Severity.WARNING,
    "Redo log and tables share a dataset: the log, written in sequence and never read, gets records of a page each, "
    "and a place in ARC and L2ARC (128K for the log: zfsprops(7), recordsize; Matsunobu 2009 on sequential files).",
    Need.PLACES,
)
def redo_with_data(facts: Facts) -> Iterator[Hit]:
    """Look for a redo log in the tables' dataset, on a pool whose layout has no place for it or isn't zmysql's."""
    server, data = facts.server, facts.used_for("data")
    if server is None or data is None or facts.planned("redo"):
        return
    redo = server.places.get("redo")
    if redo and redo.file_system == data[1].name:
        evidence = Evidence(
            f"{redo.path} is on {redo.file_system}", "SHOW GLOBAL VARIABLES: innodb_log_group_home_dir, datadir; df -P"
        )
        mend = (("zfs", "create", "-o", "recordsize=128K", "-o", "secondarycache=none", f"{data[0].name}/redo"),)
        then = _MOVE.format(variable="innodb_log_group_home_dir", wanted=f"the mount point of {data[0].name}/redo")
        yield Hit("innodb_log_group_home_dir", evidence, mend, then)


@rule(
    Severity.WARNING,
    "The server that was asked keeps its tables elsewhere: what was said of server and pool together doesn't concern "
    "this pool, or the tables lie where nobody meant them.",
    Need.PLACES,
)
def server_elsewhere(facts: Facts) -> Iterator[Hit]:
    """Look for a server whose datadir is on none of the pools."""
    place = facts.server.places.get("data") if facts.server else None
    if place and facts.dataset(place.file_system) is None and facts.planned("data") is None:
        evidence = Evidence(f"{place.path} is on {place.file_system}", "SHOW GLOBAL VARIABLES: datadir; df -P")
        yield Hit(
            "datadir", evidence, then="name the server of this pool with --mysql, or move its data directory here"
        )


@rule(
    Severity.WARNING,
    "ZFS on Linux has no asynchronous I/O: io_submit(2) blocks until the read is done, in the thread that meant to go "
    "on; InnoDB's own I/O threads wait without that.",
    Need.SERVER,
    Need.PLACES,
)
def native_aio(facts: Facts) -> Iterator[Hit]:
    """Look for innodb_use_native_aio=ON on Linux."""
    server = facts.server
    if server and facts.system == "linux" and facts.used_for("data") and server.is_on("innodb_use_native_aio"):
        mend, then = server.change("innodb_use_native_aio", "OFF", live=False)
        yield Hit("innodb_use_native_aio", Evidence("innodb_use_native_aio=ON", "SHOW GLOBAL VARIABLES"), mend, then)


@rule(
    Severity.NOTE,
    "A crash then loses up to a second or more of committed transactions. On a replica that may be meant so; with a "
    "log vdev there is little to win (innodb_flush_log_at_trx_commit and sync_binlog in the reference manual).",
    Need.SERVER,
    Need.PLACES,
)
def commits_not_synced(facts: Facts) -> Iterator[Hit]:
    """Look for commits that don't wait for the disk; a warning where a log vdev is there to make that fast."""
    server, found = facts.server, facts.used_for("redo") or facts.used_for("data")
    if server is None or found is None:
        return
    worse = Severity.WARNING if found[0].with_role(VdevRole.LOG) else None
    names = ["innodb_flush_log_at_trx_commit", *(["sync_binlog"] if server.is_on("log_bin") else [])]
    for name in names:
        if server.value(name) not in {"1", ""}:
            mend, then = server.change(name, "1", live=True)
            yield Hit(
                name, Evidence(f"{name}={server.value(name)}", "SHOW GLOBAL VARIABLES"), mend, then, severity=worse
            )


@rule(
    Severity.WARNING,
    "InnoDB writes pages out with their neighbours to save an HDD seeks. An SSD has none: it only writes pages more "
    "often than it must (innodb_flush_neighbors in the reference manual).",
    Need.SERVER,
    Need.PLACES,
)
def flush_neighbors(facts: Facts) -> Iterator[Hit]:
    """Look for innodb_flush_neighbors other than 0 where the tables are on SSDs."""
    server, found = facts.server, facts.used_for("data")
    media = {facts.media(leaf) for top in found[0].with_role(VdevRole.DATA) for leaf in top.leaves} if found else set()
    if server and media and media <= FAST and server.value("innodb_flush_neighbors") not in {"0", "OFF", ""}:
        mend, then = server.change("innodb_flush_neighbors", "0", live=True)
        value = f"innodb_flush_neighbors={server.value('innodb_flush_neighbors')}"
        yield Hit("innodb_flush_neighbors", Evidence(value, "SHOW GLOBAL VARIABLES"), mend, then)


RULES = (
    datadir_elsewhere,
    system_tablespace_elsewhere,
    directory_elsewhere,
    redo_with_data,
    server_elsewhere,
    native_aio,
    commits_not_synced,
    flush_neighbors,
)

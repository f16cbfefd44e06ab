"""What must be right on ZFS whatever the size: how files are opened, the page, and the doublewrite buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.mysql.served import TABLESPACE_PURPOSES
from zmysql.mysql.setting import MARIADB_DOCS, MYSQL_MANUAL, ZFS4, ZFSPROPS, Setting, known_to
from zmysql.mysql.variables import current_name
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.mysql.served import ServedLayout
    from zmysql.mysql.server import Server

PAGE_BYTES = 16 << 10


def safety_settings(server: Server, served: ServedLayout) -> tuple[Setting, ...]:
    """Give the settings on which correctness depends, or that fit ZFS wherever it runs."""
    return tuple(known_to(server, _settings(server, served)))


def _settings(server: Server, served: ServedLayout) -> Iterator[Setting]:
    yield _flush_method(server, served)
    if served.system == "linux":
        why = "ZFS on Linux has no asynchronous I/O: io_submit(2) would block."
        yield Setting("innodb_use_native_aio", "0", why, (MYSQL_MANUAL,))
    record = format_size(served.data.record_bytes)
    why = f"What records of {record} are chosen for. Fixed once initialised."
    yield Setting("innodb_page_size", str(PAGE_BYTES), why, (MYSQL_MANUAL,))
    yield _doublewrite(served)


def _flush_method(server: Server, served: ServedLayout) -> Setting:
    """Let files past the ARC only where it keeps no records of them, and where ZFS has Direct I/O at all."""
    direct, why, source = _opening(served)
    if current_name(server, "innodb_flush_method") == "innodb_data_file_buffering":
        value, subject = ("OFF", "O_DIRECT") if direct else ("ON", "OFF, the default, is O_DIRECT; it")
        return Setting("innodb_data_file_buffering", value, f"{subject} {why}", (source, MARIADB_DOCS))
    value, subject = ("O_DIRECT", "This") if direct else ("fsync", "O_DIRECT, the default of newer servers,")
    return Setting("innodb_flush_method", value, f"{subject} {why}", (source,))


def _opening(served: ServedLayout) -> tuple[bool, str, str]:
    """Tell whether O_DIRECT pays, what it does here, and who says so."""
    if served.has_cache:
        return False, "passes the ARC by, and what isn't in the ARC never reaches this pool's L2ARC.", ZFS4
    if served.arc_keeps_data:
        return False, "would pass the ARC by (OpenZFS 2.3+), which caches what the buffer pool can't hold.", ZFSPROPS
    if served.data.get("direct") in {None, "disabled"}:
        return False, "does nothing: ZFS before 2.3 and datasets with direct=disabled pay no heed to it.", ZFSPROPS
    # OpenZFS 2.3 refuses a direct request that isn't aligned to a page; 2.4 lets it through the ARC.
    kept = f"which keeps no records of tables (primarycache={served.data.get('primarycache')})"
    why = f"spares the copy through the ARC, {kept}. On OpenZFS 2.3, tables with pages under 4K fail with it."
    return True, why, ZFSPROPS


def _doublewrite(served: ServedLayout) -> Setting:
    """Turn the doublewrite buffer off only where a torn page can be ruled out from what is seen.

    A page can be torn only within its own dataset: ZFS writes a record to its place whole or not at all, so a page that
    lies within one record is whole. One gap is known: the intent log may cut a write in two where a log block ends
    (zil_lwb_assign() in zil.c), and a crash in the midst of an fsync could then replay half a page. It doesn't cut
    what fits into the next block, so for 16K this is rare, and whoever can't have it keeps the buffer.

    That holds whatever pool the redo log is in. What two pools can do is to go back to different moments in a crash,
    and they do it only with sync=disabled: otherwise each fsync of the redo log has returned before the page is
    written, and each of the page before the checkpoint moves on. No doublewrite buffer would mend that. With the buffer
    ON, its own directory may be in any pool, since it too is synced before the page is written.
    """
    against = _against_off(served)
    if against is None:
        why = (
            "A page lies within one record, and ZFS writes a record to its place whole or not at all. What is left: "
            "the intent log may cut a page where a log block ends. That is rare; ON where it is still too much."
        )
        if len({place.pool.name for place in served.places.values()}) > 1:
            why += " That not all is in one pool changes nothing, while none of it has sync=disabled."
        why += " Turn it ON before copying to another file system."
        return Setting("innodb_doublewrite", "OFF", why, (ZFSPROPS,))
    return Setting("innodb_doublewrite", "ON", f"Needed here: {against}.", (ZFSPROPS,))


def _against_off(served: ServedLayout) -> str | None:
    """Give the first reason why a page could be torn, or None."""
    places = [served.places[purpose] for purpose in TABLESPACE_PURPOSES if purpose in served.places]
    smallest_place = min(places, key=lambda place: place.record_bytes)
    if smallest_place.record_bytes < PAGE_BYTES:
        record = format_size(smallest_place.record_bytes)
        where = "" if smallest_place is served.data else f" in {smallest_place.directory}"
        return f"a page spans several records of {record}{where}"
    if served.record_bytes is None:
        return "the record sizes of the files that exist can't be told on this system"
    smallest = min(served.record_bytes, default=PAGE_BYTES)
    if smallest < PAGE_BYTES:
        return f"files from before have records of {format_size(smallest)}, and a page spans several"
    redo = served.places.get("redo", served.data)
    if "disabled" in {place.get("sync") for place in (*places, redo)}:
        return "with sync=disabled the redo log may miss what the data has"
    return None

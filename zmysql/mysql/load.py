"""Settings that follow from size and speed: memory, the redo log, and what the disks of the tables can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.mysql.server import Flavour
from zmysql.mysql.setting import BIANCHI, MYSQL_MANUAL, Setting, known_to, mebibytes
from zmysql.mysql.variables import current_name, default_of, knows
from zmysql.platforms.device import MediaClass
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.mysql.served import ServedLayout
    from zmysql.mysql.server import Server
    from zmysql.mysql.sizing import Budget

LEAST_REDO_BYTES, MOST_REDO_BYTES = 128 << 20, 16 << 30

# Bianchi's replica had pending syncs with 8M and none with 32M. Servers that have more by default keep it.
_LOG_BUFFER_BYTES = 32 << 20
_LEAST_FOR_LOG_BUFFER = 1 << 30

# Up to 8.0, a buffer pool of 1G or more comes in eight instances, and 4 page cleaners serve them.
_INSTANCES, _LEAST_FOR_INSTANCES = 8, 1 << 30
_MOST_THREADS = 16


@dataclass(frozen=True, slots=True)
class Ability:
    """What one data vdev of a class of disks can do, and what follows for InnoDB.

    `iops` are random writes a second of a vdev, at most `most_iops` for all. Neighbours are flushed together where a
    seek costs more than the transfer.
    """

    iops: int
    most_iops: int
    flush_neighbors: int
    lru_scan_depth: int | None
    why: str
    source: str

    @property
    def neighbors_from(self) -> tuple[str, ...]:
        """Who says what to do about neighbours."""
        return (MYSQL_MANUAL,) if self.flush_neighbors else (BIANCHI, MYSQL_MANUAL)


_ABILITIES = {
    MediaClass.HDD: Ability(150, 2000, 1, None, "150 for each data vdev of HDD", MYSQL_MANUAL),
    MediaClass.SSD: Ability(2000, 10000, 0, 2500, "2000 for each data vdev of SSD", BIANCHI),
    # MySQL 8.4's own default, which its manual calls right for SSDs of today.
    MediaClass.NVME: Ability(5000, 10000, 0, 2500, "5000 for each data vdev of NVMe, 10000 at most", MYSQL_MANUAL),
}
_LEAST_IO_CAPACITY = 200


def memory_settings(server: Server, budget: Budget) -> tuple[Setting, ...]:
    """Give the buffer pool, the redo log and the log buffer."""
    return tuple(known_to(server, _memory(server, budget)))


def disk_settings(server: Server, served: ServedLayout, budget: Budget) -> tuple[Setting, ...]:
    """Give what depends on the disks of the tables; nothing where they aren't known."""
    media = served.data_media
    return tuple(known_to(server, _disks(server, served, media, budget))) if media else ()


def redo_settings(server: Server, redo_bytes: int, why: str, sources: tuple[str, ...]) -> Iterator[Setting]:
    """Give the size of the redo log in the variables that the server has for it."""
    variable = current_name(server, "innodb_log_file_size")
    files = 1
    if variable == "innodb_log_file_size" and knows(server, "innodb_log_files_in_group"):
        files = int(default_of(server, "innodb_log_files_in_group") or 1)
    each = f" In {files} files." if files > 1 else ""
    yield Setting(variable, mebibytes(redo_bytes // files), why + each, sources)


def _memory(server: Server, budget: Budget) -> Iterator[Setting]:
    whole = format_size(budget.mysqld_bytes)
    why = f"Three quarters of {whole}, in chunks of 128M; the rest is for connections and caches."
    yield Setting("innodb_buffer_pool_size", mebibytes(budget.buffer_pool_bytes), why, (MYSQL_MANUAL,))
    redo_bytes = min(max(budget.buffer_pool_bytes // 2, LEAST_REDO_BYTES), MOST_REDO_BYTES)
    why = "Half the buffer pool. It should hold an hour of writes: `zmysql redo-size` measures them."
    yield from redo_settings(server, redo_bytes, why, (MYSQL_MANUAL,))
    default = int(default_of(server, "innodb_log_buffer_size") or 0)
    if default < _LOG_BUFFER_BYTES and budget.mysqld_bytes >= _LEAST_FOR_LOG_BUFFER:
        why = "Commits of many rows wait for a small one; with 32M the pending syncs of a busy replica were gone."
        yield Setting("innodb_log_buffer_size", mebibytes(_LOG_BUFFER_BYTES), why, (BIANCHI,))


def _disks(server: Server, served: ServedLayout, media: MediaClass, budget: Budget) -> Iterator[Setting]:
    ability = _ABILITIES[media]
    capacity = max(min(ability.iops * served.data_vdevs, ability.most_iops), _LEAST_IO_CAPACITY)
    why = f"Random writes a second that flushing may take: {ability.why}, and this pool has {served.data_vdevs}."
    yield Setting("innodb_io_capacity", str(capacity), why, (ability.source,))
    why = "Twice as many when flushing falls behind."
    yield Setting("innodb_io_capacity_max", str(capacity * 2), why, (MYSQL_MANUAL,))
    neighbors = "flushing them together saves seeks" if ability.flush_neighbors else "there are no seeks to save"
    why = f"Dirty neighbours of a page: on {media.upper()} {neighbors}."
    yield Setting("innodb_flush_neighbors", str(ability.flush_neighbors), why, ability.neighbors_from)
    threads = _threads(served, media)
    why = f"Without native AIO a thread has one request under way, so {threads} are what the disks see at once."
    yield Setting("innodb_read_io_threads", str(threads), why, (BIANCHI,))
    yield Setting("innodb_write_io_threads", str(threads), "As for reads.", (BIANCHI,))
    if ability.lru_scan_depth is not None:
        why = "How far each instance of the buffer pool looks for pages to free: 2500 was the best of 1000 to 4000."
        yield Setting("innodb_lru_scan_depth", str(ability.lru_scan_depth), why, (BIANCHI,))
        yield from _page_cleaners(server, budget)


def _threads(served: ServedLayout, media: MediaClass) -> int:
    """Give two for each HDD, 4 at least; and for SSDs, which like many requests at once, what Bianchi ran with."""
    if media is not MediaClass.HDD:
        return _MOST_THREADS
    spindles = sum(len(vdev.disks) for vdev in served.data.pool.vdevs if vdev.role == "data")
    return min(max(2 * spindles, 4), _MOST_THREADS)


def _page_cleaners(server: Server, budget: Budget) -> Iterator[Setting]:
    """Give each instance of the buffer pool its page cleaner, where the server doesn't by itself."""
    has_instances = server.flavour is Flavour.MYSQL and default_of(server, "innodb_page_cleaners") == "4"
    if has_instances and budget.buffer_pool_bytes >= _LEAST_FOR_INSTANCES:
        why = "One for each of the eight instances that the buffer pool has by default, as from 8.4 on."
        yield Setting("innodb_page_cleaners", str(_INSTANCES), why, (MYSQL_MANUAL,))

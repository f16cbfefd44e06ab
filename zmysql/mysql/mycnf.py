"""The my.cnf that goes with a pool. Pure, but for `read_served_pool`."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, ZmysqlError
from zmysql.mysql.server import check_server, knows
from zmysql.units import format_size
from zmysql.zfs.model import VdevRole
from zmysql.zfs.read import TEMPLATE_MARK, read_pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Host
    from zmysql.zfs.model import Dataset, Pool

PAGE_BYTES = 16 << 10
LEAST_MEMORY_BYTES = 256 << 20

# InnoDB's unit of its buffer pool, up to which it would round (innodb_buffer_pool_chunk_size).
_CHUNK_BYTES = 128 << 20
_LEAST_REDO_BYTES, _MOST_REDO_BYTES = 128 << 20, 16 << 30

_COMMENT_WIDTH = 100

# The files whose pages the doublewrite buffer protects.
_TABLESPACES = ("-name", "*.ibd", "-o", "-name", "ibdata*", "-o", "-name", "undo_*")


@dataclass(frozen=True, slots=True)
class ServedPool:
    """What my.cnf depends on: the datasets by what they are for, the vdevs, and the data files that exist.

    `smallest_record_bytes` is the smallest record size of any tablespace file, None when there are no such files;
    `owner` is the owner of the data directory.
    """

    pool: Pool
    data: Dataset
    redo: Dataset
    binlog: Dataset
    tmp: Dataset
    smallest_record_bytes: int | None
    owner: str

    @property
    def has_cache(self) -> bool:
        """Whether the pool has an L2ARC."""
        return bool(self.pool.with_role(VdevRole.CACHE))

    @property
    def has_log(self) -> bool:
        """Whether the pool has log vdevs."""
        return bool(self.pool.with_role(VdevRole.LOG))

    @property
    def directories(self) -> tuple[str, ...]:
        """Where mysqld writes."""
        return tuple(_mountpoint(dataset) for dataset in (self.data, self.redo, self.binlog, self.tmp))


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable, its value, and why it has it."""

    variable: str
    value: str
    why: str


def read_served_pool(host: Host, name: str) -> ServedPool:
    """Read what my.cnf depends on from a pool that create-pool made.

    Raises ZmysqlError when there is no such pool, or it lacks the datasets.
    """
    pool = read_pool(host, name)
    if pool is None:
        raise ZmysqlError(f"there is no imported pool {name}: see `zpool list`, or make it with `zmysql create-pool`")
    datasets = {key: pool.dataset(f"{name}/mysql/{key}") for key in ("data", "redo", "binlog", "tmp")}
    found = {key: dataset for key, dataset in datasets.items() if dataset is not None}
    if missing := [f"{name}/mysql/{key}" for key in datasets if key not in found]:
        raise ZmysqlError(f"the pool {name} has no dataset {', '.join(missing)}: run `zmysql create-pool {name}` again")
    directory = _mountpoint(found["data"])
    # %o is a file's own record size, which stays what it was when the file grew past its first record.
    records = host.run(
        ("find", directory, "(", *_TABLESPACES, ")", "-exec", "stat", "-c", "%o", "{}", "+"), check=False
    )
    sizes = [int(line) for line in records.stdout.split()]
    owner = host.run(("stat", "-c", "%U", directory), check=False).stdout.strip()
    return ServedPool(pool, **found, smallest_record_bytes=min(sizes, default=None), owner=owner)


def render(server: str, served: ServedPool, memory_bytes: int) -> str:
    """Give the text of a my.cnf for mysqld with `memory_bytes` of its own; the ARC comes on top of that.

    Raises UsageError for an unknown server, and for memory that is too little.
    """
    check_server(server)
    if memory_bytes < LEAST_MEMORY_BYTES:
        raise UsageError(f"--memory {format_size(memory_bytes)} is too little: give mysqld 256M or more")
    lines = [*_header(server, served, memory_bytes), "[mysqld]"]
    for setting in _settings(served, memory_bytes):
        if not knows(server, setting.variable):
            continue
        why = textwrap.wrap(setting.why, _COMMENT_WIDTH, initial_indent="# ", subsequent_indent="# ")
        lines += ["", *why, f"{setting.variable} = {setting.value}"]
    return "\n".join(lines) + "\n"


def contradictions(served: ServedPool) -> tuple[str, ...]:
    """Say which properties of the pool work against its vdevs."""
    data, redo = served.data.properties, served.redo.properties
    found = []
    if served.has_cache and data.get("primarycache") != "all":
        found.append(f"{served.data.name}: primarycache={data.get('primarycache')}, so no data reaches the L2ARC")
    if served.has_log and redo.get("logbias") == "throughput":
        found.append(f"{served.redo.name}: logbias=throughput passes the log vdev by")
    return tuple(found)


def _header(server: str, served: ServedPool, memory_bytes: int) -> Iterator[str]:
    template = served.pool.property_of_root(TEMPLATE_MARK)
    made_from = f", made from the template {template}" if template else ""
    yield f"# my.cnf for {server} on the ZFS pool {served.pool.name}{made_from}"
    fit = "cap zfs_arc_max so that both fit into memory"
    yield f"# mysqld has {format_size(memory_bytes)}, and the ARC comes on top: {fit}."
    yield "# The directories must be set before the data directory is initialised (mysqld --initialize)."
    if served.owner != "mysql":
        yield f"# They belong to {served.owner or 'nobody'}: chown mysql:mysql {' '.join(served.directories)}"
    yield "# Under AppArmor or SELinux, allow mysqld these directories."
    yield ""


def _settings(served: ServedPool, memory_bytes: int) -> Iterator[Setting]:
    data, redo, binlog, tmp = served.directories
    record = format_size(int(served.data.properties["recordsize"]))
    yield Setting("datadir", data, f"Records of {record}.")
    yield Setting("innodb_log_group_home_dir", redo, "Written in sequence, so in its own dataset with large records.")
    yield Setting("log_bin", f"{binlog}/binlog", "As the redo log.")
    yield Setting("tmpdir", tmp, "Sorts and temporary tables: kept out of the log device and the L2ARC.")
    yield _flush_method(served)
    yield Setting("innodb_use_native_aio", "0", "ZFS on Linux has no asynchronous I/O: io_submit(2) would block.")
    yield Setting(
        "innodb_page_size", str(PAGE_BYTES), f"What records of {record} are chosen for. Fixed once initialised."
    )
    yield _doublewrite(served)
    pool_bytes = max(memory_bytes * 3 // 4 // _CHUNK_BYTES, 1) * _CHUNK_BYTES
    why = f"Three quarters of {format_size(memory_bytes)}, in chunks of 128M; the rest is for connections and caches."
    yield Setting("innodb_buffer_pool_size", _mebibytes(pool_bytes), why)
    redo_bytes = min(max(pool_bytes // 2, _LEAST_REDO_BYTES), _MOST_REDO_BYTES)
    why = "Half the buffer pool. It should hold an hour of writes: compare Innodb_os_log_written an hour apart."
    yield Setting("innodb_redo_log_capacity", _mebibytes(redo_bytes), why)


def _flush_method(served: ServedPool) -> Setting:
    if served.has_cache:
        why = "O_DIRECT, the default, passes the ARC by, and what isn't in the ARC never reaches this pool's L2ARC."
    else:
        why = "The ARC caches what the buffer pool can't hold; O_DIRECT, the default, would pass it by (OpenZFS 2.3+)."
    return Setting("innodb_flush_method", "fsync", why)


def _doublewrite(served: ServedPool) -> Setting:
    """Turn the doublewrite buffer off only where a torn page can be ruled out from what is seen."""
    record_bytes = int(served.data.properties["recordsize"])
    smallest = served.smallest_record_bytes
    if record_bytes < PAGE_BYTES:
        against = f"a page spans several records of {format_size(record_bytes)}"
    elif smallest is not None and smallest < PAGE_BYTES:
        against = f"files from before have records of {format_size(smallest)}, and a page spans several"
    elif "disabled" in {served.data.properties.get("sync"), served.redo.properties.get("sync")}:
        against = "with sync=disabled the redo log may miss what the data has"
    else:
        why = "A page lies within one record and ZFS writes a record whole or not at all: no page is ever torn."
        return Setting("innodb_doublewrite", "OFF", f"{why} Turn it ON before copying to another file system.")
    return Setting("innodb_doublewrite", "ON", f"Needed here: {against}.")


def _mountpoint(dataset: Dataset) -> str:
    return dataset.properties.get("mountpoint", f"/{dataset.name}")


def _mebibytes(size_bytes: int) -> str:
    return f"{size_bytes >> 20}M"

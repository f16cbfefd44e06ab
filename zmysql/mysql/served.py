"""The layout that a my.cnf is for: its pools as they are now, its datasets by what they are for, and their disks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, ZmysqlError
from zmysql.platforms.device import MediaClass
from zmysql.platforms.system import system_of
from zmysql.zfs.model import VdevRole
from zmysql.zfs.read import LAYOUT_MARK, STATE_MARK, TEMPLATE_MARK, imported_pools, read_pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zmysql.host import Host
    from zmysql.platforms.device import Device
    from zmysql.zfs.model import Dataset, Pool

# What a layout may have datasets for, in the order in which my.cnf names them. All but data may be missing.
PURPOSES = ("data", "redo", "binlog", "relay", "undo", "doublewrite", "system", "tmp", "logs")

# What create-pool marks a pool with whose last dataset is there.
_COMPLETE = "complete"

# Where the pages lie that the doublewrite buffer protects, and the files that they are in.
TABLESPACE_PURPOSES = ("data", "undo", "system")
_TABLESPACES = ("*.ibd", "ibdata*", "undo_*", "undo[0-9]*", "*.ibu")


@dataclass(frozen=True, slots=True)
class Place:
    """A dataset of a layout, and the pool that it is in."""

    pool: Pool
    dataset: Dataset

    @property
    def directory(self) -> str:
        """Where the dataset is mounted."""
        return self.dataset.properties.get("mountpoint", f"/{self.dataset.name}")

    def get(self, name: str) -> str | None:
        """Give a property of the dataset as read back."""
        return self.dataset.properties.get(name)

    @property
    def record_bytes(self) -> int:
        """The recordsize of the dataset."""
        return int(self.dataset.properties["recordsize"])


@dataclass(frozen=True, slots=True)
class ServedLayout:
    """What my.cnf depends on.

    `places` are the datasets by what they are for. `disks` are those of the pool with the tables, by role, None if
    they aren't known. `record_bytes` are the record sizes of the tablespace files that exist, None where the system
    can't tell them; `owner` is the owner of the data directory. `ram_bytes` is the machine's memory, None if unknown.
    """

    name: str
    pools: tuple[Pool, ...]
    places: Mapping[str, Place]
    system: str = "linux"
    disks: Mapping[VdevRole, tuple[Device, ...]] | None = None
    record_bytes: tuple[int, ...] | None = ()
    owner: str | None = None
    ram_bytes: int | None = None

    @property
    def data(self) -> Place:
        """The dataset of the tables."""
        return self.places["data"]

    @property
    def has_cache(self) -> bool:
        """Whether the pool with the tables has an L2ARC."""
        return bool(self.data.pool.with_role(VdevRole.CACHE))

    @property
    def cache_bytes(self) -> int:
        """The size of that L2ARC, 0 where there is none or its disks aren't known."""
        return sum(disk.size_bytes for disk in (self.disks or {}).get(VdevRole.CACHE, ()))

    @property
    def data_media(self) -> MediaClass | None:
        """What the disks of the tables are; the slowest where they differ, None where they aren't known."""
        found = {disk.media for disk in (self.disks or {}).get(VdevRole.DATA, ())}
        return next((media for media in MediaClass if media in found), None)

    @property
    def data_vdevs(self) -> int:
        """How many data vdevs the pool with the tables has; each does about the random writes of one of its disks."""
        return len(self.data.pool.with_role(VdevRole.DATA))

    @property
    def arc_keeps_data(self) -> bool:
        """Whether the ARC caches the records of tables, and not only the metadata of the pool."""
        return self.data.get("primarycache") == "all"

    @property
    def directories(self) -> tuple[str, ...]:
        """Where mysqld writes."""
        return tuple(place.directory for place in self.places.values())


def read_layout(host: Host, name: str) -> ServedLayout:
    """Read what my.cnf depends on from the pools that create-pool made for a layout.

    Raises ZmysqlError when there is no such layout, or it lacks the dataset of the tables.
    """
    pools = read_pools(host, name)
    places = find_places(pools)
    if "data" not in places:
        listed = ", ".join(f"{pool.name}/mysql/data" for pool in pools)
        raise ZmysqlError(f"the layout {name} has no dataset {listed}: run `zmysql create-pool {name}` again")
    system = system_of(host)
    of_tables = [places[purpose].directory for purpose in TABLESPACE_PURPOSES if purpose in places]
    found = [system.record_sizes(host, directory, _TABLESPACES) for directory in of_tables]
    known = [sizes for sizes in found if sizes is not None]
    return ServedLayout(
        name=name,
        pools=pools,
        places=places,
        system=system.name,
        disks=disks_of(places["data"].pool, system.disks(host)),
        record_bytes=tuple(size for sizes in known for size in sizes) if len(known) == len(found) else None,
        owner=system.owner(host, places["data"].directory),
        ram_bytes=system.memory_bytes(host),
    )


def read_pools(host: Host, name: str) -> tuple[Pool, ...]:
    """Give the imported pools of a layout, the one with its name first.

    Raises ZmysqlError when there is no such pool, zmysql didn't make it, or isn't done with it, and UsageError when it
    belongs to another layout.
    """
    first = read_pool(host, name)
    if first is None:
        raise ZmysqlError(f"there is no imported pool {name}: see `zpool list`, or make it with `zmysql create-pool`")
    if first.property_of_root(TEMPLATE_MARK) is None:
        raise ZmysqlError(
            f"zmysql didn't make the pool {name}, so it can't tell what its datasets are for; "
            "`zmysql create-pool` makes one, and `zmysql check` looks at any"
        )
    layout = first.property_of_root(LAYOUT_MARK)
    if layout not in {None, name}:
        raise UsageError(f"the pool {name} is a part of the layout {layout}: name that")
    others = [pool.name for pool in imported_pools(host) if pool.name != name]
    marks = host.run(("zfs", "get", "-H", "-o", "name,value", LAYOUT_MARK, *others)).stdout if others else ""
    ours = [line.split("\t")[0] for line in marks.splitlines() if line.endswith(f"\t{name}")]
    pools = (first, *(pool for other in ours if (pool := read_pool(host, other))))
    if unfinished := [pool.name for pool in pools if pool.property_of_root(STATE_MARK) not in {None, _COMPLETE}]:
        raise ZmysqlError(f"{' and '.join(unfinished)} of the layout {name}: half made; run `zmysql create-pool` again")
    return pools


def find_places(pools: Iterable[Pool]) -> dict[str, Place]:
    """Give the datasets of a layout by what they are for: POOL/mysql/data is the tables'."""
    pools = tuple(pools)
    return {
        purpose: Place(pool, dataset)
        for purpose in PURPOSES
        for pool in pools
        if (dataset := pool.dataset(f"{pool.name}/mysql/{purpose}")) is not None
    }


def disks_of(pool: Pool, disks: Iterable[Device]) -> dict[VdevRole, tuple[Device, ...]]:
    """Give the disks of a pool by role."""
    disks = tuple(disks)
    return {
        role: tuple(
            disk
            for vdev in pool.with_role(role)
            for path in vdev.disks
            if (disk := next((one for one in disks if one.carries(path)), None)) is not None
        )
        for role in VdevRole
    }


def contradictions(served: ServedLayout) -> tuple[str, ...]:
    """Say which properties of the pools work against their vdevs, or against each other."""
    found = []
    data, redo = served.data, served.places.get("redo", served.data)
    if served.has_cache and not served.arc_keeps_data:
        found.append(f"{data.dataset.name}: primarycache={data.get('primarycache')}, so no data reaches the L2ARC")
    if served.has_cache and data.get("direct") == "always":
        found.append(f"{data.dataset.name}: direct=always passes the ARC by, so no data reaches the L2ARC")
    if redo.pool.with_role(VdevRole.LOG) and redo.get("logbias") == "throughput":
        found.append(f"{redo.dataset.name}: logbias=throughput passes the log vdev by")
    if (data.get("sync") == "disabled") != (redo.get("sync") == "disabled"):
        found.append(
            f"{data.dataset.name} has sync={data.get('sync')} and {redo.dataset.name} sync={redo.get('sync')}: "
            "a crash can leave tables and redo log at different moments, which InnoDB can't mend"
        )
    elif data.get("sync") == "disabled" and data.pool.name != redo.pool.name:
        found.append(
            f"sync=disabled in {data.pool.name} and {redo.pool.name}: a crash takes each pool back to a moment of its "
            "own, which InnoDB can't mend"
        )
    return tuple(found)

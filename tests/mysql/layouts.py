"""Layouts as my.cnf sees them, from templates: the least pools that each of them may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.layout.template import load_template
from zmysql.mysql.served import ServedLayout, disks_of, find_places
from zmysql.platforms.device import Device
from zmysql.units import parse_size
from zmysql.zfs.model import Dataset, Pool, Vdev

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.layout.model import PoolSpec

DISK_BYTES = 1 << 40


def layout(template: str, *settings: str, system: str = "linux") -> ServedLayout:
    """Give a template's layout `tank` on disks of 1T, its properties as `zfs get -p` prints them."""
    specs = load_template(template, settings).pools
    pools = tuple(_pool(spec) for spec in specs)
    places = find_places(pools)
    disks = [
        Device(path.rsplit("/", 1)[1], path, role.classes[0], DISK_BYTES, 512, 4096)
        for spec, pool in zip(specs, pools, strict=True)
        for role in spec.roles
        for vdev in pool.with_role(role.role)
        for path in vdev.disks
    ]
    of_tables = disks_of(places["data"].pool, disks)
    return ServedLayout("tank", pools, places, system=system, disks=of_tables, owner="mysql", ram_bytes=64 << 30)


def _pool(spec: PoolSpec) -> Pool:
    name = spec.name_of_pool("tank")
    return Pool(name, tuple(_vdevs(spec)), datasets=tuple(_datasets(spec, name)))


def _vdevs(spec: PoolSpec) -> Iterator[Vdev]:
    for role in spec.roles:
        for at in range(role.min_vdevs):
            disks = tuple(f"/dev/{spec.key or 'first'}-{role.role}-{at}-{leaf}" for leaf in range(role.width))
            yield Vdev(role.role, role.kind, disks)


def _datasets(spec: PoolSpec, name: str) -> Iterator[Dataset]:
    # What a template leaves out has ZFS's own default.
    root = {"recordsize": "128K", "primarycache": "all", **spec.root_properties}
    yield Dataset(name, root)
    for key, own in spec.datasets.items():
        properties = {**root, **own}
        yield Dataset(f"{name}/mysql/{key}", {**properties, "recordsize": str(parse_size(properties["recordsize"]))})

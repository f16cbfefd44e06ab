"""The argv lists that make and unmake pools and datasets: zpool-create(8), zfs-create(8), zfs-set(8)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zmysql.zfs.model import Dataset, Pool, Vdev

Argv = tuple[str, ...]


def create_pool(pool: Pool, *, force: bool = False) -> Argv:
    """Give the one command that makes a pool with all its vdevs, and its root dataset with its properties.

    `force` takes what zpool-create(8) refuses otherwise: disks with something on them, unlike vdevs.
    """
    root = pool.dataset(pool.name)
    return (
        *("zpool", "create", *(("-f",) if force else ())),
        *_options("-o", pool.properties),
        *_options("-O", root.properties if root else {}),
        pool.name,
        *_vdev_words(pool.vdevs),
    )


def create_dataset(dataset: Dataset) -> Argv:
    """Give the command that makes a file system with its properties."""
    return ("zfs", "create", *_options("-o", dataset.properties), dataset.name)


def set_properties(dataset: str, properties: Mapping[str, str]) -> Argv:
    """Give the command that sets properties of a dataset."""
    return ("zfs", "set", *(f"{name}={value}" for name, value in properties.items()), dataset)


def inherit_property(dataset: str, name: str) -> Argv:
    """Give the command that has a dataset inherit a property again; a user property is thereby gone."""
    return ("zfs", "inherit", name, dataset)


def mount_dataset(dataset: str) -> Argv:
    """Give the command that mounts a file system."""
    return ("zfs", "mount", dataset)


def set_pool_property(pool: str, name: str, value: str) -> Argv:
    """Give the command that sets a property of a pool; zpool-set(8) takes one at a time."""
    return ("zpool", "set", f"{name}={value}", pool)


def add_vdevs(pool: str, vdevs: Iterable[Vdev], *, force: bool = False) -> Argv:
    """Give the command that adds vdevs to a pool: zpool-add(8); `force` takes disks that have something on them."""
    return ("zpool", "add", *(("-f",) if force else ()), pool, *_vdev_words(vdevs))


def destroy_pool(name: str) -> Argv:
    """Give the command that destroys a pool; who calls it has compared the GUID."""
    return ("zpool", "destroy", name)


def _options(flag: str, properties: Mapping[str, str]) -> list[str]:
    return [word for name, value in properties.items() for word in (flag, f"{name}={value}")]


def _vdev_words(vdevs: Iterable[Vdev]) -> list[str]:
    ordered = sorted(vdevs, key=lambda vdev: list(VdevRole).index(vdev.role))
    words = list[str]()
    for role, of_role in itertools.groupby(ordered, key=lambda vdev: vdev.role):
        # zpool(8) takes each of the words log, cache, … once; data vdevs have none.
        words += [] if role is VdevRole.DATA else [role.value]
        for vdev in of_role:
            words += [*(() if vdev.kind == "disk" else (vdev.kind,)), *vdev.disks]
    return words

"""The argv lists that make and unmake pools and datasets: zpool-create(8), zfs-create(8), zfs-set(8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zmysql.zfs.model import Dataset, Pool

Argv = tuple[str, ...]


def create_pool(pool: Pool) -> Argv:
    """Give the one command that makes a pool with all its vdevs, and its root dataset with its properties."""
    root = pool.dataset(pool.name)
    vdevs = [word for role in VdevRole for word in _vdev_words(pool, role)]
    return (
        *("zpool", "create"),
        *_options("-o", pool.properties),
        *_options("-O", root.properties if root else {}),
        pool.name,
        *vdevs,
    )


def create_dataset(dataset: Dataset) -> Argv:
    """Give the command that makes a file system with its properties."""
    return ("zfs", "create", *_options("-o", dataset.properties), dataset.name)


def set_properties(dataset: str, properties: Mapping[str, str]) -> Argv:
    """Give the command that sets properties of a dataset."""
    return ("zfs", "set", *(f"{name}={value}" for name, value in properties.items()), dataset)


def destroy_pool(name: str) -> Argv:
    """Give the command that destroys a pool; who calls it has compared the GUID."""
    return ("zpool", "destroy", name)


def blank_disk(disk: str, parts: Iterable[str]) -> tuple[Argv, ...]:
    """Give the commands that take ZFS's labels and partitions off a disk, so that it is as free as before.

    labelclear fails on a partition that has no label; what counts is the last, with which the kernel forgets them.
    """
    labels = [("zpool", "labelclear", "-f", part) for part in parts]
    return (*labels, ("wipefs", "--all", "--quiet", disk), ("blockdev", "--rereadpt", disk))


def _options(flag: str, properties: Mapping[str, str]) -> list[str]:
    return [word for name, value in properties.items() for word in (flag, f"{name}={value}")]


def _vdev_words(pool: Pool, role: VdevRole) -> list[str]:
    vdevs = pool.with_role(role)
    # zpool(8) takes each of the words log, cache, … once; data vdevs have none.
    words = [role.value] if vdevs and role is not VdevRole.DATA else []
    for vdev in vdevs:
        words += [*(() if vdev.kind == "disk" else (vdev.kind,)), *vdev.disks]
    return words

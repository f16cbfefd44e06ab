"""What differs between the pool that is wanted and the pool that is there. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.layout.model import Difference
from zmysql.zfs.properties import type_of_dataset_property
from zmysql.zfs.read import STATE_MARK, TEMPLATE_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.layout.model import Inventory, PoolSpec, RoleSpec
    from zmysql.zfs.model import Dataset, Pool, Vdev, VdevRole


def compare(wanted: Pool, actual: Pool, inventory: Inventory) -> tuple[Difference, ...]:
    """Give all that differs: vdevs by the disks that they are made of, properties, datasets. More datasets are fine."""
    return (*_vdevs(wanted, actual, inventory), *compare_properties(wanted, actual))


def compare_with_template(spec: PoolSpec, wanted: Pool, actual: Pool, inventory: Inventory) -> tuple[Difference, ...]:
    """Give all that differs when no disks were named: the vdevs need only be as the template wants them."""
    return (*_shapes(spec, actual, inventory), *compare_properties(wanted, actual))


def compare_properties(wanted: Pool, actual: Pool) -> tuple[Difference, ...]:
    """Give what differs besides vdevs: the pool's state and properties, missing datasets and their properties."""
    return (
        *([] if actual.state == "ONLINE" else [Difference(wanted.name, "state", "ONLINE", actual.state)]),
        *(
            Difference(wanted.name, name, value, actual.properties.get(name))
            for name, value in wanted.properties.items()
            if actual.properties.get(name) != value
        ),
        *(difference for dataset in wanted.datasets for difference in _dataset(dataset, wanted, actual)),
    )


def missing_vdevs(wanted: Pool, actual: Pool, inventory: Inventory) -> tuple[Vdev, ...]:
    """Give the vdevs that a pool lacks, by the disks that they are made of."""
    there = {_identity(vdev, inventory) for vdev in actual.vdevs}
    return tuple(vdev for vdev in wanted.vdevs if _identity(vdev, inventory) not in there)


def only_unfinished(differences: tuple[Difference, ...]) -> bool:
    """Tell whether all that differs is what an interrupted run leaves: datasets not yet there, or not yet mounted."""
    return all(difference.what in {"dataset", "mounted"} for difference in differences)


def template_of(pool: Pool) -> str | None:
    """Give the template that zmysql made a pool from; None when zmysql didn't make it."""
    return pool.property_of_root(TEMPLATE_MARK)


def state_of(pool: Pool) -> str | None:
    """Give how far the making of a pool got."""
    return pool.property_of_root(STATE_MARK)


def _dataset(dataset: Dataset, wanted: Pool, actual: Pool) -> Iterator[Difference]:
    found = actual.dataset(dataset.name)
    if found is None:
        yield Difference(dataset.name, "dataset", "there", None)
        return
    here = {"mountpoint": f"/{dataset.name}", "mounted": "yes"}
    for name, value in here.items():
        if found.properties.get(name) != value:
            yield Difference(dataset.name, name, value, found.properties.get(name))
    # What a dataset inherits from a wrong root is one difference, the root's, and not one for each dataset.
    for name, value in {**wanted.datasets[0].properties, **dataset.properties}.items():
        read = found.properties.get(name)
        of_root = name not in dataset.properties and read == actual.property_of_root(name)
        if not of_root and not type_of_dataset_property[name].reads_as(value, read):
            yield Difference(dataset.name, name, value, read)


def _vdevs(wanted: Pool, actual: Pool, inventory: Inventory) -> Iterator[Difference]:
    there = {_identity(vdev, inventory): vdev for vdev in actual.vdevs}
    asked = {_identity(vdev, inventory): vdev for vdev in wanted.vdevs}
    for identity, vdev in asked.items():
        if identity not in there:
            yield Difference(wanted.name, f"{vdev.role} vdev", _words(identity), None)
    for identity, vdev in there.items():
        if identity not in asked:
            yield Difference(wanted.name, f"{vdev.role} vdev", None, _words(identity))


def _shapes(spec: PoolSpec, actual: Pool, inventory: Inventory) -> Iterator[Difference]:
    for role in spec.roles:
        vdevs = actual.with_role(role.role)
        if len(vdevs) < role.min_vdevs:
            yield Difference(actual.name, f"{role.role} vdevs", f"{role.min_vdevs} or more", str(len(vdevs)))
        for vdev in vdevs:
            if not _fits(vdev, role, inventory):
                shape = f"{role.kind} of {role.width} {' or '.join(role.classes)}"
                yield Difference(actual.name, f"{role.role} vdev", shape, _words(_identity(vdev, inventory)))
    known = {role.role for role in spec.roles}
    for vdev in actual.vdevs:
        if vdev.role not in known:
            yield Difference(actual.name, f"{vdev.role} vdev", None, _words(_identity(vdev, inventory)))


def _fits(vdev: Vdev, role: RoleSpec, inventory: Inventory) -> bool:
    devices = [inventory.carrying(path) for path in vdev.disks]
    right_media = all(device is not None and device.media in role.classes for device in devices)
    return vdev.kind == role.kind and len(devices) == role.width and right_media


def _identity(vdev: Vdev, inventory: Inventory) -> tuple[VdevRole, str, frozenset[str]]:
    """Give what a vdev is, whatever names its disks go by."""
    carriers = ((inventory.carrying(path), path) for path in vdev.disks)
    return vdev.role, vdev.kind, frozenset(device.name if device else path for device, path in carriers)


def _words(identity: tuple[VdevRole, str, frozenset[str]]) -> str:
    _, kind, disks = identity
    return f"{kind} {' '.join(sorted(disks))}"

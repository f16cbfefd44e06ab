"""`zmysql devices --measure`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from zmysql.errors import UsageError, did_you_mean
from zmysql.locality.devices import Media
from zmysql.locality.measure import as_toml, device_names, measure
from zmysql.platforms.device import MediaClass
from zmysql.platforms.system import system_of
from zmysql.report.output import output_version

if TYPE_CHECKING:
    from zmysql.host import Host
    from zmysql.locality.measure import Measured
    from zmysql.platforms.device import Device


def measure_devices(host: Host, names: tuple[str, ...], seconds: float, *, as_json: bool) -> None:
    """Measure disks by name or path, or all there are, and print their models."""
    disks = system_of(host).disks(host)
    targets = [_target(name, disks) for name in names] or list(disks)
    if not targets:
        raise UsageError("there are no disks here: name a large file's path")
    found = []
    for target in targets:
        path = target if isinstance(target, str) else target.path
        click.echo(f"zmysql: measuring {path}, {2 * seconds:g} s", err=True)
        found.append(_with_inventory(measure(host, path, seconds), target))
    called = device_names(one.path for one in found)
    if as_json:
        content = {"output_version": output_version("devices"), "measured": list(map(_as_json, found, called))}
        click.echo(json.dumps(content, indent=2))
    else:
        click.echo("\n".join(map(as_toml, found, called)), nl=False)


def _target(name: str, disks: tuple[Device, ...]) -> Device | str:
    """Give the disk that a name means, or else the path that it is."""
    for disk in disks:
        if disk.is_called(name):
            return disk
    if "/" in name:
        return name
    known = [disk.name for disk in disks]
    near = did_you_mean(name, known)
    raise UsageError(
        f"there is no disk {name}{near}; there are {', '.join(known) or 'none'}, and a file goes by its path"
    )


def _with_inventory(found: Measured, target: Device | str) -> Measured:
    """Add what the inventory knows better than fio."""
    if isinstance(target, str):
        return found
    media = Media.HDD if target.media is MediaClass.HDD else Media.SSD
    return replace(found, capacity_bytes=target.size_bytes, media=media)


def _as_json(found: Measured, name: str) -> dict[str, object]:
    return {
        "name": name,
        "path": found.path,
        "fio": found.fio,
        "class": None if found.media is None else str(found.media),
        "capacity_bytes": found.capacity_bytes,
        "latency_mean_ns": found.mean_ns,
        "latency_p99_ns": found.p99_ns,
        "iops": found.iops,
        "bandwidth_bytes_per_second": found.bandwidth_bytes_per_second,
    }

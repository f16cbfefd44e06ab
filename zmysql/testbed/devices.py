"""The one table of device models, and how a disk is declared: MODEL:SIZE or MODEL:SIZE*COUNT."""

from __future__ import annotations

import difflib
import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from zmysql.errors import UsageError
from zmysql.units import parse_size
from zmysql.zfs.model import LEAST_VDEV_BYTES


class Bus(StrEnum):
    """How a disk is connected; on SCSI are SAS and SATA disks."""

    SCSI = "scsi"
    NVME = "nvme"


@dataclass(frozen=True, slots=True)
class DeviceModel:
    """A disk as the guest sees it and as it behaves.

    An NVMe disk is QEMU's own: it takes neither maker nor product, and Linux believes no world wide name of it.

    `nbdkit_filter` and `nbdkit_parameters` make the latency: nbdkit-spinning-filter(1) models seeks (the average
    rotational delay is in its shortest seek, since the filter has none of its own), nbdkit-delay-filter(1) adds a
    constant to each request.
    """

    name: str
    description: str
    vendor: str  # at most 8 characters, as SCSI INQUIRY gives them
    product: str  # at most 16
    oui: str  # the six hex digits of the maker in a world wide name
    rotation_rate: int  # revolutions a minute; 1 says that nothing rotates (SBC-4)
    nbdkit_filter: str
    nbdkit_parameters: tuple[str, ...]
    bus: Bus = Bus.SCSI


MODELS = {
    model.name: model
    for model in (
        DeviceModel(
            "hdd-15k",
            "SAS disk of 15000 rpm, after the Cheetah 15K.7: 2 ms rotation + 0.2 to 7 ms seek",
            "SEAGATE",
            "ST3600057SS",
            "000c50",
            15000,
            "spinning",
            ("min-seek-time=2.2ms", "half-seek-time=5.5ms", "max-seek-time=9ms"),
        ),
        DeviceModel(
            "hdd-7200",
            "SATA disk of 7200 rpm: 4.2 ms rotation + 0.5 to 16 ms seek",
            "ATA",
            "ST2000NM0033",
            "000c50",
            7200,
            "spinning",
            ("min-seek-time=4.7ms", "half-seek-time=12.5ms", "max-seek-time=20ms"),
        ),
        DeviceModel(
            "ssd",
            "SATA SSD, after the X25-E: 0.1 ms a read, 0.1 ms a write",
            "ATA",
            "SSDSA2SH032G1GN",
            "001517",
            1,
            "delay",
            ("rdelay=0.1ms", "wdelay=0.1ms"),
        ),
        DeviceModel(
            "nvme",
            "NVMe SSD, after the P3700: 20 us a read, 20 us a write",
            "",
            "QEMU NVMe Ctrl",
            "",
            1,
            "delay",
            ("rdelay=20us", "wdelay=20us"),
            Bus.NVME,
        ),
        DeviceModel(
            "hdd-instant",
            "a disk that says it rotates and answers at once: to try a layout where speed is of no matter",
            "SEAGATE",
            "ST3600057SS",
            "000c50",
            15000,
            "delay",
            (),
        ),
    )
}

# Enough for each template: six that seek, two small SSDs for a log, two larger ones, two on NVMe.
DEFAULT_DISKS = ("hdd-15k:4G*6", "ssd:1G*2", "ssd:2G*2", "nvme:1G*2")
MOST_DISKS = {Bus.SCSI: 128, Bus.NVME: 16}  # each NVMe disk takes one of the machine's 32 PCI slots
_SPEC = re.compile(r"([\w-]+):([^*]+?)(?:\*(\d+))?")


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk of a testbed: its model and size, and the identity that the guest sees."""

    model: DeviceModel
    size_bytes: int
    serial: str
    wwn: int | None


def parse_disks(testbed: str, specs: tuple[str, ...]) -> tuple[Disk, ...]:
    """Give the disks that `specs` declare, in order, with serials and WWNs that differ between testbeds.

    Raises UsageError on an unknown model, a size that doesn't parse or is under 64 MiB, and more disks than fit.
    """
    wanted: list[tuple[DeviceModel, int]] = []
    for spec in specs:
        match = _SPEC.fullmatch(spec)
        if match is None:
            raise UsageError(f"--disk {spec}: write MODEL:SIZE or MODEL:SIZE*COUNT, such as hdd-15k:4G*4")
        name, size, count = match[1], parse_size(match[2]), int(match[3] or 1)
        if name not in MODELS:
            near = difflib.get_close_matches(name, MODELS, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(MODELS)}"
            raise UsageError(f"--disk {spec}: no device model is called {name}; {hint}")
        if size < LEAST_VDEV_BYTES:
            raise UsageError(f"--disk {spec}: ZFS takes no disk under 64M")
        wanted += [(MODELS[name], size - size % 4096)] * count
    for bus, most in MOST_DISKS.items():
        count = sum(model.bus is bus for model, _ in wanted)
        if count > most:
            raise UsageError(f"--disk: {count} {bus} disks are more than the {most} that a testbed takes")
    return tuple(_disk(testbed, index, model, size) for index, (model, size) in enumerate(wanted))


def _disk(testbed: str, index: int, model: DeviceModel, size_bytes: int) -> Disk:
    digest = hashlib.sha256(f"{testbed}/{index}".encode()).hexdigest().upper()
    wwn = int(f"5{model.oui}{digest[8:17]}", 16) if model.oui else None
    return Disk(model, size_bytes, f"ZM{digest[:8]}", wwn)

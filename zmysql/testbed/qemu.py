"""QEMU's command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.testbed.accelerator import machine_argv
from zmysql.testbed.devices import Bus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.testbed.devices import Disk
    from zmysql.testbed.image import Image


def qemu_argv(image: Image, accelerator: str, port: int, disks: Sequence[Disk], *, size: tuple[int, int]) -> list[str]:
    """Give the command that runs the guest in the testbed's folder, with ssh on `port` of the loopback interface.

    `size` is the number of CPUs and the memory in bytes.
    """
    cpus, memory_bytes = size
    argv = [
        *machine_argv(accelerator),
        *("-smp", str(cpus), "-m", f"{memory_bytes >> 20}M"),
        *("-nodefaults", "-display", "none", "-no-reboot", "-serial", "file:console.log"),
        *("-kernel", str(image.path / "vmlinuz"), "-initrd", str(image.path / "initrd")),
        *("-append", "root=/dev/vda rw console=ttyS0 quiet panic=-1 mitigations=off"),
        # What is written to the root disk goes to a temporary file that QEMU has unlinked: the image stays as it is.
        *("-drive", f"if=none,id=root,format=raw,file={image.path}/root.img,snapshot=on,cache=unsafe"),
        *("-device", "virtio-blk-pci,drive=root", "-device", "virtio-rng-pci", "-device", "virtio-scsi-pci,id=scsi"),
        *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"),
        *("-device", "virtio-net-pci,netdev=net"),
    ]
    for index, disk in enumerate(disks):
        argv += ["-drive", f"if=none,id=disk{index},format=raw,cache=none,discard=unmap,file=nbd:unix:disk{index}.sock"]
        argv += ["-device", _device(index, disk)]
    return argv


def _device(index: int, disk: Disk) -> str:
    model = disk.model
    common = f"drive=disk{index},serial={disk.serial}"
    if model.bus is Bus.NVME:
        return f"nvme,{common}"
    identity = f"vendor={model.vendor},product={model.product},wwn={disk.wwn:#x}"
    return f"scsi-hd,bus=scsi.0,scsi-id={index},{common},rotation_rate={model.rotation_rate},{identity}"

"""KVM or emulation: decided by a real, short boot, since /dev/kvm may be there and useless."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.host import Local
from zmysql.testbed.image import cache_dir

if TYPE_CHECKING:
    from zmysql.testbed.image import Image

KVM, TCG = "kvm", "tcg"
PROBE_PATIENCE_S = 15.0  # KVM takes one or two seconds; one that crawls in the firmware takes for ever


def machine_argv(accelerator: str) -> list[str]:
    """Give the beginning of QEMU's command line.

    Under TCG, QEMU 7.2 corrupts cmpxchg16b and the guest's kernel dies of a double fault, so CPU flags are taken
    away; and arming probes panics a guest whose CPUs run in parallel threads, so they share one.
    """
    argv = ["qemu-system-x86_64", "-machine", "q35"]
    if accelerator == KVM:
        return [*argv, "-accel", "kvm", "-cpu", "host"]
    return [*argv, "-accel", "tcg,thread=single", "-cpu", "max,-cx16,-la57,-pku"]


def choose(image: Image) -> str:
    """Give "kvm" when a kernel boots under it within 15 s, else "tcg"; asked once for each boot of this machine."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return TCG
    remembered = cache_dir() / "accelerator.json"
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    try:
        known: dict[str, str] = json.loads(remembered.read_text())
        if known["boot"] == boot:
            return known["accelerator"]
    except (OSError, ValueError, KeyError):
        pass
    accelerator = KVM if _boots(image) else TCG
    remembered.write_text(json.dumps({"boot": boot, "accelerator": accelerator}) + "\n")
    return accelerator


def _boots(image: Image) -> bool:
    """Boot the kernel without a root file system: that it gets as far as to miss it shows that the machine works."""
    argv = [
        *machine_argv(KVM),
        *("-m", "256M", "-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio"),
        *("-kernel", str(image.path / "vmlinuz"), "-append", "console=ttyS0 panic=-1"),
    ]
    return "Unable to mount root fs" in Local().run(argv, check=False, timeout=PROBE_PATIENCE_S).stdout

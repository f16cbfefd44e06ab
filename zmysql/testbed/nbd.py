"""The disks' servers: one nbdkit a disk, out of the image, so that every host has the same disks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from pathlib import Path

    from zmysql.testbed.devices import Disk
    from zmysql.testbed.image import Image

PATIENCE_S = 20.0


def disk_argv(image: Image, index: int, disk: Disk) -> list[str]:
    """Give the nbdkit command of one disk; paths are relative to the testbed's folder, as sockets' must be short.

    The image's own nbdkit runs under the image's own loader: Debian 12's is older than the spinning filter.
    """
    parts = image.path / "nbdkit"
    return [
        str(parts / "ld-linux-x86-64.so.2"),
        *("--library-path", str(parts), str(parts / "nbdkit")),
        *("--foreground", "--unix", f"disk{index}.sock"),
        f"--filter={parts}/nbdkit-{disk.model.nbdkit_filter}-filter.so",
        f"{parts}/nbdkit-file-plugin.so",
        f"disk{index}.img",
        *disk.model.nbdkit_parameters,
    ]


def wait_for_sockets(folder: Path, count: int) -> None:
    """Wait until each disk's server listens.

    Raises ZmysqlError with what the server said when one doesn't.
    """
    deadline = time.monotonic() + PATIENCE_S
    for index in range(count):
        while not (folder / f"disk{index}.sock").exists():
            if time.monotonic() > deadline:
                said = (folder / f"disk{index}.log").read_text(errors="replace").strip()
                raise ZmysqlError(f"disk {index} didn't start: {said or 'nbdkit said nothing'}")
            time.sleep(0.02)

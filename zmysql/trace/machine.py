"""What the header of a trace says of the machine: its system, its ZFS, and how large its caches are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zmysql.host import Host

_ARCSTATS = "/proc/spl/kstat/zfs/arcstats"
_SIZE = 1  # column of `zpool list -vHp`


def describe_system(host: Host) -> str:
    """Give distribution, kernel and architecture, such as `Debian GNU/Linux 13 (trixie), Linux 6.12.1 x86_64`."""
    kernel = host.run(("uname", "-srm")).stdout.strip()
    release = host.run(("cat", "/etc/os-release"), check=False).stdout
    pretty = re.search(r'^PRETTY_NAME="?(.*?)"?$', release, re.MULTILINE)
    return f"{pretty[1]}, {kernel}" if pretty else kernel


def zfs_version(host: Host) -> str | None:
    """Give the version of the loaded module, such as `2.3.9-1`."""
    return host.run(("cat", "/sys/module/zfs/version"), check=False).stdout.strip() or None


def arc_bytes(host: Host) -> int | None:
    """Give the bytes that the ARC can hold now; None where there are no arcstats."""
    return parse_arc_bytes(host.run(("cat", _ARCSTATS), check=False).stdout)


def parse_arc_bytes(arcstats: str) -> int | None:
    """Give the bytes that an ARC can hold, from the kstat arcstats.

    That is its target size c. An ARC that hasn't been filled yet has a small c, and will grow into the free memory,
    up to c_max.
    """
    values = {name: int(value) for name, _, value in (line.split() for line in arcstats.splitlines()[2:])}
    if "c" not in values:
        return None
    room = values["size"] + max(values.get("memory_available_bytes", 0), 0)
    return min(values["c_max"], max(values["c"], room))


def l2arc_bytes(host: Host, datasets: Iterable[str]) -> int | None:
    """Give the bytes of the cache devices of the datasets' pools; None where there are none."""
    pools = sorted({name.partition("/")[0] for name in datasets})
    sizes = (parse_cache_bytes(host.run(("zpool", "list", "-vHp", pool), check=False).stdout) for pool in pools)
    return sum(sizes) or None


def parse_cache_bytes(listed: str) -> int:
    """Give the bytes of a pool's cache devices, from `zpool list -vHp POOL`."""
    total_bytes = 0
    in_cache = False
    for line in listed.splitlines():
        if not line.startswith("\t"):  # a pool, or a heading, which is padded with blanks
            in_cache = line.split()[0] == "cache" and line.split()[_SIZE] == "-"
        elif in_cache:
            size = line.split()[_SIZE]
            total_bytes += int(size) if size.isdigit() else 0
    return total_bytes

"""How long it takes to understand 200 disks: what lsblk, udev and zpool say of them, and what uses each.

The texts are a real machine's, its disks and its pool written down 25 times under other names.
"""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path

from bench.clock import seconds
from zmysql.layout.inventory import with_pools
from zmysql.platforms.linux import parse_disks
from zmysql.zfs.parse import parse_status

MACHINE = Path(__file__).parents[2] / "tests" / "machines" / "debian13-zfs2.3-special"
COPIES = 25
RUNS = 7
LIMIT_S = 0.2


def copied(file: str, copy: int) -> str:
    """Give a captured text with names of its own for disks and pool."""
    two_letters = chr(ord("a") + copy // 26) + chr(ord("a") + copy % 26)
    text = (MACHINE / file).read_text()
    text = re.sub(r"\b([sv]d)([a-z])(?=\d*\b)", rf"\g<1>{two_letters}\2", text)
    text = re.sub(r"\bloop(\d+)", rf"loop{copy}00\1", text)
    text = re.sub(r"by-diskseq/(\d+)", rf"by-diskseq/{copy}00\1", text)
    # Serial numbers and world wide names, also where they are part of a link's name.
    text = re.sub(r"(?<=000)0(?=[0-9a-f]{4}\b)", f"{copy:02x}", text)
    return text.replace("ZMvm-", f"ZMvm{copy}-").replace("wide", f"wide{copy}")


def run() -> bool:
    """Print the median; give whether it is under the limit."""
    copies = range(COPIES)
    nodes = [node for copy in copies for node in json.loads(copied("lsblk.json", copy))["blockdevices"]]
    lsblk = json.dumps({"blockdevices": nodes})
    links = "".join(copied("dev-disk", copy) for copy in copies)
    status = "\n".join(copied("zpool-status", copy) for copy in copies)

    def read() -> int:
        disks = with_pools(parse_disks(lsblk, links), parse_status(status))
        return sum(any(use.pool for use in disk.used_by) for disk in disks)

    disks = parse_disks(lsblk, links)
    if len({disk.stable_path for disk in disks}) != len(disks) or read() != 7 * COPIES:
        raise ValueError("the copies aren't as distinct as real disks are")
    took = statistics.median(seconds(read) for _ in range(RUNS))
    print(f"discovery of {len(disks)} disks, {read()} of them in {COPIES} pools: {took:.3f} s (limit {LIMIT_S} s)")
    return took < LIMIT_S

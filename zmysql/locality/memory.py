"""Whether an analysis fits this machine: told before it begins, or the kernel would end the process in the middle."""

from __future__ import annotations

from pathlib import Path

from zmysql.errors import ZmysqlError
from zmysql.units import format_size

MEMINFO = Path("/proc/meminfo")
READ_BYTES = 13  # a read in the engine's memory (Reads); blocks and the tables of their numbers come on top


def available_bytes(meminfo: Path = MEMINFO) -> int | None:
    """Give the memory that can be had without swapping (MemAvailable), or None where the system doesn't say."""
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, rest = line.partition(":")
        if key == "MemAvailable":
            return int(rest.split()[0]) * 1024
    return None


def require(needed_bytes: int, what: str, meminfo: Path = MEMINFO) -> None:
    """Raise ZmysqlError where that is more than can be had; `what` begins the sentence."""
    available = available_bytes(meminfo)
    if available is not None and needed_bytes > available:
        raise ZmysqlError(
            f"{what} take {format_size(needed_bytes)} of memory, and {format_size(available)} are free here:"
            " `zmysql locality report FILE --sample auto` judges a sample of the blocks, and `zmysql trace cut` takes"
            " out a part; or do it on a larger machine"
        )

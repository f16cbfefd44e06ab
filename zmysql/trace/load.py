"""How many records a server reads: what a sampling rate is chosen by before a recording."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from zmysql.host import Host

_ARCSTATS = "/proc/spl/kstat/zfs/arcstats"
# What blkaccess prints a line for, but for holes; of all processes. OpenZFS before 2.2 has no iohits.
_COUNTED = re.compile(r"^demand_data_(?:hits|misses|iohits)\s+\d+\s+(\d+)$", re.MULTILINE)
LOOK_SECONDS = 3.0
_LARGEST_RATE = 1 << 20


def reads_per_second(host: Host, seconds: float = LOOK_SECONDS) -> float:
    """Look at the ARC's counters for some seconds, and give the records of data that were read per second.

    Raises ZmysqlError where there are no such counters.
    """
    first, began = _count(host), time.monotonic()
    time.sleep(seconds)
    return (_count(host) - first) / (time.monotonic() - began)


def _count(host: Host) -> int:
    found = _COUNTED.findall(host.run(("cat", _ARCSTATS), check=False).stdout)
    if not found:
        raise ZmysqlError(
            f"no reads are counted in {_ARCSTATS} on {host.name}: give a sampling rate, such as --sample 1/64"
        )
    return sum(map(int, found))


def rate_for(reads_per_second: float, lines_per_second: int) -> int:
    """Give the N of the sampling rate 1/N, a power of two, that makes no more lines a second than wanted.

    The samples of powers of two lie in each other, so that recordings of several rates can be compared.
    """
    rate = 1
    while reads_per_second / rate > lines_per_second and rate < _LARGEST_RATE:
        rate *= 2
    return rate

"""A tracer where there is no better: prints what blkaccess.d would, from the kernel's own history of reads.

`python -m zmysql.trace.history PID SECONDS RATE` reads /proc/spl/kstat/zfs/POOL/reads of each pool several times a
second (OpenZFS on Linux, module/zfs/spa_stats.c) and prints the demand reads of data that the process's threads asked
the ARC for. It sets the module's parameters zfs_read_history and zfs_read_history_hits, and puts them back at its end.

It sees less than the scripts: neither what the dbuf cache served nor Direct I/O comes to arc_read(), L2ARC and disks
are one class (-), sizes are the dataset's recordsize, and a thread that lived for less than a look isn't known as the
process's.
"""

from __future__ import annotations

import signal
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.host import Local
from zmysql.trace.sampling import is_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

_KSTATS = Path("/proc/spl/kstat/zfs")
_PARAMETERS = Path("/sys/module/zfs/parameters")
# Reads that the kernel keeps, about 200 B each; at four looks a second more than 60,000 a second would be lost.
_WANTED = {"zfs_read_history": "16384", "zfs_read_history_hits": "1"}
_LOOK_SECONDS = 0.25
# Flags in include/sys/arc.h of OpenZFS, from 0.6.5 on.
_PREFETCH, _CACHED = 1 << 2, 1 << 3
_LEAST_FIELDS = 9  # UID start objset object level blkid aflags [origin] pid process


class History:
    """The reads of one pool's history that weren't seen before; `lost` counts those that the kernel forgot unseen."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.lost = 0
        self._seen = -1

    def new(self, text: bytes) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Yield (time in ns, objset, object, blkid, flags, thread) of the new demand reads of data."""
        known = text.rfind(b"\n%d " % self._seen)
        for line in text[max(known, 0) :].splitlines():
            fields = line.split()
            if len(fields) < _LEAST_FIELDS or not fields[0].isdigit() or int(fields[0]) <= self._seen:
                continue
            identity = int(fields[0])
            if self._seen >= 0:
                self.lost += identity - self._seen - 1
            self._seen = identity
            objset, number, level, blkid = int(fields[2], 16), int(fields[3]), int(fields[4]), int(fields[5])
            flags = int(fields[6], 16)
            if objset > 0 and number > 0 and level == 0 and blkid >= 0 and not flags & _PREFETCH:
                thread = fields[7] if fields[7].isdigit() else fields[8]  # origin comes before it, if there is one
                yield int(fields[1]), objset, number, blkid, flags, int(thread)


def line_of(
    read: tuple[int, int, int, int, int, int], threads: Collection[int], sizes: Mapping[int, int], rate: int
) -> str | None:
    """Give the line for a read, in blkaccess.d's columns; None where it isn't the process's, or not in the sample."""
    time_ns, objset, number, blkid, flags, thread = read
    if thread not in threads or objset not in sizes or not is_kept(objset, number, blkid, rate):
        return None
    return f"{time_ns} {objset} {number} 0 {blkid} {sizes[objset]} {'arc' if flags & _CACHED else '-'}"


def main(pid: int, seconds: int, rate: int) -> None:
    """Print the reads of a process until it ends, the time is over, or a signal comes."""
    stopped = list[int]()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda caught, _: stopped.append(caught))
    with _history_kept():
        _watch(pid, time.monotonic() + seconds if seconds else float("inf"), rate, lambda: bool(stopped))


def _watch(pid: int, deadline: float, rate: int, stopped: Callable[[], bool]) -> None:
    sizes = _sizes()
    histories: dict[Path, History] = {}
    threads: set[int] = set()
    for text, history in _looks(histories):  # what was read before is known now
        list(history.new(text))
        history.lost = 0
    print(f"# began {time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)}, {time.time_ns()} ns since 1970")
    print(f"# sampling 1/{rate}\n# time objset object level blkid size class", flush=True)
    alive = True
    while alive and not stopped() and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
        alive = _see_threads(pid, threads)
        print(f"# at {time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)}")
        for text, history in _looks(histories):
            for read in history.new(text):
                line = line_of(read, threads, sizes, rate)
                if line:
                    print(line)
            if history.lost:
                print(f"Lost {history.lost} events")
                history.lost = 0
        sys.stdout.flush()
    if not alive:
        print(f"# process {pid} exited", flush=True)


def _looks(histories: dict[Path, History]) -> Iterator[tuple[bytes, History]]:
    """Yield the text of each pool's history, and what is known of it; pools may come and go."""
    for path in sorted(_KSTATS.glob("*/reads")):
        with suppress(OSError):
            yield path.read_bytes(), histories.setdefault(path, History())


def _see_threads(pid: int, threads: set[int]) -> bool:
    """Add the process's threads to those that are known; False when it is gone."""
    try:
        threads.update(int(task.name) for task in Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return False
    return True


def _sizes() -> dict[int, int]:
    """Give the record size of each dataset, by objset id."""
    listed = Local().run(("zfs", "list", "-Hp", "-t", "filesystem", "-o", "objsetid,recordsize")).stdout
    return {int(objset): int(size) for objset, size in (line.split("\t") for line in listed.splitlines())}


@contextmanager
def _history_kept() -> Iterator[None]:
    """Have the kernel keep its reads for the time being."""
    before = {name: (_PARAMETERS / name).read_text() for name in _WANTED}
    try:
        for name, value in _WANTED.items():
            (_PARAMETERS / name).write_text(value)
        yield
    finally:
        for name, value in before.items():
            (_PARAMETERS / name).write_text(value)


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main(*map(int, sys.argv[1:4]))
    # A reader that is gone leaves nobody to flush to.
    sys.stderr.close()

"""One run of a workload, recorded: the trace, and what ZFS counted from its first record to its last."""

from __future__ import annotations

import gzip
import json
import re
import time
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from accuracy.machine import CACHES, PARAMETERS, POOLS, SYSBENCH
from accuracy.workloads import LONGEST_S, OWN, TABLE_ROWS
from zmysql.errors import ZmysqlError
from zmysql.trace.format import read_header
from zmysql.trace.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path

    from accuracy.machine import Machine
    from accuracy.workloads import Workload
    from zmysql.host import Process

BUFFER_POOL = "5M"
THREADS = 2
SAMPLE_S = 5
START_S = END_S = 600.0
# Between the first sample and the load, and between its end and the last sample: nothing is read then, so that a trace
# which is cut there has exactly the reads that were counted, though its start is known to the second only.
QUIET_S = 3.0
KSTATS = ("arcstats", "dbufstats", "zfetchstats")
TUNABLES = "zfs_arc_* l2arc_* dbuf_* zfetch_* zfs_prefetch_disable zfs_txg_timeout zfs_dirty_data_max zfs_compressed_*"
PROPERTIES = (
    "recordsize,compression,compressratio,refcompressratio,primarycache,secondarycache,prefetch,logicalused,used"
)
RECORDING = re.compile(r"recording: (\d+) records")
SIGNAL = "kill -INT $(pgrep -f '^[^ ]*python.* trace record --duration')"


def capture(machine: Machine, load: Workload, folder: Path) -> None:
    """Run a workload from empty caches, and leave its trace and context in `folder`.

    Raises ZmysqlError when the tracer doesn't start, or lost records: then nothing can be compared.
    """
    pool = POOLS[load.recordsize][0]
    machine.empty(pool, load.arc_bytes)
    # What mysqld and the tracer read while they start isn't to be found in the ARC.
    machine.sh(f"zfs set primarycache=metadata {pool}")
    if load.l2arc_bytes:
        machine.sh(f"zpool add -f {pool} cache {CACHES[load.l2arc_bytes]}")
    machine.start_mysqld(pool, BUFFER_POOL)
    guest = machine.guest
    record = ("zmysql", "trace", "record", "--duration", "3600s", "--overwrite", "-o", "/root/a.trace.gz")
    with guest.start(record) as tracer:
        _recorded(tracer, 0, START_S)
        machine.sh(f"zfs set primarycache=all {pool}; zpool sync {pool}")
        paths = [f"/proc/spl/kstat/zfs/{name}" for name in KSTATS]
        paths += machine.sh(f"ls /proc/spl/kstat/zfs/{pool}/objset-*").split()
        sampler = f"python3 /root/sampler.py {SAMPLE_S} {' '.join(paths)} > /root/samples"
        with guest.start(("sh", "-c", sampler), feed=True) as sampling:
            time.sleep(QUIET_S)
            with guest.start(_sysbench(load)) as bench:
                machine.say(f"{load.name}: {_recorded(tracer, load.reads, LONGEST_S, bench)} reads")
                guest.run(("pkill", "-x", "sysbench"), check=False)
            time.sleep(QUIET_S)
            sampling.close_stdin()
            sampling.wait(60)
        machine.sh(SIGNAL)
        try:
            tracer.wait(END_S)
        except TimeoutError:
            raise ZmysqlError(f"the tracer of {load.name} doesn't end: is this machine that busy?") from None
    folder.mkdir(parents=True, exist_ok=True)
    guest.get("/root/a.trace.gz", folder / "whole.trace.gz")
    context = _context(machine, load, pool)
    _cut(folder / "whole.trace.gz", folder / "trace.gz", context)
    (folder / "whole.trace.gz").unlink()
    (folder / "context.json").write_text(json.dumps(context, indent=1) + "\n")
    machine.stop_mysqld()


def _recorded(tracer: Process, wanted: int, patience_s: float, bench: Process | None = None) -> int:
    """Wait until the tracer has so many records, or time is up, and give how many it has."""
    deadline = time.monotonic() + patience_s
    while True:
        found = RECORDING.findall(tracer.stderr())
        if found and (int(found[-1]) >= wanted or time.monotonic() > deadline):
            return int(found[-1])
        if tracer.poll() is not None or (not found and time.monotonic() > deadline):
            raise ZmysqlError(f"the tracer doesn't record: {tracer.stderr()}")
        if bench is not None and bench.poll() is not None:
            raise ZmysqlError(f"sysbench ended: {bench.stderr()} {b''.join(bench.lines()).decode()}")
        time.sleep(0.5)


def _sysbench(load: Workload) -> tuple[str, ...]:
    script = f"/root/{load.script}.lua" if load.script in OWN else load.script
    size = (f"--tables={load.tables}", f"--table-size={TABLE_ROWS}", f"--threads={THREADS}", "--time=0", "--events=0")
    return ("sysbench", script, *SYSBENCH, *size, *load.options, "run")


def _context(machine: Machine, load: Workload, pool: str) -> dict[str, Any]:
    """Give all that a simulation needs to know beside the trace, and what it is to be compared with."""
    samples = [json.loads(line) for line in machine.sh("cat /root/samples").splitlines()]
    parameters = machine.sh(f"cd {PARAMETERS}; grep -H . {TUNABLES}").splitlines()
    properties: dict[str, dict[str, str]] = {}
    for line in machine.sh(f"zfs get -Hpr -o name,property,value {PROPERTIES} {pool}").splitlines():
        name, key, value = line.split("\t")
        properties.setdefault(name, {})[key] = value
    return {
        "workload": asdict(load),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "tunables": dict(line.split(":", 1) for line in parameters),
        "datasets": properties,
        "compressratio": float(machine.sh(f"python3 /root/compressed.py /{pool}/mysql/data/sbtest/*.ibd")),
        "zpool": machine.sh(f"zpool list -vHpL {pool}").splitlines(),
        "samples": samples,
    }


def _cut(whole: Path, path: Path, context: dict[str, Any]) -> None:
    """Cut a trace to the time between the first sample and the last, which then is its time from 0 on."""
    header = read_header(whole)
    if not header.complete or header.drops != 0 or header.started is None:
        raise ZmysqlError(f"the recording is void: complete {header.complete}, {header.drops} records lost")
    began_ns = int(datetime.fromisoformat(header.started).timestamp()) * 1_000_000_000
    second_ns = 1_000_000_000  # what the header's start leaves open; nothing was read then
    from_ns, to_ns = (context["samples"][at]["since_1970_ns"] - began_ns for at in (0, -1))
    with gzip.open(whole, "rt") as lines, Writer(path, header, overwrite=True) as writer:
        for line in lines:
            time_ns, _, rest = line.partition(" ")
            if time_ns != "#" and from_ns - second_ns <= int(time_ns) <= to_ns:
                writer.write(f"{max(int(time_ns) - from_ns, 0)} {rest}".encode())
        writer.close(replace(header, duration_ns=to_ns - from_ns, records=None))

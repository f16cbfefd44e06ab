"""The bpftrace twin of blkaccess.d, beside it on the same reads and writes: the same records, of the same classes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from traced_reads import (
    DIRECT,
    POOL,
    PREFETCH,
    READS,
    SCANNED,
    SCANNER,
    WRITES,
    Workload,
    records_in,
    sh,
    trace,
    workload,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Host

SCRIPTS = Path(__file__).parents[2] / "dscripts"
RATE = 5
TWIN = "bpftrace -q /tmp/blkaccess.bt {pid} 300"


@pytest.fixture(scope="module")
def records(guest: Host) -> Iterator[Workload]:
    with workload(guest) as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def _scripts(guest: Host) -> None:
    for suffix in ("d", "bt"):
        guest.run(("tee", f"/tmp/blkaccess.{suffix}"), stdin=(SCRIPTS / f"blkaccess.{suffix}").read_text())


def test_the_twin_prints_each_record_of_each_class_as_often_as_dtrace_does(guest: Host, records: Workload) -> None:
    out = trace(
        guest,
        {
            "dtrace": "dtrace -s /tmp/blkaccess.d {pid} 300 0 1 > {out}",
            "twin": f"{TWIN} 0 1 > {{out}}",
            "sampled": f"{TWIN} {RATE} > {{out}}",
        },
    )
    everything = records.expected(1, READS, DIRECT, WRITES)
    assert records_in(out["dtrace"]) == everything
    assert records_in(out["twin"]) == everything
    assert records_in(out["sampled"]) == records.expected(RATE)
    began, sampling, columns = out["sampled"].splitlines()[:3]
    assert began.startswith("# began ")
    assert sampling == f"# sampling 1/{RATE}"
    assert columns == out["dtrace"].splitlines()[2]
    assert out["twin"].rstrip().endswith(" exited")  # bpftrace ends with empty lines


def test_what_the_prefetcher_asked_for_is_what_the_arc_counted(guest: Host, records: Workload) -> None:
    sh(
        guest,
        f"dd if=/dev/urandom of=/{POOL}/scanned bs=16K count={SCANNED} status=none; "
        f"zpool export {POOL}; zpool import -d /dev/shm {POOL}; echo 0 > {PREFETCH}",
    )
    number = int(sh(guest, f"stat -c %i /{POOL}/scanned"))
    before = _prefetches(guest)
    out = trace(
        guest,
        {"dtrace": "dtrace -s /tmp/blkaccess.d {pid} 300 > {out}", "twin": f"{TWIN} > {{out}}"},
        SCANNER,
    )
    counted = _prefetches(guest) - before
    found = records_in(out["dtrace"])
    asked = {blkid for _, _, blkid, kind in found if kind == "prefetch"}
    assert found.keys() >= {(records.objset, number, blkid, "prefetch") for blkid in asked}
    assert sum(count for (*_, kind), count in found.items() if kind == "prefetch") == len(asked)
    print(f"prefetched by arcstats {counted}, by blkaccess {len(asked)}, of {SCANNED} records")
    assert abs(len(asked) - counted) <= 0.01 * counted
    assert counted > 0.9 * SCANNED
    read = Counter(blkid for (_, _, blkid, kind), count in found.items() for _ in range(count) if kind != "prefetch")
    assert read == Counter(range(SCANNED))
    assert records_in(out["twin"]) == found


def _prefetches(guest: Host) -> int:
    names = "|".join(f"prefetch_data_{how}" for how in ("hits", "iohits", "misses"))
    return sum(map(int, sh(guest, f"awk '/^({names}) / {{ print $3 }}' /proc/spl/kstat/zfs/arcstats").split()))

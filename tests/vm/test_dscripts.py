"""The D scripts on a real pool: all keep exactly the records that the hash says, and tell the same.

Those for FreeBSD and illumos run here too. They compile with the probes of their own systems, which are absent, and get
Linux's for the same places in the source beside them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from traced_reads import READS, WRITES, Workload, records_in, sh, trace, workload

from zmysql.trace.format import read_header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Host

pytestmark = pytest.mark.usefixtures("installed")
SCRIPTS = Path(__file__).parents[2] / "dscripts"
RATE = 5
# `sdt:zfs::arc-hit` is on Linux the function that the same line of the source calls.
SDT = re.compile(r"^sdt:zfs::(\w+)-(\w+)$", re.MULTILINE)
# illumos' prefetch of a record is a function of OpenZFS by another name.
PREFETCH = re.compile(r"^fbt:zfs:dbuf_prefetch:(\w+)$", re.MULTILINE)
# zfs_read() is given a vnode on illumos, whose v_data is the znode, and the znode on Linux. An array's value is where
# it is, so that v_data is the znode here too.
STUBS = {"freebsd": "", "illumos": "typedef struct vnode { char v_data[8]; } vnode_t;\n"}
OTHER_PROBES = {"freebsd": 3, "illumos": 5}


@pytest.fixture(scope="module")
def records(guest: Host) -> Iterator[Workload]:
    with workload(guest) as made:
        yield made


def text_for_linux(system: str) -> str:
    """Give a script that runs here; its first line, of the shell, can't stand behind others."""
    text = (SCRIPTS / f"blkaccess.{system}.d").read_text().partition("\n")[2]
    text, probes = SDT.subn(r"\g<0>,\nfbt:zfs:trace_zfs_\1__\2:entry", text)
    text, prefetches = PREFETCH.subn(r"\g<0>,\nfbt:zfs:dbuf_prefetch_impl:\1", text)
    assert probes + prefetches == OTHER_PROBES[system]
    return STUBS[system] + text


def test_all_scripts_keep_the_records_that_the_hash_says_and_tell_the_same(
    guest: Host, records: Workload, tmp_path: Path
) -> None:
    for system in STUBS:
        guest.run(("tee", f"/tmp/{system}.d"), stdin=text_for_linux(system))
    record = f"zmysql trace record --sample 1/{RATE} --pid {{pid}} --overwrite -o /tmp/linux.trace"
    out = trace(
        guest,
        {
            "linux": f"{record} > {{out}} 2>&1",
            "freebsd": f"dtrace -Z -s /tmp/freebsd.d {{pid}} 300 {RATE} > {{out}}",
            "illumos": "dtrace -Z -s /tmp/illumos.d {pid} 0 0 1 > {out}",
        },
    )
    guest.get("/tmp/linux.trace", tmp_path / "linux.trace")
    header = read_header(tmp_path / "linux.trace")
    assert (header.sampling, header.drops, header.ended) == (f"1/{RATE}", 0, "mysqld ended")
    sampled = records.expected(RATE)
    assert 0.5 < sampled.total() * RATE / records.expected().total() < 1.5
    assert records_in(sh(guest, "zcat /tmp/linux.trace")) == sampled
    assert records_in(out["freebsd"]) == sampled
    # illumos has no Direct I/O.
    assert records_in(out["illumos"]) == records.expected(1, READS, WRITES)
    assert f"\n# sampling 1/{RATE}\n" in out["freebsd"]

"""A capture, simulated with the parameters of the machine that it came from."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from accuracy.comparison import Compared
from accuracy.measured import Ratios
from zmysql.locality.parameters import Parameters, with_values
from zmysql.locality.profile import profile
from zmysql.locality.reads import load
from zmysql.locality.simulation import Case, simulate
from zmysql.trace.format import read_header

if TYPE_CHECKING:
    from accuracy.measured import Capture


# In these 0 stands for a default that the module works out.
DEFAULT_IF_ZERO = {"zfs_arc_min_prefetch_ms", "zfs_multilist_num_sublists"}


def parameters(capture: Capture) -> Parameters:
    """Give the machine's parameters: the module's tunables as they were, and what the data compress to."""
    known = {field.name: type(getattr(Parameters(), field.name)) for field in fields(Parameters)}
    tunables = {
        name: known[name](int(value))
        for name, value in capture.tunables.items()
        if name in known and value.lstrip("-").isdigit()
    }
    more: dict[str, Any] = {
        "compressratio": max(1.0, capture.compressratio),
        "sector_bytes": 512,  # the ratio is of sizes in whole sectors: they were rounded up already
        "arc_other_bytes": other_bytes(capture),
        # What earlier runs left.
        **{f"arc_{share}": capture.samples[0]["arcstats"][share] / (1 << 32) for share in ("meta", "pd", "pm")},
    }
    return with_values(Parameters(), tunables | more)


def other_bytes(capture: Capture) -> int:
    """Give what the ARC held besides the tables, which no trace shows: dnodes, and metadata of the rest of the pool.

    It is what isn't data or headers, less what came to the frequent metadata in the run: the tables' indirect blocks,
    which the simulation has, too.
    """
    first, last = (capture.samples[at]["arcstats"] for at in (0, -1))
    counted = ("data_size", "hdr_size", "dbuf_size", "l2_hdr_size")
    indirect_bytes = max(0, last["mfu_metadata"] - first["mfu_metadata"])
    other: int = last["size"] - sum(last[name] for name in counted) - indirect_bytes
    return max(0, other)


def compare(capture: Capture) -> Compared:
    """Replay a capture's trace, and put what comes out beside what was."""
    header = read_header(capture.trace)
    reads = load(capture.trace, header)
    last: dict[str, int] = capture.samples[-1]["arcstats"]
    case = Case(None, last["c"], capture.l2arc_device_bytes)
    (outcome,) = simulate(reads, header, [case], parameters(capture))
    simulated = Ratios(outcome.arc_hit_ratio, outcome.l2arc_hit_ratio if case.l2arc_bytes else None)
    traced = capture.traced(profile(reads, header, ()).classes)
    return Compared(capture, outcome.references, capture.counted(), traced, simulated)

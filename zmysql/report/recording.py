"""What a trace's header says of its recording, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zmysql.trace.format import Header


def recording(header: Header) -> dict[str, object]:
    """Give the machine and the circumstances, None where they aren't known; `zmysql locality report -j` has it."""
    return {
        "host": header.host,
        "os": header.os,
        "zfs": header.zfs,
        "mysql": header.mysql,
        "started": header.started,
        "duration_ns": header.duration_ns,
        "ended": header.ended,
        "imported": header.imported,
        "datasets": [asdict(dataset) for _, dataset in sorted(header.datasets.items())],
    }

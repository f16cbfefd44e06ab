"""Where the report comes from: the machine, the recording, and what was assumed."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from zmysql.report.page import words
from zmysql.units import format_size

if TYPE_CHECKING:
    from zmysql.report.page.figure import Report

GLOSSARY = (
    ("record", "what ZFS reads, checks and caches at once, up to a dataset's recordsize"),
    ("first read", "a record's first in the trace: it misses in any cache that starts empty"),
    (
        "reuse distance",
        "the distinct bytes read from one read of a record to its next: what a cache must hold to serve it",
    ),
    ("working set", "the distinct bytes that are read in some time"),
    ("ARC, L2ARC", "ZFS's cache in memory, and its second level on an SSD"),
)


def about(report: Report) -> list[str]:
    """Give what names the report: the file, the machine, the day, and how much it saw."""
    recording = report.get("recording") or {}
    day = (recording.get("started") or "").partition("T")[0]
    words_ = [PurePath(report["file"]).name, recording.get("host"), day, words.time(report["span_ns"])]
    reads = (report.get("sample") or {"records": report["references"]})["records"]
    return [word for word in (*words_, f"{words.count(reads)} reads") if word]


def made(report: Report) -> list[tuple[str, str]]:
    """Give what one must know to believe the figures, or to make them again."""
    recording = report.get("recording") or {}
    datasets = (f"{one['name']} ({format_size(one['recordsize'])} records)" for one in recording.get("datasets") or ())
    drops = report.get("drops")
    told = {
        "trace": report["file"],
        "machine": recording.get("host"),
        "system": recording.get("os"),
        "ZFS": recording.get("zfs"),
        "server": recording.get("mysql"),
        "imported from": recording.get("imported"),
        "recorded": _when(report),
        "datasets": ", ".join(datasets),
        "reads": f"{words.count(report['references'])} of {words.count(report['distinct_blocks'])} distinct records,"
        f" {words.size(report['distinct_bytes'])}",
        "dropped": "unknown" if drops is None else f"{words.count(drops)} records",
        "sampling": _sampling(report),
        "assumed": ", ".join(f"the size of the {name}" for name in report.get("assumed") or ()),
        "disk to SSD": f"{words.times(report['latency_ratio'])} the latency" if report.get("latency_ratio") else None,
        **_devices(report),
        "goal": report.get("goal"),
        "database": words.size(report["db_bytes"]) if report.get("db_bytes") else None,
    }
    return [(term, said) for term, said in told.items() if said]


def _sampling(report: Report) -> str:
    kept, sample = report.get("sampling"), report.get("sample") or {}
    if kept == "1/1":
        return "all blocks"
    of_trace = f", {sample['kept']} of those in the trace" if sample.get("kept", kept) != kept else ""
    return f"{kept} of the blocks{of_trace}"


def _devices(report: Report) -> dict[str, str]:
    """Give the devices that the candidates were reckoned with."""
    devices = report.get("devices") or {}
    disks = words.count(devices.get("disks") or 1)
    found = (("disks", f"{disks} of ", devices.get("disk")), ("SSD", "", devices.get("ssd")))
    return {
        term: f"{number}{device['name']}, {device['description']}; a read takes {words.time(device['latency_mean_ns'])}"
        for term, number, device in found
        if device
    }


def formula(report: Report) -> list[str]:
    """Give h, r and x of Suresh's formula beside what was simulated, and why the two differ."""
    found = report.get("formula")
    if not found:
        return []
    said = (
        f"With h = {words.percent(found['h'])} of the reads that miss the ARC hitting the L2ARC, and a disk that is"
        f" r = {found['r']:.3g} times slower than the SSD, x = r / (r(1 - h) + h) makes these reads"
        f" {found['x']:.2f} times as fast"
    )
    simulated = found.get("simulated_x")
    why = found.get("why") or []
    reasons = [why] if isinstance(why, str) else list(why)
    return [f"{said}." if simulated is None else f"{said}; the simulation says {simulated:.2f} times.", *reasons]


def costs(report: Report) -> str | None:
    """Say what the costs are of, where there are any."""
    if not any(one.get("cost") is not None for one in report.get("candidates") or ()):
        return None
    return "Cost is what would have to be bought, in dollars of the catalogue, or at the prices of --prices."


def _when(report: Report) -> str:
    recording = report.get("recording") or {}
    lasted = words.time(recording.get("duration_ns") or report["span_ns"])
    since = f"from {recording['started']}, " if recording.get("started") else ""
    ended = recording.get("ended")
    return f"{since}{lasted}" + (f", ended: {ended}" if ended not in {None, "duration"} else "")

"""The locality report as JSON; zmysql/report/locality.schema.json says what it may be."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from zmysql.report.output import output_version
from zmysql.report.recording import recording

if TYPE_CHECKING:
    from zmysql.locality.assessment import Assessment
    from zmysql.locality.candidates import Candidate
    from zmysql.locality.devices import DeviceModel
    from zmysql.locality.share import Share
    from zmysql.locality.simulation import Outcome


def as_json(found: Assessment) -> dict[str, object]:
    """Give the report as JSON's values: sizes in bytes, times in ns, ratios from 0 to 1, costs in dollars."""
    return {
        "output_version": output_version("locality report"),
        "file": str(found.path),
        "recording": recording(found.header),
        **_trace(found),
        **_l2arc(found),
        **_analyses(found),
        "goal": str(found.question.goal),
        "compressratio": found.question.compressratio,
        "db_bytes": found.question.wishes.db_bytes,
        "devices": _devices(found),
        "candidates": [_candidate(one, found) for one in found.candidates],
        "formula": {**asdict(found.formula), "why": list(found.formula.why)},
        "break_even": [asdict(one) for one in found.break_evens],
        "confidence": {"level": str(found.confidence.level), "reasons": list(found.confidence.reasons)},
        "verdict": {"choice": str(found.verdict.choice), "reasons": list(found.verdict.reasons)},
        "warnings": list(found.warnings),
    }


def _trace(found: Assessment) -> dict[str, object]:
    profile, header = found.profile, found.header
    return {
        "complete": header.complete,
        "sampling": header.sampling,
        "sample": _sample(found.analysis.share),
        "drops": header.drops,
        "span_ns": profile.span_ns,
        "references": profile.references,
        "distinct_blocks": profile.distinct_blocks,
        "distinct_bytes": profile.distinct_bytes,
        "blocks_read_once": profile.blocks_read_once,
        "blocks_read_more_than_once": profile.blocks_read_more_than_once,
        "blocks_read_more_than_twice": profile.blocks_read_more_than_twice,
        "first_reads": profile.first_reads,
        "out_of_order": profile.out_of_order,
        "classes": dict(profile.classes),
        "mrc": _curve(profile.mrc),
        "flat_bytes": profile.flat_bytes,
        "reuse_distances": [
            {"from_bytes": start, "to_bytes": end, "references": references}
            for start, end, references in profile.reuse_distances
        ],
        "reads_per_block": [{"times": times, "blocks": blocks} for times, blocks in profile.reads_per_block],
        "files": [
            {
                "objset": file.objset,
                "object": file.object,
                "path": file.path,
                "references": file.references,
                "distinct_blocks": file.distinct_blocks,
            }
            for file in profile.files
        ],
    }


def _sample(share: Share | None) -> dict[str, object] | None:
    if share is None:
        return None
    return {
        "kept": f"1/{share.one_in}",
        "records": share.whole.references,
        "kept_records": share.references,
        "distinct_blocks": share.distinct_blocks,
        "error": share.error,
    }


def _l2arc(found: Assessment) -> dict[str, object]:
    """Give what an LRU curve says of the ARC and L2ARC that are asked about, and what was seen."""
    evidence = found.evidence
    return {
        "arc_bytes": found.caches.arc_bytes,
        "l2arc_bytes": found.caches.l2arc_bytes,
        "assumed": list(found.caches.assumed),
        "arc_hit_ratio": evidence.arc_hit_ratio,
        "arc_and_l2arc_hit_ratio": evidence.both_hit_ratio,
        "l2arc_hit_ratio": evidence.l2arc_hit_ratio,
        "l2arc_hit_ratio_at_most": evidence.l2arc_hit_ratio_at_most,
        "l2arc_header_bytes": evidence.header_bytes,
        "latency_ratio": evidence.latency_ratio,
        "arc_misses_seen": evidence.arc_misses_seen,
        "speedup_seen": evidence.speedup_seen,
        "l2arc_hit_ratio_seen": found.l2arc_hit_ratio_seen,
        "speedup": evidence.speedup,
        "speedup_at_most": evidence.speedup_at_most,
        "l2arc_pays_from_bytes": found.pays_from_bytes,
    }


def _analyses(found: Assessment) -> dict[str, object]:
    analysis = found.analysis
    windows = analysis.working_set
    return {
        "working_set": {"window_ns": windows.window_ns, "windows": [asdict(one) for one in windows.windows]},
        "inter_reference": [
            {"from_ns": start, "to_ns": end, "references": references}
            for start, end, references in windows.inter_reference
        ],
        "objects": [
            {
                "name": one.name,
                "path": one.path,
                "objset": one.objset,
                "object": one.object,
                "references": one.references,
                "misses": one.misses,
                "distinct_blocks": one.distinct_blocks,
                "distinct_bytes": one.distinct_bytes,
                "mrc": _curve(one.mrc),
            }
            for one in analysis.objects.objects
        ],
        "recordsizes": [asdict(one) for one in analysis.recordsizes.known],
        "simulated_share": analysis.simulated_share,
        "simulations": [_outcome(one) for one in analysis.outcomes],
    }


def _outcome(found: Outcome) -> dict[str, object]:
    misses = [
        {"objset": objset, "object": number, "level": level, "misses": count}
        for (objset, number, level), count in found.object_misses.items()
    ]
    return {**asdict(found), "object_misses": misses}


def _curve(points: tuple[tuple[int, float], ...]) -> list[dict[str, float]]:
    return [{"cache_bytes": size, "miss_ratio": miss_ratio} for size, miss_ratio in points]


def _devices(found: Assessment) -> dict[str, object]:
    rig = found.question.rig
    return {
        "disk": _device(rig.disk),
        "ssd": _device(rig.ssd),
        "disks": rig.disks,
        "readers": rig.readers,
        "memory": {"price_per_gib": rig.memory.price_per_gib, "module_bytes": rig.memory.module_bytes},
    }


def _device(device: DeviceModel) -> dict[str, object]:
    return {
        "name": device.name,
        "description": device.description,
        "class": str(device.media),
        "latency_mean_ns": device.latency.mean_ns,
        "latency_p99_ns": device.latency.p99_ns,
        "iops": device.iops,
        "bandwidth_bytes_per_second": device.bandwidth_bytes_per_second,
        "capacity_bytes": device.capacity_bytes,
        "price_per_gb": device.price_per_gb,
        "drive_writes_per_day": device.drive_writes_per_day,
        "warranty_years": device.warranty_years,
        "sources": {key: {"source": source.text, "year": source.year} for key, source in device.sources.items()},
    }


def _candidate(one: Candidate, found: Assessment) -> dict[str, object]:
    base = found.candidates[0]
    return {
        "choice": str(one.choice),
        "name": one.option.name,
        "chosen": one is found.verdict.candidate,
        "arc_bytes": one.case.arc_bytes,
        "l2arc_bytes": one.case.l2arc_bytes,
        "recordsize": one.case.recordsize,
        "ssd_bytes": one.option.ssd_bytes,
        "tables": [{"objset": table.objset, "object": table.object, "name": table.name} for table in one.option.tables],
        "simulated": one.served.simulated,
        "arc_hit_ratio": one.arc_hit_ratio,
        "l2arc_hit_ratio": one.l2arc_hit_ratio,
        "mean_latency_ns": one.mean_latency_ns,
        "p99_latency_ns": one.p99_latency_ns,
        "warm_latency_ns": one.warm_latency_ns,
        "reads_per_second": one.reads_per_second,
        "times_as_fast": base.mean_latency_ns / one.mean_latency_ns,
        "warmup_seconds": one.served.warmup_seconds,
        "ssd_written_bytes_per_day": one.ssd_written_bytes_per_day,
        "ssd_life_years": one.ssd_life_years,
        "header_bytes": one.served.header_bytes,
        "cost": one.cost,
    }

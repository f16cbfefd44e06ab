"""Reports as `zmysql locality report -j` gives them: with every section, and with words that mean harm."""

from __future__ import annotations

from typing import Any

GIB = 1 << 30
EVIL = (
    "</script><script>window.harmed = 1</script>",
    '"><img src=https://evil.invalid/x.png onerror="window.harmed = 2">',
    "![x](https://evil.invalid/y.png)",
    "{{ 7 * 7 }}${7 * 7}javascript:window.harmed=3//",
    "\x1b[2J\u202e\ud800\u2028<!--",
)


def _curve(working_set_bytes: int, floor: float) -> list[dict[str, float]]:
    """Give a curve that falls to its floor at the size of the working set, eight points a doubling."""
    sizes = [(8 + eighth) << power for power in range(17, 34) for eighth in range(8)]
    points = [(size, max(floor, 1 - (1 - floor) * size / working_set_bytes)) for size in sizes]
    return [{"cache_bytes": 0, "miss_ratio": 1.0}, *({"cache_bytes": s, "miss_ratio": r} for s, r in points)]


def _candidate(choice: str, name: str, l2arc_bytes: int, mean_ns: float, cost: float) -> dict[str, Any]:
    return {
        "choice": choice,
        "name": name,
        "arc_bytes": 2 * GIB,
        "l2arc_bytes": l2arc_bytes,
        "recordsize": None,
        "arc_hit_ratio": 0.5,
        "l2arc_hit_ratio": 0.8 if l2arc_bytes else 0.0,
        "mean_latency_ns": mean_ns,
        "p99_latency_ns": 3 * mean_ns,
        "reads_per_second": 4e9 / mean_ns,
        "warmup_seconds": 5400.0 if l2arc_bytes else 0.0,
        "ssd_written_bytes_per_day": 90 * GIB if l2arc_bytes else None,
        "ssd_life_years": 11.2 if l2arc_bytes else None,
        "header_bytes": GIB // 8 if l2arc_bytes else 0,
        "cost": cost,
    }


def full_report(words: tuple[str, ...] = ("sbtest.sbtest1", "sbtest.sbtest2", "sbtest.sbtest3")) -> dict[str, Any]:
    """Give a report with every section; these words stand wherever a trace's own would."""
    word = {number: words[number % len(words)] for number in range(8)}
    return {
        "output_version": {"command": "zmysql locality report", "vers_major": 0, "vers_minor": 1},
        "file": f"/tmp/{word[0]}",
        "recording": {
            "host": word[1],
            "os": word[2],
            "zfs": "2.3.9",
            "mysql": word[3],
            "started": "2026-11-20T08:59:05Z",
            "duration_ns": 60_000_000_000,
            "ended": "duration",
            "imported": None,
            "datasets": [{"name": word[4], "recordsize": 16384}],
        },
        "complete": True,
        "sampling": "1/1",
        "drops": 0,
        "span_ns": 60_000_000_000,
        "references": 1_000_000,
        "distinct_blocks": 200_000,
        "distinct_bytes": 200_000 * 16384,
        "first_reads": 200_000,
        "out_of_order": 0,
        "classes": {"dbuf": 1000, "arc": 499_000, "l2hit": 400_000, "miss": 100_000, "wait": 0, "hole": 0, "-": 0},
        "mrc": _curve(4 * GIB, 0.2),
        "flat_bytes": 4 * GIB,
        "arc_bytes": 2 * GIB,
        "l2arc_bytes": 8 * GIB,
        "assumed": ["L2ARC"],
        "arc_hit_ratio": 0.4,
        "latency_ratio": 35.0,
        "speedup": 4.5,
        "reuse_distances": [
            {
                "from_bytes": (1 << 20 + power) if power else 0,
                "to_bytes": 1 << 21 + power,
                "references": 1000 * (power + 1),
            }
            for power in range(14)
        ],
        "reads_per_block": [
            {"times": 1, "blocks": 60_000},
            {"times": 2, "blocks": 80_000},
            {"times": 13, "blocks": 60_000},
        ],
        "working_set": {
            "window_ns": 1_000_000_000,
            "windows": [
                {
                    "start_ns": second * 1_000_000_000,
                    "references": 16_000 + second,
                    "distinct_bytes": GIB // 4 + (second << 20),
                }
                for second in range(60)
            ],
        },
        "inter_reference": [
            {"from_ns": 0 if power == 0 else 1 << (power + 19), "to_ns": 1 << (power + 20), "references": 1000 * power}
            for power in range(14)
        ],
        "objects": [
            {
                "name": word[number],
                "path": f"/tank/{word[number]}.ibd",
                "objset": 54,
                "object": 128 + number,
                "references": 400_000 >> number,
                "distinct_blocks": 80_000 >> number,
                "distinct_bytes": (80_000 >> number) * 16384,
                "mrc": _curve(2 * GIB >> number, 0.2),
            }
            for number in range(5)
        ],
        "recordsizes": [
            {
                "recordsize": 16384 << power,
                "distinct_records": 200_000 >> power,
                "distinct_bytes": 200_000 * 16384,
                "read_amplification": 0.4 * 1.5**power,
                "miss_ratio": 0.5 - 0.1 * power + 0.025 * power**2,
                "useful_neighbour_ratio": None if power == 0 else 0.7 - 0.1 * power,
            }
            for power in range(7)
        ],
        "simulations": [
            {
                "recordsize": None,
                "arc_bytes": arc_bytes,
                "l2arc_bytes": l2arc_bytes,
                "references": 1_000_000,
                "arc_hits": 400_000,
                "l2arc_hits": 300_000 if l2arc_bytes else 0,
                "misses": 300_000 if l2arc_bytes else 600_000,
            }
            for arc_bytes in (GIB, 2 * GIB)
            for l2arc_bytes in (0, 8 * GIB)
        ],
        "candidates": [
            _candidate("leave-it", "as it is", 0, 2.7e6, 0.0),
            _candidate("l2arc", "an L2ARC of 8G", 8 * GIB, 263e3, 42.0),
            _candidate("special-vdev", f"{word[0]} on a special vdev", 0, 900e3, 120.0),
            _candidate("full-ssd", "all 40G on SSD", 0, 77e3, 690.0),
        ],
        "formula": {"h": 0.8, "r": 35.0, "x": 4.5, "simulated_x": 4.1, "why": ["The formula fills no L2ARC."]},
        "break_even": [
            {
                "what": "l2arc-size",
                "value": 3e9,
                "unit": "bytes",
                "sentence": f"An L2ARC pays from 3G on, for {word[1]}.",
            }
        ],
        "confidence": {"level": "medium", "reasons": ["First reads are 20 % of the reads."]},
        "verdict": {"choice": "l2arc", "reasons": ["An ARC of 2G serves 40 % of the reads.", f"{word[2]} is hot."]},
        "warnings": [f"{word[3]} was dropped."],
    }


def hostile_report() -> dict[str, Any]:
    """Give a report whose words try to leave the page's text, its scripts, its charts and its encoding."""
    return full_report(EVIL)

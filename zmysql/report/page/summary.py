"""What stands first: the verdict in a headline, three figures, and the candidates side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.report.page import words
from zmysql.report.page.comparison import as_it_is, chosen, comparison, money, shortlist, years

if TYPE_CHECKING:
    from zmysql.report.page.figure import Report, Row, Table

_HEADLINES = {
    "l2arc": ("An L2ARC pays", "good"),
    "full-ssd": ("Put the data on SSD", "good"),
    "special-vdev": ("Put the hot tables on a special vdev", "good"),
    "more-ram": ("Add memory", "good"),
    "leave-it": ("Leave it as it is", "keep"),
    "record-longer": ("Record longer: this trace can't tell", "unsure"),
}
_MATTERS = 1.05  # times as fast; less is nothing to put in large letters


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A large figure, what it is, and what it is to be compared with."""

    value: str
    label: str
    beside: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The first screen: `tone` is good, keep or unsure; `chosen` is the row of the table that the verdict is for."""

    headline: str
    tone: str
    gain: str
    figures: tuple[KeyFigure, ...]
    table: Table | None
    chosen: int | None
    left_out: int


def summarise(report: Report) -> Summary:
    """Say what to do, by how much it helps, and what else there was to choose from."""
    headline, tone = _HEADLINES.get(report["verdict"]["choice"], (report["verdict"]["choice"], "unsure"))
    gain, figures = _gains(report)
    best, shown = chosen(report), shortlist(report)
    return Summary(
        headline=headline,
        tone=tone,
        gain=gain,
        figures=figures,
        table=comparison(shown) if shown else None,
        chosen=next((row for row, one in enumerate(shown) if one is best), None),
        left_out=len(report.get("candidates") or ()) - len(shown),
    )


def _gains(report: Report) -> tuple[str, tuple[KeyFigure, ...]]:
    """Give what the chosen candidate brings: as reckoned, or else as it was seen while recording."""
    now, best = as_it_is(report), chosen(report)
    if now is not None and best is not None and _times_as_fast(now, best) >= _MATTERS:
        before, after = words.time(now["mean_latency_ns"]), words.time(best["mean_latency_ns"])
        faster = words.times(_times_as_fast(now, best))
        return f"{best['name']}: {after} a read on average instead of {before}, {faster} as fast.", _reckoned(now, best)
    if report["verdict"]["choice"] == "l2arc" and (report.get("speedup_seen") or 1) >= _MATTERS:
        faster = words.times(report["speedup_seen"])
        return f"As was seen while recording: it makes what misses the ARC {faster} as fast.", _seen(report)
    return "", _as_it_is(now) if now is not None and now.get("mean_latency_ns") else _of_trace(report)


def _times_as_fast(now: Row, best: Row) -> float:
    before, after = now.get("mean_latency_ns"), best.get("mean_latency_ns")
    return before / after if before and after else 0.0


def _reckoned(now: Row, best: Row) -> tuple[KeyFigure, ...]:
    latency = words.time(best["mean_latency_ns"])
    found = [KeyFigure(latency, "a read, on average", f"now {words.time(now['mean_latency_ns'])}")]
    if _hit_ratio(best) != _hit_ratio(now):
        served, was = words.percent(_hit_ratio(best)), words.percent(_hit_ratio(now))
        found.append(KeyFigure(served, "of the reads served by a cache", f"now {was}"))
    elif best.get("reads_per_second") and now.get("reads_per_second"):
        was = words.count(now["reads_per_second"])
        found.append(KeyFigure(words.count(best["reads_per_second"]), "reads a second", f"now {was}"))
    if best.get("cost") is not None:
        life = best.get("ssd_life_years")
        beside = "at the prices assumed" if life is None else f"the SSD lasts {years(life)}"
        found.append(KeyFigure(money(best["cost"]), "to pay", beside))
    return tuple(found)


def _hit_ratio(candidate: Row) -> float:
    """Give the share of all reads that either cache serves; the L2ARC's ratio is of what misses the ARC."""
    arc = candidate.get("arc_hit_ratio") or 0.0
    return float(arc + (1 - arc) * (candidate.get("l2arc_hit_ratio") or 0.0))


def _seen(report: Report) -> tuple[KeyFigure, ...]:
    """Give what the L2ARC that is there did."""
    missed, hit = report["arc_misses_seen"], report["l2arc_hit_ratio_seen"]
    reads = report["references"] - report["classes"].get("hole", 0)
    slower = f"disks {words.times(report['latency_ratio'])} slower than the SSD"
    return (
        KeyFigure(words.percent(hit), "of the ARC's misses served by the L2ARC", "seen while recording"),
        KeyFigure(words.times(report["speedup_seen"]), "as fast, what misses the ARC", slower),
        KeyFigure(words.count(missed), "reads missed the ARC", f"of {words.count(reads)}"),
    )


def _as_it_is(now: Row) -> tuple[KeyFigure, ...]:
    """Give what is had without buying anything."""
    how = "simulated" if now.get("simulated") else "as an LRU cache"
    found = [KeyFigure(words.time(now["mean_latency_ns"]), "a read, on average", "as it is")]
    if now.get("arc_hit_ratio") is not None:
        of = f"{words.size(now['arc_bytes'])}, {how}"
        found.insert(0, KeyFigure(words.percent(now["arc_hit_ratio"]), "of the reads hit the ARC", of))
    if now.get("reads_per_second"):
        found.append(KeyFigure(words.count(now["reads_per_second"]), "reads a second", "as it is"))
    return tuple(found)


def _of_trace(report: Report) -> tuple[KeyFigure, ...]:
    """Give what there is to say where no candidates were weighed."""
    first, references = report["first_reads"], report["references"]
    beside = f"{words.count(first)} of {words.count(references)}"
    found = [KeyFigure(words.percent(first / references), "of the reads are first reads", beside)]
    if report.get("arc_hit_ratio") is not None:
        arc = words.size(report["arc_bytes"])
        hits = words.percent(report["arc_hit_ratio"])
        found.insert(0, KeyFigure(hits, "of the reads hit an ARC", f"of {arc}, as LRU"))
    if report.get("speedup") is not None:
        slower = f"disks {words.times(report['latency_ratio'])} slower than the SSD"
        found.append(KeyFigure(words.times(report["speedup"]), "as fast with L2ARC, of what misses the ARC", slower))
    return tuple(found)

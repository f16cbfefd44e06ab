"""What stands first: the verdict in a headline, three figures, and the candidates side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.report.page import words
from zmysql.report.page.figure import Report, Row, Table
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADLINES = {
    "l2arc": ("An L2ARC pays", "good"),
    "full-ssd": ("Put the data on SSD", "good"),
    "special-vdev": ("Put the hot tables on a special vdev", "good"),
    "more-ram": ("Add memory", "good"),
    "leave-it": ("Leave it as it is", "keep"),
    "record-longer": ("Record longer: this trace can't tell", "unsure"),
}


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


def summarise(report: Report) -> Summary:
    """Say what to do, by how much it helps, and what else there was to choose from."""
    choice = report["verdict"]["choice"]
    headline, tone = _HEADLINES.get(choice, (choice, "unsure"))
    candidates = list(report.get("candidates") or ())
    best = chosen(report)
    now = next((one for one in candidates if one.get("choice") == "leave-it"), None)  # the first leaves all as it is
    compared = best is not None and now is not None and best is not now
    return Summary(
        headline=headline,
        tone=tone,
        gain=_gain(now, best) if compared and now and best else "",
        figures=_of_candidates(now, best) if compared and now and best else _of_trace(report),
        table=comparison(candidates) if candidates else None,
        chosen=candidates.index(best) if best else None,
    )


def comparison(candidates: list[Row]) -> Table:
    """Give the candidates as a table, without the columns that tell them apart in nothing."""
    columns: dict[str, Callable[[Row], str]] = {
        "candidate": lambda one: str(one["name"]),
        "cost": _or_none("cost", money),
        "mean read": _or_none("mean_latency_ns", words.time),
        "99th percentile": _or_none("p99_latency_ns", words.time),
        "reads/s": _or_none("reads_per_second", words.count),
        "hits in memory": _or_none("arc_hit_ratio", words.percent),
        "hits in L2ARC": _or_none("l2arc_hit_ratio", words.percent),
        "headers in ARC": _or_none("header_bytes", lambda taken: words.size(taken) if taken else words.NONE),
        "warm after": _or_none("warmup_seconds", lambda seconds: words.time(seconds * 1e9) if seconds else words.NONE),
        "SSD lasts": _or_none("ssd_life_years", _years),
        "recordsize": _or_none("recordsize", format_size),
    }
    told = {name: [say(one) for one in candidates] for name, say in columns.items()}
    kept = {name: column for name, column in told.items() if set(column) != {words.NONE}}
    if len(set(told["recordsize"])) == 1:
        kept.pop("recordsize", None)
    return Table(tuple(kept), tuple(zip(*kept.values(), strict=True)))


def _or_none(key: str, say: Callable[[float], str]) -> Callable[[Row], str]:
    return lambda one: words.NONE if one.get(key) is None else say(one[key])


def money(cost: float) -> str:
    """Give a cost in the currency of the prices, which are in dollars unless somebody gave others."""
    return f"${words.count(cost)}"


def _years(years: float) -> str:
    return "> 30 years" if years > 30 else f"{years:.1f} years"  # noqa: PLR2004 - longer than anyone keeps one


def chosen(report: Report) -> Row | None:
    """Give the candidate that the verdict names, else the first of its choice."""
    verdict, candidates = report["verdict"], report.get("candidates") or ()
    named = (one for one in candidates if one["name"] == verdict.get("candidate"))
    alike = (one for one in candidates if one.get("choice") == verdict["choice"])
    return next(named, None) or next(alike, None)


def _hit_ratio(candidate: Row) -> float:
    """Give the share of all reads that either cache serves; the L2ARC's ratio is of what misses the ARC."""
    arc = candidate.get("arc_hit_ratio") or 0.0
    return float(arc + (1 - arc) * (candidate.get("l2arc_hit_ratio") or 0.0))


def _gain(now: Row, chosen: Row) -> str:
    before, after = now.get("mean_latency_ns"), chosen.get("mean_latency_ns")
    if not before or not after:
        return str(chosen["name"])
    faster = words.times(before / after)
    return f"{chosen['name']}: {words.time(after)} a read on average instead of {words.time(before)}, {faster} as fast."


def _of_candidates(now: Row, chosen: Row) -> tuple[KeyFigure, ...]:
    found = []
    if now.get("mean_latency_ns") and chosen.get("mean_latency_ns"):
        was = words.time(now["mean_latency_ns"])
        found.append(KeyFigure(words.time(chosen["mean_latency_ns"]), "a read, on average", f"now {was}"))
    served = _hit_ratio(chosen)
    if served != _hit_ratio(now):
        was = words.percent(_hit_ratio(now))
        found.append(KeyFigure(words.percent(served), "of the reads served by a cache", f"now {was}"))
    elif chosen.get("reads_per_second") and now.get("reads_per_second"):
        was = words.count(now["reads_per_second"])
        found.append(KeyFigure(words.count(chosen["reads_per_second"]), "reads a second", f"now {was}"))
    if chosen.get("cost") is not None:
        life = chosen.get("ssd_life_years")
        beside = "at the prices assumed" if life is None else f"the SSD lasts {_years(life)}"
        found.append(KeyFigure(money(chosen["cost"]), "to pay", beside))
    return tuple(found)


def _of_trace(report: Report) -> tuple[KeyFigure, ...]:
    """Give what there is to say where nothing is to be bought: of the caches that there are."""
    found = [
        KeyFigure(
            words.percent(report["first_reads"] / report["references"]),
            "of the reads are first reads",
            f"{words.count(report['first_reads'])} of {words.count(report['references'])}",
        )
    ]
    if report.get("arc_hit_ratio") is not None:
        arc = words.size(report["arc_bytes"])
        found.insert(
            0, KeyFigure(words.percent(report["arc_hit_ratio"]), "of the reads hit an ARC", f"of {arc}, as LRU")
        )
    if report.get("speedup") is not None:
        r = f"disks {words.times(report['latency_ratio'])} slower than the SSD"
        found.append(KeyFigure(words.times(report["speedup"]), "as fast with L2ARC, of what misses the ARC", r))
    return tuple(found)

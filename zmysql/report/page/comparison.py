"""The candidates: which is chosen, which are worth a look, and all their figures as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.report.page import words
from zmysql.report.page.figure import Report, Row, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MANY_YEARS = 30  # longer than anyone keeps an SSD


def as_it_is(report: Report) -> Row | None:
    """Give the candidate that changes nothing, with which the others are compared: the first."""
    found = report.get("candidates") or ()
    return next((one for one in found if one["choice"] == "leave-it"), None)


def chosen(report: Report) -> Row | None:
    """Give the candidate of the verdict: the one that is marked, else the first of its choice."""
    found = report.get("candidates") or ()
    marked = next((one for one in found if one.get("chosen")), None)
    return marked or next((one for one in found if one["choice"] == report["verdict"]["choice"]), None)


def shortlist(report: Report) -> list[Row]:
    """Give the candidates to be shown first, in their order: as it is, the chosen, and the best of each other kind.

    A kind is a choice with or without another recordsize; its best is the fastest, and of equals the cheapest and the
    smallest.
    """
    found = list(report.get("candidates") or ())
    fixed = [one for one in (as_it_is(report), chosen(report)) if one is not None]
    best = {_kind(one): one for one in sorted(found, key=_merit, reverse=True)}  # the last, the best, stays
    best |= {_kind(one): one for one in fixed}
    return [one for one in found if any(one is other for other in (*fixed, *best.values()))]


def comparison(candidates: Sequence[Row]) -> Table:
    """Give the candidates as a table, without the columns that tell them apart in nothing."""
    columns: dict[str, Callable[[Row], str]] = {
        "candidate": lambda one: str(one["name"]),
        "cost": _or_none("cost", money),
        "mean read": _or_none("mean_latency_ns", words.time),
        "once warm": _or_none("warm_latency_ns", words.time),
        "99th percentile": _or_none("p99_latency_ns", words.time),
        "reads/s": _or_none("reads_per_second", words.count),
        "hits in memory": _or_none("arc_hit_ratio", words.percent),
        "hits in L2ARC": _or_none("l2arc_hit_ratio", words.percent),
        "headers in ARC": _or_none("header_bytes", lambda taken: words.size(taken) if taken else words.NONE),
        "full after": _or_none("warmup_seconds", lambda seconds: words.time(seconds * 1e9) if seconds else words.NONE),
        "SSD lasts": _or_none("ssd_life_years", years),
    }
    told = {name: [say(one) for one in candidates] for name, say in columns.items()}
    kept = {name: column for name, column in told.items() if set(column) != {words.NONE}}
    return Table(tuple(kept), tuple(zip(*kept.values(), strict=True)))


def money(cost: float) -> str:
    """Give a cost in the currency of the prices, which are in dollars unless somebody gave others."""
    return f"${words.count(cost)}"


def years(lasts: float) -> str:
    """Give how long an SSD lasts."""
    return f"> {_MANY_YEARS} years" if lasts > _MANY_YEARS else f"{lasts:.1f} years"


def _kind(one: Row) -> tuple[str, bool]:
    return one["choice"], one.get("recordsize") is not None


def _merit(one: Row) -> tuple[float, float, int]:
    latency, cost = one.get("mean_latency_ns"), one.get("cost")
    size = (one.get("arc_bytes") or 0) + (one.get("l2arc_bytes") or 0)
    return float("inf") if latency is None else latency, float("inf") if cost is None else cost, size


def _or_none(key: str, say: Callable[[float], str]) -> Callable[[Row], str]:
    return lambda one: words.NONE if one.get(key) is None else say(one[key])

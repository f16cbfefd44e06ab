"""The sizes of caches that the report judged, for the marks on the curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zmysql.report.page import words
from zmysql.report.page.comparison import chosen, shortlist

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.report.page.figure import Report, Row

_MOST = 6


def judged_sizes(report: Report) -> list[Row]:
    """Give the sizes to be marked, rising: the ARC that is there, the chosen one, and some of the other candidates'.

    A size is that of the ARC, with its L2ARC if there is one: what both hold together.
    """
    best, candidates = chosen(report), shortlist(report)
    there = {key: report.get(key) or 0 for key in ("arc_bytes", "l2arc_bytes")}
    others = [best, *candidates] if best else candidates or [there]
    found: dict[int, Row] = {}
    for one in ({"arc_bytes": there["arc_bytes"]}, *others):
        arc, l2arc = one.get("arc_bytes") or 0, one.get("l2arc_bytes") or 0
        if arc + l2arc > 0 and len(found) < _MOST:
            text = f"{words.size(l2arc)} of L2ARC" if l2arc else f"{words.size(arc)} of ARC"
            mark = {"bytes": arc + l2arc, "text": text, "chosen": one is best}
            found.setdefault(arc + l2arc, mark)
    return sorted(found.values(), key=lambda mark: int(mark["bytes"]))


def simulated_ratios(report: Report) -> Iterator[tuple[int, float, str, bool]]:
    """Yield (bytes of both caches, reads that go to disk, the caches in words, whether there is an L2ARC).

    Only of records as they are: other recordsizes have a figure of their own.
    """
    for outcome in report.get("simulations") or ():
        arc, l2arc = outcome["arc_bytes"], outcome.get("l2arc_bytes") or 0
        if outcome.get("recordsize") is None and outcome["references"] and arc > 0:
            beside = f" and an L2ARC of {words.size(l2arc)}" if l2arc else ""
            ratio = outcome["misses"] / outcome["references"]
            yield arc + l2arc, ratio, f"an ARC of {words.size(arc)}{beside}", bool(l2arc)

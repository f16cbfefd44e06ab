"""Which candidate is the best buy for a goal, and the next best. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.locality.candidates import Goal
from zmysql.locality.latency import PAYS
from zmysql.locality.options import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.locality.candidates import Candidate
    from zmysql.locality.options import Wishes

NEARLY_AS_GOOD = 0.75  # of the benefit of the best: what brings that much for less money is the better buy
HEADERS_CROWD_OUT = 0.5  # of the ARC
WORN_OUT_YEARS = 1.0  # an SSD that lasts no longer isn't bought for a cache
_ON_SSD = (Choice.FULL_SSD, Choice.SPECIAL_VDEV)


@dataclass(frozen=True, slots=True)
class Buy:
    """What to buy: the candidate, how many times as fast (or as many reads) it is, and the next best of other kinds."""

    candidate: Candidate
    gain: float
    runner_up: Candidate | None
    runner_up_gain: float | None

    def sentences(self, base: Candidate, goal: Goal) -> tuple[str, ...]:
        """Say what it brings, what it costs, and what the next best would."""
        chosen = self.candidate
        brings = (
            f"With {chosen.option.name} a read takes {_ms(chosen.mean_latency_ns)} on average in place of"
            f" {_ms(base.mean_latency_ns)}, and 1 % take more than {_ms(chosen.p99_latency_ns)} in place of"
            f" {_ms(base.p99_latency_ns)}."
        )
        serves = (
            f"Under load it serves {chosen.reads_per_second:,.0f} reads a second in place of"
            f" {base.reads_per_second:,.0f}."
        )
        return brings, serves, *self._money(goal)

    def _money(self, goal: Goal) -> tuple[str, ...]:
        other, gain = self.runner_up, self.runner_up_gain
        said = () if self.candidate.cost is None else (f"It costs about {dollars(self.candidate.cost)}.",)
        if other is None or gain is None:
            return said
        price = "" if other.cost is None else f", for about {dollars(other.cost)}"
        what = "times as many reads a second" if goal is Goal.THROUGHPUT else "times as fast"
        return (
            *said,
            f"The next best, {other.option.name}, is {gain:.2f} {what} as now{price}; this is {self.gain:.2f}.",
        )


def best_buy(found: Sequence[Candidate], goal: Goal, wishes: Wishes) -> Buy | None:
    """Choose among the candidates, of which the first leaves all as it is; None where none is worth its money."""
    base = found[0]
    worth = [one for one in found[1:] if is_worth_it(one, found, goal, wishes)]
    if not worth:
        return None
    chosen = cheapest_good_one(worth, base, goal)
    others = [one for one in worth if one.choice is not chosen.choice]
    other = cheapest_good_one(others, base, goal) if others else None
    return Buy(chosen, chosen.gain(base, goal), other, other.gain(base, goal) if other else None)


def is_worth_it(one: Candidate, found: Sequence[Candidate], goal: Goal, wishes: Wishes) -> bool:
    """Tell whether a candidate can be advised at all.

    What lies on SSD for good is bought for the whole database, and a trace shows only what was read of it: so its size
    must be known. Larger records cost writes, which a trace of reads doesn't show: so they must bring as much again,
    and do more than fill empty caches sooner.
    """
    base = found[0]
    if one.choice is Choice.LEAVE_IT or one.gain(base, goal) < PAYS:
        return False
    if one.choice in _ON_SSD and wishes.db_bytes is None:
        return False
    if one.case.recordsize is not None and not _records_pay(one, found, goal):
        return False
    lasts = one.ssd_life_years is None or one.ssd_life_years >= WORN_OUT_YEARS
    return lasts and one.served.header_bytes < HEADERS_CROWD_OUT * one.case.arc_bytes


def _records_pay(one: Candidate, found: Sequence[Candidate], goal: Goal) -> bool:
    """Tell whether an L2ARC with larger records pays beside one with records as they are, and beside these alone."""
    plain, alone = replace(one.case, recordsize=None), replace(one.case, l2arc_bytes=0)
    others = [
        other for other in found if other.case in {plain, alone} and other.choice in {one.choice, Choice.LEAVE_IT}
    ]
    return all(pays_beside(one, other, goal) for other in others)


def pays_beside(one: Candidate, other: Candidate, goal: Goal) -> bool:
    """Tell whether a candidate is so much better than another, with caches that start empty and with warm ones."""
    warm = one.warm_gain(other)
    return one.gain(other, goal) >= PAYS and (warm is None or warm >= PAYS)


def records_alone(found: Sequence[Candidate], goal: Goal) -> Candidate | None:
    """Give the larger records that pay without anything bought, the best of them; None where none do."""
    base = found[0]
    paying = [one for one in found[1:] if one.choice is Choice.LEAVE_IT and pays_beside(one, base, goal)]
    return max(paying, key=lambda one: one.gain(base, goal), default=None)


def cheapest_good_one(worth: Sequence[Candidate], base: Candidate, goal: Goal) -> Candidate:
    """Give the cheapest of those that bring nearly as much as the best; for the goal of cost, the most for the money.

    Of several at one price the one that brings more is taken, and of these the smallest, as far as a hundredth tells.
    """
    if goal is Goal.COST:
        priced = [one for one in worth if one.cost is not None]
        if priced:
            return max(priced, key=lambda one: (_for_money(one, base, goal), -(one.cost or 0)))
    good = good_ones(worth, base, goal)
    best = max(one.benefit(base, goal) for one in worth)

    def rank(one: Candidate) -> tuple[bool, float, float, int]:
        share = round(one.benefit(base, goal) / best, 2)
        return (
            one.cost is None,
            one.cost or 0.0,
            -share,
            one.case.l2arc_bytes + one.case.arc_bytes + one.option.ssd_bytes,
        )

    return min(good, key=rank)


def good_ones(worth: Sequence[Candidate], base: Candidate, goal: Goal) -> list[Candidate]:
    """Give those that bring nearly as much as the best of them."""
    best = max((one.benefit(base, goal) for one in worth), default=0.0)
    return [one for one in worth if one.benefit(base, goal) >= NEARLY_AS_GOOD * best]


def _for_money(one: Candidate, base: Candidate, goal: Goal) -> float:
    return one.benefit(base, goal) / one.cost if one.cost else float("inf")


def dollars(cost: float) -> str:
    """Give a price for people."""
    return f"${cost:,.0f}" if cost >= 10 else f"${cost:,.2f}"  # noqa: PLR2004 - cents don't matter from there on


def _ms(time_ns: float) -> str:
    return f"{time_ns / 1e6:.3g} ms" if time_ns >= 1e6 else f"{time_ns / 1e3:.3g} µs"  # noqa: PLR2004 - a millisecond

"""All rules over the facts, and their hits as findings. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zmysql.check import cache, datasets, drift, health, log, memory, pages, server, vdevs
from zmysql.check.model import Finding, NotChecked, Report, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zmysql.check.facts import Facts
    from zmysql.check.model import Hit, Rule

RULES: tuple[Rule, ...] = (
    *health.RULES,
    *vdevs.RULES,
    *log.RULES,
    *pages.RULES,
    *cache.RULES,
    *memory.RULES,
    *datasets.RULES,
    *server.RULES,
    *drift.RULES,
)
_ORDER = tuple(Severity)


def audit(facts: Facts) -> Report:
    """Look at the facts by every rule that can be run on them."""
    able = [rule for rule in RULES if not any(need in facts.unknown for need in rule.needs)]
    hits = [(rule, hit) for rule in able for hit in rule.look(facts)]
    findings = [_finding(rule, hit) for rule, hit in _once(hits)]
    return Report(
        pools=tuple(pool.name for pool in facts.pools),
        findings=tuple(sorted(findings, key=lambda finding: _ORDER.index(finding.severity))),
        not_checked=_not_checked(facts),
    )


def _once(hits: Iterable[tuple[Rule, Hit]]) -> list[tuple[Rule, Hit]]:
    """Tell each thing once: where two rules speak of one property, the first has the reason.

    If the other knows what the template wants there, the mending is its: else the two would undo each other.
    """
    told: dict[object, tuple[Rule, Hit]] = {}
    for number, (rule, hit) in enumerate(hits):
        key = (hit.of, hit.about) if hit.about else number
        if key not in told:
            told[key] = (rule, hit)
        elif rule in drift.RULES and hit.mend:
            first, earlier = told[key]
            told[key] = (first, replace(earlier, mend=hit.mend))
    return list(told.values())


def _finding(rule: Rule, hit: Hit) -> Finding:
    return Finding(rule.id, hit.severity or rule.severity, hit.of, hit.evidence, rule.why, hit.mend, hit.then)


def _not_checked(facts: Facts) -> tuple[NotChecked, ...]:
    reasons: dict[str, list[str]] = {}
    for rule in RULES:
        missing = next((need for need in rule.needs if need in facts.unknown), None)
        if missing is not None:
            reasons.setdefault(facts.unknown[missing], []).append(rule.id)
    return tuple(NotChecked(tuple(ids), why) for why, ids in reasons.items())

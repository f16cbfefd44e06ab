"""What an audit is made of: facts go in, rules look at them, findings come out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from zmysql.check.facts import Facts, Need
    from zmysql.zfs.commands import Argv


class Severity(StrEnum):
    """How much a finding matters, the worst first.

    Critical: data or the pool can be lost. Warning: it costs speed, disks or an evening. Note: worth knowing; it may be
    meant so.
    """

    CRITICAL = "critical"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The value that was seen, and the command, file or variable that said it."""

    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule found: of which pool, dataset, disk, file, parameter or variable, the evidence, and what mends it.

    `mend` are the commands to run as they are, in order; `then` says what remains for a person to do, or what to do
    where no command can. `about` is the property or part that it is about, where it has a name. `severity` is set
    where it isn't the rule's.
    """

    of: str
    evidence: Evidence
    mend: tuple[Argv, ...] = ()
    then: str | None = None
    about: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its stable word, how bad it is, why (the fact, with its man page or article), and how it looks."""

    id: str
    severity: Severity
    why: str
    needs: tuple[Need, ...]
    look: Callable[[Facts], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A hit of a rule, as it is told."""

    id: str
    severity: Severity
    of: str
    evidence: Evidence
    why: str
    mend: tuple[Argv, ...]
    then: str | None


@dataclass(frozen=True, slots=True)
class NotChecked:
    """Rules that couldn't be run, and why."""

    ids: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of an audit: findings, the worst first, and the rules that weren't run."""

    pools: tuple[str, ...]
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]

    def count(self, severity: Severity) -> int:
        """Give how many findings have a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing but notes."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


def rule(severity: Severity, why: str, *needs: Need) -> Callable[[Callable[[Facts], Iterator[Hit]]], Rule]:
    """Make a rule of a function that yields hits; its id is the function's name with hyphens."""

    def of(look: Callable[[Facts], Iterator[Hit]]) -> Rule:
        return Rule(look.__name__.replace("_", "-"), severity, why, needs, look)

    return of

"""The findings of an audit: for a person at night, for a script, and as JSON."""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING

from rich.text import Text

from zmysql.check.model import Severity
from zmysql.errors import printable
from zmysql.report.output import output_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.check.model import Finding, Report

_STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_INDENT = 10


def for_terminal(report: Report, width: int) -> Text:
    """Give the findings for rich to print without wrapping: the worst first, each with its evidence before the advice.

    Prose is wrapped to `width`; commands stay in one line each, to be copied.
    """
    lines = [line for finding in report.findings for line in _block(finding, width)]
    for one in report.not_checked:
        text = f"not run ({printable(one.why)}): {', '.join(one.ids)}"
        # Wrapped at blanks alone: a word that is cut in two can't be searched for.
        lines += [Text(line, style="dim") for line in textwrap.wrap(text, width, break_on_hyphens=False)]
    return Text("\n").join((*lines, Text(summary(report), style="bold")))


def summary(report: Report) -> str:
    """Give the one line at the end: how many findings of each severity, and how many rules weren't run."""
    counts = [(report.count(severity), severity.value) for severity in Severity]
    found = ", ".join(
        f"{count} {word}{'s' if count > 1 and word != 'critical' else ''}" for count, word in counts if count
    )
    skipped = "".join(
        f"; {len(one.ids)} rule{'s' if len(one.ids) > 1 else ''} not run: {printable(one.why)}"
        for one in report.not_checked
    )
    return f"{' and '.join(report.pools)}: {found or 'nothing found'}{skipped}"


def as_lines(report: Report) -> list[str]:
    """Give a line for each finding: severity, id, of what, value, where it was seen, and what mends it.

    The fields have tabs between; the last has the commands joined by ` && `, and is a hyphen where there are none.
    """
    return [
        "\t".join(
            printable(word)
            for word in (
                *(finding.severity.value, finding.id, finding.of, finding.evidence.value, finding.evidence.source),
                " && ".join(shlex.join(argv) for argv in finding.mend) or "-",
            )
        )
        for finding in report.findings
    ]


def as_json(report: Report) -> dict[str, object]:
    """Give the report as JSON's values; `mend` are argv lists."""
    return {
        "output_version": output_version("check"),
        "pools": list(report.pools),
        "findings": [
            {
                "id": finding.id,
                "severity": finding.severity,
                "of": finding.of,
                "evidence": {"value": finding.evidence.value, "source": finding.evidence.source},
                "why": finding.why,
                "mend": [list(argv) for argv in finding.mend],
                "then": finding.then,
            }
            for finding in report.findings
        ],
        "not_checked": [{"ids": list(one.ids), "why": one.why} for one in report.not_checked],
    }


def _block(finding: Finding, width: int) -> Iterator[Text]:
    yield Text.assemble(
        (finding.severity.value.upper(), _STYLES[finding.severity]),
        f"  {finding.id}  ",
        (printable(finding.of), "bold"),
    )
    yield from _prose("seen", printable(f"{finding.evidence.value} ({finding.evidence.source})"), width)
    yield from _prose("why", finding.why, width)
    for number, argv in enumerate(finding.mend):
        label = "" if number else "mend"
        yield Text.assemble((f"    {label:<6}", "dim"), (printable(shlex.join(argv)), "green"))
    if finding.then:
        yield from _prose("then" if finding.mend else "do", printable(finding.then), width)
    yield Text()


def _prose(label: str, text: str, width: int) -> Iterator[Text]:
    wrapped = textwrap.wrap(text, max(width - _INDENT, _INDENT), break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(wrapped):
        yield Text.assemble((f"    {'' if number else label:<6}", "dim"), line)

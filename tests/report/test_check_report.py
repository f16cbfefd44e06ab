"""The audit's report: for a person, for a script, as JSON; and how the command is refused."""

from __future__ import annotations

import json
import shlex

from audited import facts
from running import refusal

from zmysql.check.audit import audit
from zmysql.check.model import Severity
from zmysql.report.check import as_json, as_lines, for_terminal, summary

FAULTY = audit(facts("debian13-zfs2.3-faulty"))
UNASKED = audit(facts("debian13-zfs2.3-serving", asked=False))


def test_a_person_sees_evidence_before_advice_and_a_count_at_the_end() -> None:
    lines = for_terminal(FAULTY, 100).plain.split("\n")
    assert lines[0].startswith("CRITICAL  ")
    assert [line[4:10].strip() for line in lines[1:4]] == ["seen", "why", ""] or lines[1].startswith("    seen  ")
    counts = {severity: FAULTY.count(severity) for severity in Severity}
    assert lines[-1] == (
        f"tank: {counts[Severity.CRITICAL]} critical, {counts[Severity.WARNING]} warnings, "
        f"{counts[Severity.NOTE]} notes"
    )
    assert counts[Severity.NOTE] == 2


def test_prose_is_wrapped_and_commands_are_not() -> None:
    text = for_terminal(FAULTY, 80).plain
    commands = [shlex.join(argv) for finding in FAULTY.findings for argv in finding.mend]
    assert all(f"  {command}\n" in text for command in commands)
    words = "".join(text.split())
    assert all("".join(finding.why.split()) in words for finding in FAULTY.findings)
    prose = [line for line in text.split("\n") if line.strip() not in commands and not line.startswith("    mend")]
    assert max(map(len, prose)) <= 110  # a long path isn't cut


def test_nothing_found_is_said_with_what_was_not_run() -> None:
    assert summary(UNASKED).startswith("tank: nothing found; ")
    assert summary(UNASKED).endswith(" rules not run: no --mysql")
    assert "not run (no --mysql): " in for_terminal(UNASKED, 100).plain


def test_a_script_gets_a_line_a_finding_with_six_fields() -> None:
    rows = [line.split("\t") for line in as_lines(FAULTY)]
    assert [row[1] for row in rows] == [finding.id for finding in FAULTY.findings]
    assert {len(row) for row in rows} == {6}
    of = {row[1]: row for row in rows}
    assert of["swap-on-zvol"] == [
        *("warning", "swap-on-zvol", "tank/swap", "swap on /dev/zvol/tank/swap"),
        *("the system's list of swap devices", "swapoff /dev/zvol/tank/swap"),
    ]
    assert of["doublewrite-off"][5] == "-"
    assert as_lines(UNASKED) == []


def test_json_has_every_finding_with_commands_as_argv() -> None:
    content = json.loads(json.dumps(as_json(FAULTY)))
    assert content["output_version"]["command"] == "zmysql check"
    found = {finding["id"]: finding for finding in content["findings"]}
    assert found["swap-on-zvol"]["mend"] == [["swapoff", "/dev/zvol/tank/swap"]]
    assert set(found["sync-disabled"]) == {"id", "severity", "of", "evidence", "why", "mend", "then"}
    assert found["sync-disabled"]["severity"] == "critical"
    assert set(found["sync-disabled"]["evidence"]) == {"value", "source"}
    assert as_json(UNASKED)["not_checked"] == [
        {"ids": list(UNASKED.not_checked[0].ids), "why": "no --mysql"},
    ]


def test_what_cant_be_meant_is_refused_in_one_line() -> None:
    assert "ask for one of them" in refusal("check", "tank", "-j", "-H")
    assert "this is no address of a MySQL server" in refusal("check", "tank", "--mysql", "localhost")
    assert "--dwpd" in refusal("check", "tank", "--dwpd", "0")

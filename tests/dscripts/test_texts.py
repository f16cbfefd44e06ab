"""A script's texts for several systems say and print the same, as far as the systems are alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "dscripts").glob("*.d"))
# The DTraceToolkit's order.
SECTIONS = ["USAGE", "FIELDS", "SAMPLING", "OVERHEAD", "NOTES", "SEE ALSO"]
LINUX = Path(__file__).parents[2] / "dscripts" / "blkaccess.d"


def between(text: str, begin: str, end: str) -> str:
    assert text.count(begin) == 1, begin
    return text.partition(begin)[2].partition(end)[0]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_the_header_is_whole_and_in_order(script: Path) -> None:
    lines = script.read_text().splitlines()
    assert lines[:3] == ["#!/usr/sbin/dtrace -s", "/*", lines[2]]
    assert lines[2].startswith(f" * {script.name} - ")
    header = "\n".join(lines).partition("*/")[0]
    assert re.findall(r"^ \* ([A-Z ]+):(?:\t|$)", header, re.MULTILINE) == SECTIONS
    assert " * SPDX-License-Identifier: BSD-2-Clause\n" in header
    assert script.stat().st_mode & 0o111


@pytest.mark.parametrize("script", [path for path in SCRIPTS if path != LINUX], ids=lambda path: path.name)
def test_another_system_s_text_has_the_same_fields_and_sample_and_prints_the_same(script: Path) -> None:
    text, linux = script.read_text(), LINUX.read_text()
    for begin, end in (
        (" * FIELDS:", " * OVERHEAD:"),
        ("dtrace:::BEGIN\n", "fbt:"),
        ("	this->hash = this->dbuf", "}"),
        ('	printf("%d %d %d %d %d %d %s', "fbt:"),
    ):
        assert between(text, begin, end) == between(linux, begin, end)
    assert "NOTES:\tUNPROVEN: this script has never run on " in text
    assert "UNPROVEN" not in linux

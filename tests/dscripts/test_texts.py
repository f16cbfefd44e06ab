"""A script's texts for several systems and tracers say and print the same, as far as those are alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DIRECTORY = Path(__file__).parents[2] / "dscripts"
SCRIPTS = sorted([*DIRECTORY.glob("*.d"), *DIRECTORY.glob("*.bt")])
# Beside NAME.d, which is Linux' and the others' where they have none of their own.
VARIANTS = [path for path in SCRIPTS if path.name.count(".") > 1]
TWINS = [path for path in SCRIPTS if path.suffix == ".bt"]
FIRST_LINE = {".d": "#!/usr/sbin/dtrace -s", ".bt": "#!/usr/bin/env bpftrace"}
# The DTraceToolkit's order; only what samples has SAMPLING.
SECTIONS = ["USAGE", "FIELDS", "SAMPLING", "OVERHEAD", "NOTES", "SEE ALSO"]


def linux_of(path: Path) -> Path:
    return DIRECTORY / f"{path.name.partition('.')[0]}.d"


def between(text: str, begin: str, end: str) -> str:
    assert text.count(begin) == 1, begin
    return text.partition(begin)[2].partition(end)[0]


def fields_of(path: Path) -> str:
    rest = between(path.read_text(), " * FIELDS:", "*/")
    return re.split(r"^ \* (?:SAMPLING|OVERHEAD):", rest, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_the_header_is_whole_and_in_order(script: Path) -> None:
    lines = script.read_text().splitlines()
    assert lines[:3] == [FIRST_LINE[script.suffix], "/*", lines[2]]
    assert lines[2].startswith(f" * {script.name} - ")
    header = "\n".join(lines).partition("*/")[0]
    sections = re.findall(r"^ \* ([A-Z ]+):(?:\t|$)", header, re.MULTILINE)
    assert sections == [one for one in SECTIONS if one != "SAMPLING" or one in sections]
    assert " * SPDX-License-Identifier: BSD-2-Clause\n" in header
    assert script.stat().st_mode & 0o111


@pytest.mark.parametrize("script", [*VARIANTS, *TWINS], ids=lambda path: path.name)
def test_another_text_of_a_script_has_the_same_fields(script: Path) -> None:
    assert fields_of(script) == fields_of(linux_of(script))


@pytest.mark.parametrize("script", VARIANTS, ids=lambda path: path.name)
def test_what_never_ran_on_its_system_says_so(script: Path) -> None:
    assert "NOTES:\tUNPROVEN: this script has never run on " in script.read_text()
    assert "UNPROVEN: this script" not in linux_of(script).read_text()


@pytest.mark.parametrize("system", ["freebsd", "illumos"])
def test_blkaccess_has_the_same_sample_and_start_on_each_system(system: str) -> None:
    text, linux = (DIRECTORY / f"blkaccess.{system}.d").read_text(), (DIRECTORY / "blkaccess.d").read_text()
    for begin, end in ((" * FIELDS:", " * OVERHEAD:"), ("dtrace:::BEGIN\n", "fbt:")):
        assert between(text, begin, end) == between(linux, begin, end)


HASH = re.compile(r"^\t+[$\w>-]*hash = (.*?);$", re.MULTILINE)
LINE = re.compile(r'printf\("(%.*?)\\n", ')


@pytest.mark.parametrize("script", sorted(DIRECTORY.glob("blkaccess.*")), ids=lambda path: path.name)
def test_blkaccess_samples_all_classes_alike_and_prints_them_alike(script: Path) -> None:
    steps = [re.sub(r"\(uint64\)|this->|[$() ]|U?LL", "", step) for step in HASH.findall(script.read_text())]
    of_a_dbuf = ("dbuf->db_objset->os_dsl_dataset->ds_object", "dbuf->db.db_object", "dbuf->db_blkid")
    of_a_dnode = ("dnode->dn_objset->os_dsl_dataset->ds_object", "dnode->dn_object", "arg2")
    mixing = ("hash^hash>>33*0xFF51AFD7ED558CCD", "hash^hash>>33*0xC4CEB9FE1A85EC53", "hash^hash>>33")
    samples = [
        [objset, f"hash*0x9E3779B97F4A7C15+{number}", f"hash*0x9E3779B97F4A7C15+{blkid}", *mixing]
        for objset, number, blkid in (of_a_dbuf, of_a_dnode)
    ]
    found = [steps[at : at + 6] for at in range(0, len(steps), 6)]
    assert len(found) == (3 if "illumos" in script.name else 4)
    assert all(sample in samples for sample in found)
    lines = {re.sub(r"%ll?u", "%d", line) for line in LINE.findall(script.read_text())}
    assert {line.rpartition(" ")[0] for line in lines} == {"%d %d %d %d %d %d"}

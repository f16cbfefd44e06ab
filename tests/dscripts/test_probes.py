"""Each D script takes from its kernel what the catalogue of that system has from the sources, and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from d_scripts import Clause, clauses_of

SCRIPTS = Path(__file__).parents[2] / "dscripts"
SYSTEMS = ("linux", "freebsd", "illumos")
SOURCE = re.compile(r"[\w.-]+/[\w.-]+@(?:[0-9a-f]{40}|zfs-\d+\.\d+\.\d+):[\w./-]+")
PROBE_KEYS = {"provider", "module", "function", "name", "arguments", "source"}
MEMBER_KEYS = {"struct", "member", "type", "source"}
# One struct by two names, and one that is the first member of the other.
ALIASES = {"struct znode": "znode_t", "dmu_buf_t": "dmu_buf_impl_t"}


def scripts_of(system: str) -> list[Path]:
    """Give the system's scripts: NAME.freebsd.d or NAME.illumos.d where there is one, and else NAME.d."""
    stems = sorted({path.name.partition(".")[0] for path in SCRIPTS.glob("*.d")})
    own = {stem: SCRIPTS / f"{stem}.{system}.d" for stem in stems}
    return [own[stem] if own[stem].exists() else SCRIPTS / f"{stem}.d" for stem in stems]


def catalogue_of(system: str) -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((SCRIPTS / "probes" / f"{system}.toml").read_text())


def problems(clauses: list[Clause], catalogue: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Give what the clauses use and the catalogue lacks, and the reverse."""
    probes = {
        ":".join(probe[key] for key in ("provider", "module", "function", "name")): probe["arguments"]
        for probe in catalogue["probe"]
    }
    members = {(member["struct"], member["member"]): member["type"] for member in catalogue["member"]}
    found, used = [], set()
    for clause in clauses:
        declared = probes.get(clause.probe)
        if declared is None:
            found.append(f"{clause.probe} isn't in the catalogue")
            continue
        found += [f"{clause.probe} has no arg{at}" for at in clause.arguments if at >= len(declared)]
        for kind, at in clause.casts:
            pointer = declared[at].removeprefix("const ").rpartition("*")[0].strip()
            if kind not in (pointer, ALIASES.get(pointer)):
                found.append(f"arg{at} of {clause.probe} is {declared[at]}, and cast to {kind} *")
        for struct, chain in clause.chains:
            kind = struct
            for name in chain:
                used.add((kind, name))
                if (kind, name) not in members:
                    found.append(f"{kind} has no {name} in the catalogue")
                    break
                kind = members[kind, name].removesuffix(" *")
    unused = [f"{probe} is unused" for probe in probes.keys() - {clause.probe for clause in clauses}]
    return sorted([*found, *unused, *(f"{struct}'s {name} is unused" for struct, name in members.keys() - used)])


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_catalogue_has_what_the_scripts_use_and_nothing_else(system: str) -> None:
    scripts = scripts_of(system)
    assert scripts
    clauses = [clause for script in scripts for clause in clauses_of(script.read_text())]
    assert problems(clauses, catalogue_of(system)) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_entry_names_its_source(system: str) -> None:
    for kind, keys in (("probe", PROBE_KEYS), ("member", MEMBER_KEYS)):
        entries = catalogue_of(system)[kind]
        for entry in entries:
            assert entry.keys() - {"note"} == keys, entry
            assert SOURCE.fullmatch(entry["source"]) or entry["source"].startswith("not looked up: "), entry
        names = [tuple(str(entry[key]) for key in sorted(keys - {"arguments", "source", "type"})) for entry in entries]
        assert len(set(names)) == len(names)


def test_every_script_belongs_to_a_system() -> None:
    assert sorted({path for system in SYSTEMS for path in scripts_of(system)}) == sorted(SCRIPTS.glob("*.d"))


CATALOGUE: dict[str, list[dict[str, Any]]] = {
    "probe": [
        {"provider": "fbt", "module": "zfs", "function": "f", "name": "entry", "arguments": ["outer_t *o", "int n"]}
    ],
    "member": [
        {"struct": "outer_t", "member": "o_inner", "type": "struct inner *"},
        {"struct": "struct inner", "member": "i_id", "type": "uint64_t"},
    ],
}
CLAUSE = """fbt:zfs:f:entry
/arg1 && ((outer_t *)arg0)->o_inner->i_id/
{
	self->id = 1;
}
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", []),
        (
            "f:entry",
            "g:entry",
            [
                "fbt:zfs:f:entry is unused",
                "fbt:zfs:g:entry isn't in the catalogue",
                "outer_t's o_inner is unused",
                "struct inner's i_id is unused",
            ],
        ),
        ("->i_id", "", ["struct inner's i_id is unused"]),
        ("i_id", "i_di", ["struct inner has no i_di in the catalogue", "struct inner's i_id is unused"]),
        ("arg1", "arg2", ["fbt:zfs:f:entry has no arg2"]),
        ("*)arg0", "*)arg1", ["arg1 of fbt:zfs:f:entry is int n, and cast to outer_t *"]),
        (
            "self->id = 1;",
            "this->o = (outer_t *)self->o;\n\ttrace(this->o->o_id);",
            ["outer_t has no o_id in the catalogue"],
        ),
    ],
)
def test_what_doesn_t_fit_is_found(before: str, after: str, expected: list[str]) -> None:
    text = CLAUSE.replace(before, after, 1)
    assert problems(clauses_of(text), CATALOGUE) == expected


def test_a_chain_within_a_cast_is_followed() -> None:
    (clause,) = clauses_of("fbt:zfs:f:entry\n{\n\ttrace(((a_t *)((b_t *)arg0)->b_data)->a_id);\n}\n")
    assert clause.chains == {("b_t", ("b_data",)), ("a_t", ("a_id",))}
    assert clause.casts == {("b_t", 0)}


def test_a_clause_of_several_probes_is_one_of_each() -> None:
    clauses = clauses_of("fbt:zfs:f:entry,\nfbt:zfs:g:entry\n/arg1/\n{\n\ttrace(arg0);\n}\n")
    assert [(clause.probe, set(clause.arguments)) for clause in clauses] == [
        ("fbt:zfs:f:entry", {0, 1}),
        ("fbt:zfs:g:entry", {0, 1}),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "fbt:zfs:f:entry, fbt:zfs:g:entry\n{\n\ttrace(1);\n}\n",
        "fbt:zfs:f:entry { trace(1); }\n",
        "fbt:zfs:f:entry\n{\n\ttrace(args[0]->a_id);\n}\n",
        "fbt:zfs:f:entry\n{\n\ttrace(this->unknown->a_id);\n}\n",
    ],
)
def test_what_can_t_be_seen_is_no_silent_pass(text: str) -> None:
    with pytest.raises(ValueError, match="seen"):
        clauses_of(text)

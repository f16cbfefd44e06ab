"""Whatever is in a file or in a setting: a template, or one line that says what is wrong. Never another exception."""

from __future__ import annotations

import contextlib
import re
import tomllib
from typing import TYPE_CHECKING

from hypothesis import example, given, settings
from hypothesis import strategies as st

from zmysql.errors import UsageError
from zmysql.layout.model import DATASETS, Template
from zmysql.layout.template import load_template, parse_template, template_names
from zmysql.zfs.properties import type_of_dataset_property, type_of_pool_property

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

TEXTS = {name: load_template(name).text for name in template_names()}
# Hostile by their characters, their size, or by being almost right.
HOSTILE = (
    *(
        '""',
        "''",
        '"\\u0000"',
        '"a\\nb"',
        '"\\u001b[2J"',
        '"-rf"',
        '"$(reboot)"',
        "'; reboot #'",
        '"' + "x" * 900 + '"',
    ),
    *("0", "-1", "1e999", "nan", "9" * 5000, "0x" + "f" * 5000, "true", "1979-05-27", "07:32:00", '"\U0001f4be"'),
    *(
        "[]",
        "{}",
        "[[]]",
        "[1, 'a']",
        "{a = {}}",
        "[" * 400 + "]" * 400,
        "[" * 20000 + "]" * 20000,
        '"16k"',
        '"16K "',
        '"1.5G"',
    ),
)
WORDS = (
    *DATASETS,
    *type_of_dataset_property,
    *type_of_pool_property,
    *(
        "pool",
        "pools",
        "pools.log",
        "vdevs",
        "vdevs.data",
        "properties",
        "datasets",
        "class",
        "kind",
        "width",
        "min",
        "fill",
    ),
    *("prefer", "sources", "when", "description", "", "ä", "pools.x", '"a\\nb"', "'.'", "a.b.c", "\x00", "\ud800"),
)


@st.composite
def broken(draw: DrawFn) -> str:
    """Give a template that ships with some of its lines deleted, doubled, moved, renamed or given another value."""
    lines = TEXTS[draw(st.sampled_from(template_names()))].splitlines()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines.pop(at)
        key, equals, value = line.partition(" = ")
        match draw(st.integers(0, 8)):
            case 0:
                pass
            case 1:
                lines[at:at] = [line, line]
            case 2:
                lines.insert(draw(st.integers(0, len(lines))), line)
            case 3:
                lines.insert(at, key + equals + draw(st.sampled_from(HOSTILE)))
            case 4:
                lines.insert(at, draw(st.sampled_from(WORDS)) + equals + value)
            case 5:
                lines.insert(at, re.sub(r"[\w-]+(?=\])", lambda _: draw(st.sampled_from(WORDS)), line))
            case 6:
                cut = draw(st.integers(0, len(line)))
                lines.insert(at, line[:cut] + draw(st.text(max_size=3)) + line[cut + draw(st.integers(0, 3)) :])
            case 7:
                lines.insert(at, f"[{draw(st.sampled_from(WORDS))}]")
            case _:
                lines.insert(at, f"{draw(st.sampled_from(WORDS))} = {draw(st.sampled_from(HOSTILE))}")
        lines = lines or [""]
    return "\n".join(lines)


setting = st.one_of(
    st.text(max_size=30),
    st.builds(
        "{}={}".format,
        st.lists(st.sampled_from(WORDS), max_size=4).map(".".join),
        st.one_of(
            st.sampled_from(HOSTILE), st.sampled_from(("16K", "none", "2", "hdd", "mirror", "off")), st.text(max_size=5)
        ),
    ),
)


def check(text: str, overrides: list[str]) -> None:
    try:
        template = parse_template("mine", text, overrides)
    except UsageError as error:
        said = str(error)
        assert said.isprintable(), said
        assert len(said) < 1000
        assert said.startswith(("template mine", "--set ")), said
        with contextlib.suppress(ValueError, RecursionError):
            tomllib.loads(text)
            # It was TOML, so it is known where it is wrong, unless all of a table is missing.
            assert "line " in said or "missing" in said or "--set" in said, said
    else:
        assert isinstance(template, Template)
        assert all(one.isprintable() and " " not in one for one in template.settings)
        assert parse_template("mine", text, template.settings) == template
        for pool in template.pools:
            for properties in (pool.properties, pool.root_properties, *pool.datasets.values()):
                assert all(value.isprintable() and " " not in value for value in properties.values())


@given(broken(), st.lists(setting, max_size=2))
@settings(max_examples=300)
def test_a_broken_template_is_refused_in_one_line(text: str, overrides: list[str]) -> None:
    check(text, overrides)


@given(st.one_of(st.text(), st.binary().map(lambda raw: raw.decode("latin-1"))))
@settings(max_examples=100)
@example("pools = {log = {}}\n")
@example("[[vdevs]]\n")
@example("vdevs.data = 1\r\n")
def test_what_is_no_template_at_all_is_refused_in_one_line(text: str) -> None:
    check(text, [])


@given(st.sampled_from(template_names()), st.lists(setting, max_size=3))
@settings(max_examples=200)
@example("all-hdd", ["pools.log.datasets=x"])
@example("ssd-data-hdd-log", ["pools.log.datasets=x"])
@example("ssd-data-hdd-log", ["pools.log=x", "pools.log.pool.ashift=12"])
@example("all-hdd", ["datasets.undo.x.y=1"])
def test_a_hostile_setting_is_refused_in_one_line(name: str, overrides: list[str]) -> None:
    check(TEXTS[name], overrides)

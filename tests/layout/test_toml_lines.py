"""Which line each key of a TOML document is on, against documents written at random by one who knows the lines."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zmysql.layout.template import load_template, template_names
from zmysql.layout.toml_lines import key_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn

    from zmysql.layout.toml_lines import Path

    Node = str | list["Node"] | dict[str, "Node"]

# As they stand in a document: each looks in some way like what it isn't.
SCALARS = (
    *("1", "0x1F", "+inf", "1.5e3", "true"),
    *("1979-05-27", "1979-05-27 07:32:00", "1979-05-27T07:32:00.5-07:00", "07:32:00"),
    *('""', "''", '"a # b = 1"', "'c = [1, {'", r'"\"]\\"', r'"\u005d\n"', "'\\'"),
    *(
        '"""\nx = 1\n[a]\n"""',
        "'''\n'' # \n[[b]]'''",
        '"""a\\\n   b"""',
        '"""x"""""',
        "'''x'''''",
        '"""\\""""',
        '""""""',
    ),
)
KEYS = st.sampled_from(
    (
        "a",
        "b",
        "c-d",
        "E_f",
        "1",
        "true",
        "",
        " ",
        "a.b",
        "#",
        "=",
        "[x]",
        "it's",
        'say "a"',
        "ä",
        "\t",
        "\\",
        "'\"",
        "\x7f",
    )
)
NODES: st.SearchStrategy[Node] = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


class Writer:
    """Writes a document with blanks, comments, and each kind of table as drawn, and notes the line of each path."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.text = ""
        self.lines: dict[Path, int] = {}

    def note(self, path: Path) -> None:
        for end in range(1, len(path) + 1):
            self.lines.setdefault(path[:end], self.text.count("\n") + 1)

    def one(self, *words: str) -> str:
        return self.draw(st.sampled_from(words))

    def filler(self) -> None:
        self.text += self.one("", "", "\n", " # not [a] = 1\n\t", "\n\n")

    def blank(self) -> None:
        self.text += self.one("", " ", "\t ")

    def key(self, key: str) -> None:
        escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in key)
        forms = [f'"{escaped}"', '"' + "".join(f"\\U{ord(c):08X}" for c in key) + '"']
        if "'" not in key and (key.isprintable() or key == "\t"):
            forms.append(f"'{key}'")
        if re.fullmatch(r"[A-Za-z0-9_-]+", key):
            forms.append(key)
        self.blank()
        self.text += self.one(*forms)
        self.blank()

    def dotted(self, keys: list[str]) -> None:
        for number, key in enumerate(keys):
            self.text += "." if number else ""
            self.key(key)

    def table(self, path: Path, table: dict[str, Node]) -> None:
        """Write a table's pairs, and after them those that have headers of their own."""
        later: list[tuple[Path, str, dict[str, Node]]] = []
        for key, node in table.items():
            if isinstance(node, dict) and self.draw(st.booleans()):
                later.append(((*path, key), "[", node))
            elif isinstance(node, list) and node and all(isinstance(one, dict) for one in node):
                later += [((*path, key, at), "[[", one) for at, one in enumerate(node) if isinstance(one, dict)]
            else:
                self.pair(path, [key], node)
                self.text += self.one("\n", " # b = 2\n", "\t\n\n")
        for of_one, opening, one in later:
            self.header(of_one, opening, one)

    def header(self, path: Path, opening: str, table: dict[str, Node]) -> None:
        self.blank()
        self.text += opening
        self.note(path)
        self.dotted([key for key in path if isinstance(key, str)])
        self.text += opening.replace("[", "]") + self.one("\n", " # [b]\n")
        self.table(path, table)

    def pair(self, path: Path, keys: list[str], node: Node) -> None:
        if isinstance(node, dict) and len(node) == 1 and self.draw(st.booleans()):
            ((key, inner),) = node.items()
            self.pair(path, [*keys, key], inner)
            return
        self.note((*path, *keys))
        self.dotted(keys)
        self.text += "="
        self.blank()
        self.value((*path, *keys), node)

    def value(self, path: Path, node: Node) -> None:
        if isinstance(node, str):
            self.text += node
        elif isinstance(node, dict):
            self.text += "{"
            for number, (key, inner) in enumerate(node.items()):
                self.text += "," if number else ""
                self.pair(path, [key], inner)
                self.blank()
            self.text += "}"
        else:
            self.text += "["
            for number, inner in enumerate(node):
                self.filler()
                self.note((*path, number))
                self.value((*path, number), inner)
                self.filler()
                self.text += "," if number < len(node) - 1 or self.draw(st.booleans()) else ""
            self.filler()
            self.text += "]"


@st.composite
def documents(draw: DrawFn) -> tuple[str, dict[Path, int]]:
    writer = Writer(draw)
    writer.filler()
    writer.table((), draw(st.dictionaries(KEYS, NODES, max_size=5)))
    return writer.text, writer.lines


def paths(node: object, path: Path = ()) -> Iterator[Path]:
    """Give the path of each key and item in what tomllib read."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from paths(value, (*path, key))


@given(documents(), st.booleans())
@settings(max_examples=200)
def test_each_key_is_on_the_line_where_it_was_written(document: tuple[str, dict[Path, int]], dos: bool) -> None:  # noqa: FBT001 - Hypothesis gives it
    text, lines = document
    text = text.replace("\n", "\r\n") if dos else text
    assert set(paths(tomllib.loads(text))) == set(lines)
    assert key_lines(text) == lines


@pytest.mark.parametrize("name", template_names())
def test_in_what_ships_each_line_has_its_key(name: str) -> None:
    text = load_template(name).text
    found = key_lines(text)
    assert set(found) == set(paths(tomllib.loads(text)))
    for path, line in found.items():
        if isinstance(path[-1], str):
            assert path[-1] in text.splitlines()[line - 1]


def test_tables_of_one_list_are_told_apart() -> None:
    text = "[[a]]\nx = 1\n[a.b]\n[[a.c]]\n\n[[a]]\n[[a.c]]\ny = {z = 1}"
    assert key_lines(text) == {
        ("a",): 1,
        ("a", 0): 1,
        ("a", 0, "x"): 2,
        ("a", 0, "b"): 3,
        ("a", 0, "c"): 4,
        ("a", 0, "c", 0): 4,
        ("a", 1): 6,
        ("a", 1, "c"): 7,
        ("a", 1, "c", 0): 7,
        ("a", 1, "c", 0, "y"): 8,
        ("a", 1, "c", 0, "y", "z"): 8,
    }

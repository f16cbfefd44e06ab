"""On which line of a TOML document each key stands: tomllib gives none, and a message without one is half a message."""

from __future__ import annotations

import re
from bisect import bisect_right

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# The long ones first. A quoted text may end in one or two quotes of its own kind before the three that close it.
_LITERAL = re.compile(r"'''.*?'''(?:'{0,2})|'[^'\n]*'", re.DOTALL)
_BASIC = re.compile(r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# Numbers, booleans and dates; a date and its time may have a blank between them.
_BARE_VALUE = re.compile(r"[^,\]}\n#]+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}


def key_lines(text: str) -> dict[Path, int]:
    """Give the line, from 1, on which each key of a document is first written.

    A path has the keys from the root on; an item of a list has its number, from 0. The document must be one that
    tomllib accepts: what is wrong with another, tomllib says better.
    """
    return _Scanner(text.replace("\r\n", "\n")).scan()


class _Scanner:
    """Walks once over the text. What was accepted needs no checks, so that it is much smaller than a parser."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.newlines = [found.start() for found in re.finditer("\n", text)]
        self.lines: dict[Path, int] = {}
        self.last_item: dict[Path, int] = {}  # of each list of tables

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            if self.text.startswith("[", self.at):
                table = self.header()
            else:
                self.pair(table)
            self.skip(_BLANK)
        return self.lines

    def header(self) -> Path:
        """Read [a.b] or [[a.b]], and give the path of what follows."""
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        keys = self.keys()
        path: Path = ()
        for key in keys[:-1]:
            path = self.note((*path, key))
        path = (*path, keys[-1])
        if brackets == 2:  # noqa: PLR2004 - [[a.b]] begins another table of a list
            self.last_item[path] = self.last_item.get(path, -1) + 1
        self.at += brackets
        return self.note(path)

    def pair(self, table: Path) -> None:
        for key in self.keys():
            table = (*table, key)
            self.note(table)
        self.at += 1  # =
        self.value(table)

    def value(self, path: Path) -> None:
        self.skip(_SPACE)
        match self.text[self.at]:
            case "[":
                self.items(path)
            case "{":
                self.inline_table(path)
            case '"':
                self.skip(_BASIC)
            case "'":
                self.skip(_LITERAL)
            case _:
                self.skip(_BARE_VALUE)

    def items(self, path: Path) -> None:
        number = 0
        while self.more("]"):
            self.note((*path, number))
            self.value((*path, number))
            number += 1

    def inline_table(self, path: Path) -> None:
        while self.more("}"):
            self.pair(path)

    def more(self, end: str) -> bool:
        """Go over what opens or separates, and tell whether there is another item before the end."""
        if self.text[self.at] in "[{":
            self.at += 1
        self.skip(_BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self.skip(_BLANK)
        if self.text[self.at] != end:
            return True
        self.at += 1
        return False

    def keys(self) -> list[str]:
        """Read a key, dotted or not, up to what follows it."""
        found = [self.key()]
        while self.text[self.at] == ".":
            self.at += 1
            found.append(self.key())
        return found

    def key(self) -> str:
        self.skip(_SPACE)
        first = self.text[self.at]
        written = self.skip({"'": _LITERAL, '"': _BASIC}.get(first, _BARE_KEY))
        self.skip(_SPACE)
        if first == "'":
            return written[1:-1]
        return _ESCAPE.sub(_unescaped, written[1:-1]) if first == '"' else written

    def note(self, path: Path) -> Path:
        """Note the line of a path, and give the path that its keys hang on: in a list of tables, the last of them."""
        line = bisect_right(self.newlines, self.at - 1) + 1
        self.lines.setdefault(path, line)
        if path in self.last_item:
            path = (*path, self.last_item[path])
            self.lines.setdefault(path, line)
        return path

    def skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(found[3], found[3])

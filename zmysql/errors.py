"""The errors that a person sees: one line that names the thing, and the way out."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class ZmysqlError(Exception):
    """Something failed; the message names the thing and the way out. Exit status 1."""

    exit_status = 1


class UsageError(ZmysqlError):
    """What was asked for can't be meant; the message says what can. Exit status 2."""

    exit_status = 2


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Give the end of a message: the word nearest to a wrong one, or nothing when none is near."""
    near = difflib.get_close_matches(word, list(words), n=1, cutoff=0.5)
    return f", did you mean {near[0]}?" if near else ""


def printable(text: str) -> str:
    """Give a text in one line that does nothing to a terminal: what isn't printable is written as Python would."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def shown(text: str, most: int = 80) -> str:
    """Give a text that somebody wrote as it can stand in a message of one line: in quotes, and cut when long."""
    return repr(text if len(text) <= most else text[:most] + "…")

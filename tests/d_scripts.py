"""What a D script takes from the kernel: its probes, the arguments and the members of structs that it reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"[^"]*"', re.DOTALL)
_PROBE = re.compile(r"\w+:\w*:\w*:[\w-]+")
# Probes, a line each, a predicate between slashes at the ends of lines, and the actions.
_CLAUSE = re.compile(
    rf"^((?:{_PROBE.pattern},\n)*{_PROBE.pattern})\n(?:/(.*?)/\n)?\{{\n(.*?)^\}}$", re.DOTALL | re.MULTILINE
)
_TOKEN = re.compile(r"(?:this|self)->\w+|struct \w+|\w+|->|\S")
_ARGUMENT = re.compile(r"arg(\d)")


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: the arguments that it reads, (type, argument) of its casts, (type, members) of its chains."""

    probe: str
    arguments: frozenset[int]
    casts: frozenset[tuple[str, int]]
    chains: frozenset[tuple[str, tuple[str, ...]]]


def clauses_of(text: str) -> list[Clause]:
    """Give the clauses of a script, one for each of their probes; they must be laid out as ours are.

    Raises ValueError where a clause or a member would go unseen.
    """
    text = _COMMENT_OR_STRING.sub("", text)
    unseen = _PROBE.search(_CLAUSE.sub("", text))
    if unseen:
        raise ValueError(f"no clause is seen at {unseen[0]}")
    return [
        _clause(probe, predicate, actions)
        for probes, predicate, actions in _CLAUSE.findall(text)
        for probe in probes.split(",\n")
    ]


def _clause(probe: str, predicate: str, actions: str) -> Clause:
    tokens = _TOKEN.findall(f"{predicate} ; {actions}")
    chains = [*_cast_chains(tokens), *_variable_chains(tokens)]
    links = sum(token in ("->", ".") for token in tokens)
    if links != sum(len(members) for _, members in chains):
        raise ValueError(f"a member in {probe} has no type that is seen: {chains}")
    casts = {(tokens[at + 1], _ARGUMENT.fullmatch(tokens[at + 4])) for at in _casts(tokens)}
    return Clause(
        probe,
        frozenset(int(match[1]) for match in map(_ARGUMENT.fullmatch, tokens) if match),
        frozenset((kind, int(match[1])) for kind, match in casts if match),
        frozenset(chains),
    )


def _casts(tokens: list[str]) -> list[int]:
    """Give where `( type * )` begin that have something behind them."""
    return [
        at
        for at, token in enumerate(tokens[:-4])
        if token == "(" and tokens[at + 2 : at + 4] == ["*", ")"]  # noqa: S105 - no password
    ]


def _cast_chains(tokens: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what is read of `((type *)something)`, which may hold another such."""
    casts = set(_casts(tokens))
    opened = []
    for at, token in enumerate(tokens):
        if token == "(":  # noqa: S105 - no password
            opened.append(at)
        elif token == ")":  # noqa: S105 - no password
            inside = opened.pop() + 1
            members = _members(tokens[at + 1 :])
            if inside in casts and members:
                yield tokens[inside + 1], members


def _variable_chains(tokens: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what is read of a variable after `this->variable = (type *)something`."""
    kinds = {tokens[at - 2]: tokens[at + 1] for at in _casts(tokens) if tokens[at - 1] == "="}
    for at, token in enumerate(tokens):
        members = _members(tokens[at + 1 :])
        if token in kinds and members:
            yield kinds[token], members


def _members(tokens: list[str]) -> tuple[str, ...]:
    members = []
    for link, name in zip(tokens[::2], tokens[1::2], strict=False):
        if link not in ("->", "."):
            break
        members.append(name)
    return tuple(members)

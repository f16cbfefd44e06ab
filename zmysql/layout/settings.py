"""The parameters of a template that a person overrides with --set KEY=VALUE."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, did_you_mean, shown
from zmysql.layout.model import DATASETS
from zmysql.zfs.properties import type_of_dataset_property, type_of_pool_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zmysql.layout.toml_lines import Path

_TABLES = ("pool", "vdevs", "properties", "datasets", "pools")
_NUMBERS = ("width", "min", "fill")
_MOST_DIGITS = 6
_LONGEST = 80  # of what is shown as it was written


@dataclass(frozen=True, slots=True)
class Setting:
    """One override: where in the document, the value as the document would have it, and as it was written.

    `key` is the shortest that means this place in this template.
    """

    path: Path
    key: str
    value: object
    written: str

    def __str__(self) -> str:
        """Give it as on the command line, in one line."""
        return _shown(self.written)

    def normal(self) -> str:
        """Give a checked one in the one way in which it is remembered: data.recordsize=32K for …=32768."""
        if isinstance(self.value, list):
            return f"{self.key}={','.join(self.value)}"
        table, last = _table_of(self.path), str(self.path[-1])
        if table == "vdevs":
            return f"{self.key}={self.value}"
        types = type_of_pool_property if table == "pool" else type_of_dataset_property
        return f"{self.key}={types[last].normal(str(self.value))}"


def parse_settings(written: Iterable[str], document: Mapping[str, object]) -> tuple[Setting, ...]:
    """Give the overrides, sorted, each with its place in a template's document.

    Whether the values are right is checked with the document that has them. Raises UsageError for what is no KEY=VALUE,
    for a key that is nowhere in a template, and for one key with two values.
    """
    found: dict[Path, Setting] = {}
    for text in written:
        key, is_there, value = text.partition("=")
        if not is_there:
            raise UsageError(f"--set {shown(text)}: write KEY=VALUE, such as data.recordsize=32K")
        path = _path(text, [word.strip() for word in key.split(".")], document)
        setting = Setting(path, _key(path, document), _value(path, value.strip()), text)
        earlier = found.setdefault(path, setting)
        if earlier.value != setting.value:
            raise UsageError(f"{setting}: {shown(key)} is set twice; leave one of them out")
    return tuple(sorted(found.values(), key=lambda one: tuple(map(str, one.path))))


def override(document: Mapping[str, object], settings: Iterable[Setting]) -> dict[str, object]:
    """Give the document with the overrides in it.

    Raises UsageError for a key under what is no table.
    """
    whole = copy.deepcopy(dict(document))
    for setting in settings:
        *tables, last = map(str, setting.path)
        into = whole
        for table in tables:
            inner = into.setdefault(table, {})
            if not isinstance(inner, dict):
                raise UsageError(f"{setting}: {shown(table)} is no table, so it has no keys")
            into = inner
        into[last] = setting.value
    return whole


def _path(text: str, words: list[str], document: Mapping[str, object]) -> Path:
    """Give the place that a key means; one that begins with a dataset is short for where the template has that."""
    about = _shown(text)
    first, *rest = words
    if first not in (*_TABLES, *DATASETS):
        near = did_you_mean(first, (*DATASETS, *_TABLES))
        raise UsageError(f"{about}: no template has {shown(first)}{near}; write DATASET.PROPERTY or TABLE.KEY")
    if not rest:
        raise UsageError(f"{about}: {first} is a whole table; set one key of it, such as {first}.{_example(first)}")
    pools = _table(document, "pools")
    if first == "pools" and rest[0] not in pools:
        there = f"there are {', '.join(pools)}" if pools else "it has one pool only"
        raise UsageError(f"{about}: the template has no pool {shown(rest[0])}{did_you_mean(rest[0], pools)}; {there}")
    if first not in DATASETS:
        return tuple(words)
    if first in _table(document, "datasets"):
        return ("datasets", *words)
    for key in pools:
        if first in _table(_table(pools, key), "datasets"):
            return ("pools", key, "datasets", *words)
    raise UsageError(f"{about}: the template has no dataset {first}; datasets.{first}.PROPERTY would add it")


def _example(first: str) -> str:
    return {"pool": "ashift", "vdevs": "data.width", "properties": "compression", "pools": "log.pool.ashift"}.get(
        first, "data.recordsize" if first == "datasets" else "recordsize"
    )


def _table(of: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = of.get(key)
    return found if isinstance(found, dict) else {}


def _key(path: Path, document: Mapping[str, object]) -> str:
    """Give a path as one writes it: without the tables above a dataset that the template has."""
    words = [str(word) for word in path]
    if _table_of(path) == "datasets":
        at = words.index("datasets", 2 if words[0] == "pools" else 0)
        above: Mapping[str, object] = document
        for word in words[: at + 1]:
            above = _table(above, word)
        if at + 1 < len(words) and words[at + 1] in above:
            return ".".join(words[at + 1 :])
    return ".".join(words)


def _table_of(path: Path) -> object:
    """Give which table of a pool a path is in: pool, vdevs, properties or datasets."""
    within = path[2:] if path[0] == "pools" else path
    return within[0] if within else None


def _value(path: Path, text: str) -> object:
    """Give a value as TOML would have it: numbers and lists for vdevs, else text."""
    if _table_of(path) != "vdevs":
        return text
    if path[-1] in _NUMBERS and text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        return int(text)
    return [word.strip() for word in text.split(",")] if path[-1] == "class" else text


def _shown(written: str) -> str:
    plain = written.isprintable() and 0 < len(written) <= _LONGEST
    return f"--set {written if plain else shown(written)}"

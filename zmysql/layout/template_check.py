"""The strict check of a template: a misspelt key would otherwise silently lay out something else. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn, TypeVar

from zmysql.errors import UsageError, did_you_mean, shown
from zmysql.layout.model import DATASETS, PoolSpec, Prefer, RoleSpec, Template
from zmysql.platforms.device import MediaClass
from zmysql.zfs.model import VdevRole
from zmysql.zfs.properties import type_of_dataset_property, type_of_pool_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zmysql.layout.settings import Setting
    from zmysql.layout.toml_lines import Path
    from zmysql.zfs.properties import PropertyType

T = TypeVar("T")

# The least width of each kind. ZFS also takes raidz1 of two disks, which is a mirror that is slower.
LEAST_WIDTH = {"disk": 1, "mirror": 2, "raidz1": 3, "raidz2": 4, "raidz3": 5}
_MOST_WIDTH = 255  # VDEV_RAIDZ_MAXCHILDREN; what is still wise, the planner says
_MOST_VDEVS = 1000
# zpoolconcepts(7): RAIDZ isn't supported for the intent log, and cache devices are neither mirrored nor RAIDZ. RAIDZ of
# special and dedup is what zpool create calls an unsupported device.
_KINDS = {
    VdevRole.LOG: ("disk", "mirror"),
    VdevRole.SPECIAL: ("disk", "mirror"),
    VdevRole.DEDUP: ("disk", "mirror"),
    VdevRole.CACHE: ("disk",),
    VdevRole.SPARE: ("disk",),
}
_POOL_KEYS = ("pool", "vdevs", "properties", "datasets")
_KEYS = ("description", "when", "sources", *_POOL_KEYS, "pools")
_ROLE_KEYS = ("class", "kind", "width", "min", "fill", "prefer")
# It becomes a part of the pool's name, after a hyphen.
_POOL_KEY = re.compile(r"[a-z][a-z0-9]{0,30}")
_LONGEST_DESCRIPTION = 100  # for `zmysql templates`
_MOST_DIGITS = 18


class Checker:
    """Reads a TOML document table by table.

    It knows the template's name, the lines of its keys, and which of them a person set, for the messages: UsageError of
    one line that says where what is wrong, and the nearest right word.
    """

    def __init__(self, name: str, lines: Mapping[Path, int], settings: tuple[Setting, ...] = ()) -> None:
        self.name = name
        self.lines = lines
        self.settings = settings

    def template(self, content: Mapping[str, object], text: str) -> Template:
        """Give the template that a document is.

        Raises UsageError for the first thing that is wrong.
        """
        self.known((), content, _KEYS)
        description = self.description(content)
        when = self.of(str, ("when",), content).strip()
        sources = tuple(self.words(("sources",), content))
        pools = tuple(self.pools(content))
        self.check_datasets(pools)
        settings = tuple(setting.normal() for setting in self.settings)
        return Template(self.name, description, when, sources, pools, text, settings)

    def description(self, content: Mapping[str, object]) -> str:
        """Give the description, which is to fit a line of a list."""
        description = self.of(str, ("description",), content)
        if len(description) > _LONGEST_DESCRIPTION or not description.isprintable():
            self.fail(f"is one line of at most {_LONGEST_DESCRIPTION} characters", ("description",))
        return description

    def pools(self, content: Mapping[str, object]) -> Iterator[PoolSpec]:
        """Give the first pool, whose table is the document itself, and the others."""
        yield self.pool(None, (), content)
        others = self.of(dict, ("pools",), content) if "pools" in content else {}
        for key in others:
            if not _POOL_KEY.fullmatch(key):
                self.fail(
                    "is no key for a pool: write a lower-case letter, then more of them or digits", ("pools", key)
                )
            yield self.pool(key, ("pools", key), self.of(dict, ("pools", key), others))

    def pool(self, key: str | None, where: Path, table: Mapping[str, object]) -> PoolSpec:
        """Give one of the pools."""
        if key is not None:
            self.known(where, table, _POOL_KEYS)
        vdevs = self.of(dict, (*where, "vdevs"), table)
        self.known((*where, "vdevs"), vdevs, tuple(VdevRole))
        if VdevRole.DATA not in vdevs:
            self.fail("has no data: a pool needs data vdevs", (*where, "vdevs"))
        datasets = self.of(dict, (*where, "datasets"), table)
        self.known((*where, "datasets"), datasets, DATASETS)
        if not datasets:
            self.fail("is empty: a pool without datasets is of no use", (*where, "datasets"))
        return PoolSpec(
            key=key,
            properties=self.properties((*where, "pool"), table, type_of_pool_property),
            roles=tuple(self.role(VdevRole(role), (*where, "vdevs", role), vdevs) for role in vdevs),
            root_properties=self.properties((*where, "properties"), table, type_of_dataset_property),
            datasets={
                dataset: self.properties((*where, "datasets", dataset), datasets, type_of_dataset_property)
                for dataset in datasets
            },
            overridden=frozenset(
                ".".join(map(str, setting.path[len(where) :]))
                for setting in self.settings
                if setting.path[: len(where)] == where
            ),
        )

    def check_datasets(self, pools: tuple[PoolSpec, ...]) -> None:
        """Check that the layout has data, and each dataset in one pool only."""
        seen = set[str]()
        for pool in pools:
            where = () if pool.key is None else ("pools", pool.key)
            for dataset in pool.datasets:
                if dataset in seen:
                    self.fail("is in another pool too: mysqld has one place for each", (*where, "datasets", dataset))
                seen.add(dataset)
        if "data" not in seen:
            self.fail("has no data: a layout needs a dataset for the tables", ("datasets",))

    def role(self, role: VdevRole, where: Path, vdevs: Mapping[str, object]) -> RoleSpec:
        """Give the vdevs of one role."""
        table = self.of(dict, where, vdevs)
        self.known(where, table, _ROLE_KEYS)
        kind = self.one_of((*where, "kind"), table, _KINDS.get(role, tuple(LEAST_WIDTH)))
        width = self.number((*where, "width"), table, 1, _MOST_WIDTH)
        if width < LEAST_WIDTH[kind] or (kind == "disk" and width > 1):
            least = "1" if kind == "disk" else f"{LEAST_WIDTH[kind]} or more"
            self.fail(f"is {width}: a {kind} has width {least}", (*where, "width"), (*where, "kind"))
        min_vdevs = self.number((*where, "min"), table, 1, _MOST_VDEVS)
        fill_vdevs = self.number((*where, "fill"), table, 1, _MOST_VDEVS) if "fill" in table else None
        if fill_vdevs is not None and fill_vdevs < min_vdevs:
            self.fail(f"is {fill_vdevs}: it is at least min, {min_vdevs}", (*where, "fill"), (*where, "min"))
        classes = tuple(self.media(where, table))
        prefer = Prefer(self.one_of((*where, "prefer"), table, tuple(Prefer)))
        return RoleSpec(role, classes, kind, width, min_vdevs, fill_vdevs, prefer)

    def media(self, where: Path, table: Mapping[str, object]) -> Iterator[MediaClass]:
        """Give the classes of disks that a role takes."""
        for number, word in enumerate(self.words((*where, "class"), table)):
            self.check_word(word, tuple(MediaClass), (*where, "class", number))
            yield MediaClass(word)

    def properties(
        self, where: Path, parent: Mapping[str, object], types: Mapping[str, PropertyType]
    ) -> dict[str, str]:
        """Give the properties in a table, each written in the normal way."""
        table = self.of(dict, where, parent)
        self.known(where, table, tuple(types))
        checked = {}
        for key in table:
            value = self.of(str, (*where, key), table)
            if problem := types[key].problem(value):
                self.fail(f"is {shown(value)}: it {problem}", (*where, key))
            checked[key] = types[key].normal(value)
        return checked

    def words(self, where: Path, table: Mapping[str, object]) -> list[str]:
        """Give a list of words, which isn't empty."""
        words = self.of(list, where, table)
        if not words or not all(isinstance(word, str) for word in words):
            self.fail("is a list of words, and not empty", where)
        return words

    def number(self, where: Path, table: Mapping[str, object], least: int, most: int) -> int:
        """Give a whole number in a range."""
        number = self.of(int, where, table)
        if not least <= number <= most:
            self.fail(f"is {_value(number)}: it is from {least} to {most}", where)
        return number

    def one_of(self, where: Path, table: Mapping[str, object], words: Iterable[str]) -> str:
        """Give a word that is one of some."""
        word = self.of(str, where, table)
        self.check_word(word, words, where)
        return word

    def check_word(self, word: str, words: Iterable[str], where: Path) -> None:
        """Fail for a word that is none of some."""
        words = tuple(words)
        if word not in words:
            self.fail(f"is {shown(word)}{did_you_mean(word, words)}; it is one of {', '.join(words)}", where)

    def of(self, kind: type[T], where: Path, table: Mapping[str, object]) -> T:
        """Give the value at the last key of a path, which is in `table`, if it is of a kind."""
        key = str(where[-1])
        if key not in table:
            self.fail(f"{_dotted(where)} is missing", where[:-1], named=False)
        value = table[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            names = {str: "text, in quotes", int: "a whole number", list: "a list", dict: "a table"}
            self.fail(f"is {_value(value)}: it is {names[kind]}", where)
        return value

    def known(self, where: Path, table: Mapping[str, object], keys: Iterable[str]) -> None:
        """Fail for the first key in a table that isn't one of some."""
        keys = tuple(keys)
        for key in table:
            if key not in keys:
                path = (*where, key)
                near = did_you_mean(key, keys)
                self.fail(f"unknown key {_dotted(path)}{near}; known are {', '.join(keys)}", path, named=False)

    def fail(self, message: str, *paths: Path, named: bool = True) -> NoReturn:
        """Raise UsageError about the first of some paths, or about the one of them that a person set."""
        about = f"{_dotted(paths[0])} " if named else ""
        raise UsageError(f"{self.place(*paths)}: {about}{message}")

    def place(self, *paths: Path) -> str:
        """Name the override that one of the paths comes from, or else the template and the line of the first."""
        for path in paths:
            for setting in self.settings:
                is_its = path[: len(setting.path)] == setting.path
                made_it = path not in self.lines and setting.path[: len(path)] == path and path
                if is_its or made_it:
                    return str(setting)
        path = paths[0]
        while path and path not in self.lines:
            path = path[:-1]
        return f"template {self.name}, line {self.lines[path]}" if path else f"template {self.name}"


def _dotted(path: Path) -> str:
    """Give a path as in TOML, with quotes where a key needs them."""
    return ".".join(str(key) if re.fullmatch(r"[\w-]{1,80}", str(key), re.ASCII) else shown(str(key)) for key in path)


def _value(value: object) -> str:
    """Give a wrong value as it can stand in a message of one line."""
    match value:
        case str():
            return shown(value)
        case bool():
            return str(value).lower()
        case int():
            return str(value) if abs(value) < 10**_MOST_DIGITS else "a huge number"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return shown(str(value))

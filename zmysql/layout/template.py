"""Templates: one TOML file a layout, checked strictly, since a misspelt key would silently lay out something else."""

from __future__ import annotations

import difflib
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, NoReturn, TypeVar

from zmysql.errors import UsageError
from zmysql.layout.model import PoolSpec, Prefer, RoleSpec, Template
from zmysql.platforms.device import MediaClass
from zmysql.zfs.model import VdevRole
from zmysql.zfs.properties import type_of_dataset_property, type_of_pool_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zmysql.zfs.properties import Choice, PowerOfTwo

T = TypeVar("T")

KINDS = ("disk", "mirror")
# my.cnf needs to know what each is for, so these are all that a template may have.
DATASETS = ("data", "redo", "binlog", "tmp")
_KEYS = ("description", "when", "sources", "pool", "vdevs", "properties", "datasets")
_ROLE_KEYS = ("class", "kind", "width", "min", "fill", "prefer")


def template_names() -> tuple[str, ...]:
    """Give the names of the templates that come with zmysql."""
    found = (entry.name for entry in files("zmysql.templates").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def load_template(name: str) -> Template:
    """Give a template by name.

    Raises UsageError for an unknown name, with the nearest.
    """
    names = template_names()
    if name not in names:
        raise UsageError(f"there is no template {name!r}{_nearest(name, names)}; there are {', '.join(names)}")
    return parse_template(name, (files("zmysql.templates") / f"{name}.toml").read_text(encoding="utf-8"))


def parse_template(name: str, text: str) -> Template:
    """Give the template in a text.

    Raises UsageError that names the first wrong key or value, and the nearest right one.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"template {name}: {error}") from None
    return _Checker(name).template(content, text)


class _Checker:
    """Reads a parsed TOML document table by table, and knows the template's name for the messages."""

    def __init__(self, name: str) -> None:
        self.name = name

    def template(self, content: Mapping[str, object], text: str) -> Template:
        self.known("", content, _KEYS)
        vdevs = self.of(dict, "vdevs", content)
        self.known("vdevs", vdevs, tuple(VdevRole))
        roles = tuple(self.role(VdevRole(role), self.of(dict, role, vdevs, "vdevs.")) for role in vdevs)
        if VdevRole.DATA not in vdevs:
            self.fail("vdevs.data is missing: a pool needs data vdevs")
        datasets = self.of(dict, "datasets", content)
        self.known("datasets", datasets, DATASETS)
        for dataset in DATASETS:
            if dataset not in datasets:
                self.fail(f"datasets.{dataset} is missing")
        return Template(
            name=self.name,
            description=self.of(str, "description", content),
            when=self.of(str, "when", content).strip(),
            sources=tuple(self.words("sources", content)),
            pool=PoolSpec(
                properties=self.properties("pool", self.of(dict, "pool", content), type_of_pool_property),
                roles=roles,
                root_properties=self.dataset("properties", self.of(dict, "properties", content)),
                datasets={key: self.dataset(f"datasets.{key}", self.of(dict, key, datasets)) for key in datasets},
            ),
            text=text,
        )

    def role(self, role: VdevRole, table: Mapping[str, object]) -> RoleSpec:
        where = f"vdevs.{role}."
        self.known(where.rstrip("."), table, _ROLE_KEYS)
        kind = self.one_of(where + "kind", self.of(str, "kind", table, where), KINDS)
        width = self.of(int, "width", table, where)
        if (kind == "disk") != (width == 1) or width < 1:
            self.fail(f"{where}width is {width}: a disk has width 1, a mirror 2 or more")
        min_vdevs = self.of(int, "min", table, where)
        fill_vdevs = self.of(int, "fill", table, where) if "fill" in table else None
        if min_vdevs < 1 or (fill_vdevs is not None and fill_vdevs < min_vdevs):
            self.fail(f"{where}min is {min_vdevs}: it is at least 1, and `fill` at least `min`")
        media = [self.one_of(where + "class", word, tuple(MediaClass)) for word in self.words("class", table, where)]
        prefer = self.one_of(where + "prefer", self.of(str, "prefer", table, where), tuple(Prefer))
        classes = tuple(MediaClass(word) for word in media)
        return RoleSpec(role, classes, kind, width, min_vdevs, fill_vdevs, Prefer(prefer))

    def dataset(self, where: str, table: Mapping[str, object]) -> dict[str, str]:
        return self.properties(where, table, type_of_dataset_property)

    def properties(
        self, where: str, table: Mapping[str, object], types: Mapping[str, Choice | PowerOfTwo]
    ) -> dict[str, str]:
        self.known(where, table, tuple(types))
        checked = {}
        for key in table:
            value = self.of(str, key, table, where + ".")
            if problem := types[key].problem(value):
                self.fail(f"{where}.{key} is {value!r}: it {problem}")
            checked[key] = value
        return checked

    def words(self, key: str, table: Mapping[str, object], where: str = "") -> list[str]:
        words = self.of(list, key, table, where)
        if not words or not all(isinstance(word, str) for word in words):
            self.fail(f"{where}{key} is a list of words, and not empty")
        return words

    def of(self, kind: type[T], key: str, table: Mapping[str, object], where: str = "") -> T:
        if key not in table:
            self.fail(f"{where}{key} is missing")
        value = table[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            names = {str: "text", int: "a whole number", list: "a list", dict: "a table"}
            self.fail(f"{where}{key} is {value!r}: it is {names[kind]}")
        return value

    def one_of(self, where: str, word: str, words: Iterable[str]) -> str:
        words = tuple(words)
        if word not in words:
            self.fail(f"{where} is {word!r}{_nearest(word, words)}; it is one of {', '.join(words)}")
        return word

    def known(self, where: str, table: Mapping[str, object], keys: Iterable[str]) -> None:
        keys = tuple(keys)
        for key in table:
            if key not in keys:
                path = f"{where}.{key}" if where else key
                self.fail(f"unknown key {path}{_nearest(key, keys)}; known are {', '.join(keys)}")

    def fail(self, message: str) -> NoReturn:
        raise UsageError(f"template {self.name}: {message}")


def _nearest(word: str, words: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(words), n=1, cutoff=0.5)
    return f", did you mean {near[0]}?" if near else ""

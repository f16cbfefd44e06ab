"""Reads the catalogue of devices, and a person's own prices over it, strictly: a wrong price is wrong advice."""

from __future__ import annotations

import math
import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, NoReturn

from zmysql.errors import UsageError, did_you_mean, shown
from zmysql.layout.toml_lines import key_lines
from zmysql.layout.toml_text import toml_text
from zmysql.locality.devices import GB, GIB, Catalogue, DeviceModel, Media, Memory, ReadLatency, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from zmysql.layout.toml_lines import Path as Keys

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,60}")
_MEMORY_FIGURES = ("price_per_gib", "module_gib", "most_gib")
_NEEDED = ("latency_us", "iops", "bandwidth_mb_per_second")
_OPTIONAL = ("latency_p99_us", "capacity_gb", "price_per_gb", "drive_writes_per_day", "warranty_years")
_FIGURES = (*_NEEDED, *_OPTIONAL)
_WORDS = ("description", "media")
_FREE = ("price_per_gib", "price_per_gb")  # what may be 0: somebody has one lying about
_LARGEST = 1e12

Figure = tuple[float, Source]
Table = dict[str, Figure | str]


def load_catalogue(prices: Path | None = None) -> Catalogue:
    """Give the catalogue that comes with zmysql, with what a file of a person's own changes in it or adds.

    Raises UsageError that names the file, the line and the nearest right word, for the first thing that is wrong.
    """
    shipped = (files("zmysql.locality") / "catalogue.toml").read_text(encoding="utf-8")
    memory, devices = _Checker("catalogue.toml", shipped).tables()
    if prices is not None:
        checker = _Checker(str(prices), toml_text(prices, f"--prices {prices}", "list of prices"))
        more_memory, more_devices = checker.tables()
        memory |= more_memory
        for name, table in more_devices.items():
            devices[name] = devices.get(name, {}) | table
            checker.check_whole(name, devices[name])
    return Catalogue({name: _device(name, table) for name, table in devices.items()}, _memory(memory))


def _memory(table: Table) -> Memory:
    figures, sources = _split(table)
    module_bytes, most_bytes = (round(figures[key] * GIB) for key in ("module_gib", "most_gib"))
    return Memory(figures["price_per_gib"], module_bytes, most_bytes, sources)


def _device(name: str, table: Table) -> DeviceModel:
    figures, sources = _split(table)
    mean_us = figures["latency_us"]
    capacity_gb = figures.get("capacity_gb")
    return DeviceModel(
        name=name,
        description=str(table.get("description", name)),
        media=Media(str(table["media"])),
        latency=ReadLatency(mean_us * 1e3, figures.get("latency_p99_us", mean_us) * 1e3),
        iops=figures["iops"],
        bandwidth_bytes_per_second=figures["bandwidth_mb_per_second"] * 1e6,
        capacity_bytes=None if capacity_gb is None else round(capacity_gb * GB),
        price_per_gb=figures.get("price_per_gb"),
        drive_writes_per_day=figures.get("drive_writes_per_day"),
        warranty_years=figures.get("warranty_years"),
        sources=sources,
    )


def _split(table: Table) -> tuple[dict[str, float], dict[str, Source]]:
    figures = {key: found for key, found in table.items() if not isinstance(found, str)}
    return {key: value for key, (value, _) in figures.items()}, {key: source for key, (_, source) in figures.items()}


class _Checker:
    """Reads one document; each message names the document and the line."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        try:
            self.content = tomllib.loads(text)
            self.lines = key_lines(text)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"{name}: {error}") from None
        except RecursionError:
            raise UsageError(f"{name}: it is nested too deeply") from None
        except ValueError as error:  # from tomllib, for a number of thousands of digits
            raise UsageError(f"{name}: {error}") from None

    def tables(self) -> tuple[Table, dict[str, Table]]:
        """Give what is said of memory, and of each device."""
        self.known((), self.content, ("memory", "devices"))
        memory: Table = dict(self.figures(("memory",), self.table(("memory",), self.content), _MEMORY_FIGURES))
        found = self.table(("devices",), self.content)
        return memory, {name: self.device(("devices", name), found) for name in found}

    def device(self, where: Keys, parent: Mapping[str, object]) -> Table:
        name = str(where[-1])
        if not _NAME.fullmatch(name):
            self.fail(where, f"{shown(name)} is no name for a device: write lower-case letters, digits, - . and _")
        content = self.table(where, parent)
        found: Table = dict(self.figures(where, content, _FIGURES, _WORDS))
        for key in _WORDS:
            if key in content:
                found[key] = self.word((*where, key), content[key])
        return found

    def check_whole(self, name: str, table: Table) -> None:
        """Fail for a device that isn't in the catalogue, and lacks what a device must have."""
        for key in ("media", *_NEEDED):
            if key not in table:
                self.fail(("devices", name), f"devices.{name}.{key} is missing: the catalogue has no device {name}")

    def figures(
        self, where: Keys, table: Mapping[str, object], keys: tuple[str, ...], words: tuple[str, ...] = ()
    ) -> Iterator[tuple[str, Figure]]:
        self.known(where, table, (*keys, *words))
        for key in keys:
            if key in table:
                yield key, self.figure((*where, key), table[key])

    def figure(self, where: Keys, value: object) -> Figure:
        """Give a number, bare or as {value, source, year}."""
        if not isinstance(value, dict):
            return self.number(where, value), Source(self.name)
        self.known(where, value, ("value", "source", "year"))
        if "value" not in value:
            self.fail(where, f"{_dotted(where)}.value is missing")
        source, year = value.get("source", self.name), value.get("year")
        if not isinstance(source, str) or not source.isprintable():
            self.fail((*where, "source"), f"{_dotted(where)}.source is text in quotes, of one line")
        if year is not None and (not isinstance(year, int) or isinstance(year, bool)):
            self.fail((*where, "year"), f"{_dotted(where)}.year is a whole number")
        return self.number((*where, "value"), value["value"]), Source(source, year)

    def number(self, where: Keys, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(where, f"{_dotted(where)} is a number, such as 0.13")
        free = any(key in _FREE for key in where)
        if not (math.isfinite(value) and (0 if free else 1e-6) <= value <= _LARGEST):
            self.fail(
                where, f"{_dotted(where)} is {value!s:.30}: it is {'0 or more' if free else 'above 0'}, and finite"
            )
        return float(value)

    def word(self, where: Keys, value: object) -> str:
        if not isinstance(value, str) or not value.isprintable():
            self.fail(where, f"{_dotted(where)} is text in quotes, of one line")
        if where[-1] == "media" and value not in tuple(Media):
            near = did_you_mean(value, tuple(Media))
            self.fail(where, f"{_dotted(where)} is {shown(value)}{near}; it is one of {', '.join(Media)}")
        return value

    def table(self, where: Keys, parent: Mapping[str, object]) -> dict[str, object]:
        value = parent.get(str(where[-1]), {})
        if not isinstance(value, dict):
            self.fail(where, f"{_dotted(where)} is a table: write [{_dotted(where)}]")
        return value

    def known(self, where: Keys, table: Mapping[str, object], keys: Iterable[str]) -> None:
        keys = tuple(keys)
        for key in table:
            if key not in keys:
                path = (*where, key)
                near = did_you_mean(key, keys)
                self.fail(path, f"unknown key {_dotted(path)}{near}; known are {', '.join(keys)}")

    def fail(self, where: Keys, message: str) -> NoReturn:
        while where and where not in self.lines:
            where = where[:-1]
        line = f", line {self.lines[where]}" if where else ""
        raise UsageError(f"{self.name}{line}: {message}")


def _dotted(where: Keys) -> str:
    return ".".join(str(key) if re.fullmatch(r"[\w.-]{1,80}", str(key), re.ASCII) else shown(str(key)) for key in where)

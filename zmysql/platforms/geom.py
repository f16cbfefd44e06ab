"""GEOM's tree: what FreeBSD's disks offer, and all that stands on them: geom(4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from zmysql.errors import ZmysqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_NO_DISK = re.compile(r"(cd|fd)\d+")


@dataclass(frozen=True, slots=True)
class Provider:
    """What a geom offers to others: a disk, a partition, a label; open means that something reads or writes it."""

    key: str
    name: str
    size_bytes: int
    sector_bytes: int
    stripe_bytes: int
    is_open: bool
    config: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Geom:
    """A node of the tree: its class (DISK, PART, LABEL, VFS, …), name, and what it offers."""

    kind: str
    name: str
    scheme: str | None
    providers: tuple[Provider, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """GEOM's tree. `above` are the geoms on top of a provider by its key, each with whether it has it open."""

    disks: tuple[Provider, ...]
    above: Mapping[str, Sequence[tuple[Geom, bool]]]

    def over(self, provider: Provider) -> Sequence[tuple[Geom, bool]]:
        """Give the geoms on top of a provider."""
        return self.above.get(provider.key, ())

    def all_over(self, provider: Provider) -> Iterator[Provider]:
        """Give every provider that lies on this one, however far up."""
        for geom, _ in self.over(provider):
            for upper in geom.providers:
                yield upper
                yield from self.all_over(upper)


def parse_tree(confxml: str) -> Tree:
    """Give GEOM's tree from `sysctl -n kern.geom.confxml`."""
    try:
        mesh = ET.fromstring(confxml)  # noqa: S314 - the kernel's own text, from a machine that we act on as root
    except ET.ParseError as error:
        raise ZmysqlError(f"`sysctl kern.geom.confxml` can't be read: {error}") from None
    above: dict[str, list[tuple[Geom, bool]]] = {}
    found = list[Provider]()
    for of_class in mesh.iterfind("class"):
        kind = of_class.findtext("name", "")
        for node in of_class.iterfind("geom"):
            providers = tuple(_provider(one) for one in node.iterfind("provider"))
            geom = Geom(kind, node.findtext("name", ""), node.findtext("config/scheme"), providers)
            if kind == "DISK":
                found += providers
            for consumer in node.iterfind("consumer"):
                reference = consumer.find("provider")
                below = "" if reference is None else reference.get("ref", "")
                above.setdefault(below, []).append((geom, _is_open(consumer)))
    real = [one for one in found if one.size_bytes > 0 and not _NO_DISK.fullmatch(one.name)]
    return Tree(tuple(sorted(real, key=lambda disk: (len(disk.name), disk.name))), above)


def _provider(node: ET.Element) -> Provider:
    config = node.find("config")
    return Provider(
        key=node.get("id", ""),
        name=node.findtext("name", ""),
        size_bytes=int(node.findtext("mediasize", "0")),
        sector_bytes=int(node.findtext("sectorsize", "0")),
        stripe_bytes=int(node.findtext("stripesize", "0")),
        is_open=_is_open(node),
        config={} if config is None else {one.tag: (one.text or "").strip() for one in config},
    )


def _is_open(node: ET.Element) -> bool:
    """Tell whether a mode such as r1w1e2 counts any reader, writer or sole owner."""
    return node.findtext("mode") != "r0w0e0"

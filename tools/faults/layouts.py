"""One layout of each template, side by side on disks of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zmysql.layout.template import load_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zmysql.layout.model import Template
    from zmysql.platforms.device import MediaClass


@dataclass(frozen=True, slots=True)
class Layout:
    """What a person would type after `zmysql create-pool`, and the pools that it makes."""

    name: str
    template: str
    named: tuple[str, ...]
    pools: tuple[str, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        """The command's arguments, but for where and how it runs."""
        return (self.name, "--template", self.template, *self.named)


def needed(templates: Iterable[str]) -> Counter[MediaClass]:
    """Give how many disks of each class the templates want at least."""
    return Counter(media for name in templates for *_, media in _wanted(load_template(name)))


def side_by_side(templates: Iterable[str], free: Mapping[MediaClass, Iterable[str]]) -> tuple[Layout, ...]:
    """Give each template a layout on the next free disks of the classes that it wants; `free` has their names."""
    left = {media: iter(names) for media, names in free.items()}
    layouts = []
    for number, name in enumerate(templates):
        template, called = load_template(name), f"pool{number}"
        named = tuple(
            word for option, key, media in _wanted(template) for word in (option, f"{key}{next(left[media])}")
        )
        layouts.append(Layout(called, name, named, tuple(spec.name_of_pool(called) for spec in template.pools)))
    return tuple(layouts)


def _wanted(template: Template) -> Iterator[tuple[str, str, MediaClass]]:
    """Yield for each disk its option, what stands before its name, and its class: the first that the role takes."""
    for spec in template.pools:
        for role in spec.roles:
            key = f"{spec.key}:" if spec.key else ""
            yield from [(f"--{role.role}", key, role.classes[0])] * (role.width * role.min_vdevs)

"""The documents name what there is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from zmysql.cli.main import cli
from zmysql.layout.template import template_names

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
MANUAL = (ROOT / "man" / "zmysql.8").read_text()


def command_of(words: tuple[str, ...]) -> click.Command:
    command: click.Command = cli
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    return command


def commands(group: click.Group, *above: str) -> Iterator[tuple[str, ...]]:
    for name in group.list_commands(click.Context(group)):
        command = command_of((*above, name))
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)
        else:
            yield (*above, name)


@pytest.mark.parametrize("words", list(commands(cli)), ids=" ".join)
def test_every_command_is_in_the_manual_and_says_what_it_does(words: tuple[str, ...]) -> None:
    assert command_of(words).help
    if words[0] == "testbed":
        assert words[1] in MANUAL.split(".It Cm testbed")[1]
    else:
        assert f".It Cm {' '.join(words)}\n" in MANUAL


def test_every_template_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [name for name in template_names() if f"`{name}`" not in readme] == []


@pytest.mark.parametrize("command", [(), ("testbed",), ("trace",), ("locality",)])
def test_a_group_alone_shows_its_commands(command: tuple[str, ...]) -> None:
    group = command_of(command)
    assert isinstance(group, click.Group)
    context = click.Context(group)
    assert group.get_help(context).count("\n  ") > len(group.list_commands(context)) > 1

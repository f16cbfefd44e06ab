"""A group whose commands are imported when they are called: each needs a part of zmysql only, and starts sooner."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping


class LazyGroup(click.Group):
    """A group that knows its commands by name and place, `module:attribute`."""

    def __init__(self, *args: Any, places: Mapping[str, str], **more: Any) -> None:  # noqa: ANN401 - click's own
        """Take the places of the commands, and what click.Group takes."""
        super().__init__(*args, **more)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names, sorted."""
        return sorted({*self._places, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, and give it; None where there is none of the name."""
        place = self._places.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = place.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

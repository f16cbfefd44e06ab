"""`zmysql devices`, `templates`, `create-pool` and `mycnf`."""

from __future__ import annotations

import click

commands: tuple[click.Command, ...] = ()  # noqa: TC002

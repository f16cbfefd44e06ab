"""`zmysql trace`."""

from __future__ import annotations

import click


@click.group()
def trace() -> None:
    """Trace."""

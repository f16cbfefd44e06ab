"""`zmysql locality`."""

from __future__ import annotations

import click


@click.group()
def locality() -> None:
    """Locality."""

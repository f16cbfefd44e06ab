"""`zmysql testbed`."""

from __future__ import annotations

import click


@click.group()
def testbed() -> None:
    """Testbed."""

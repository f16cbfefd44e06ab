"""The commands, one module a group: the only code that composes the rest."""

from __future__ import annotations

from zmysql.cli.main import main

__all__ = ["main"]

"""Runs the `zmysql` command as a person does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from zmysql.host import Local

if TYPE_CHECKING:
    from zmysql.host import Completed

_MAIN = "from zmysql.cli.main import main; main()"


def zmysql(*argv: object, stdin: str | None = None) -> Completed:
    """Give what a command line of zmysql said, and its exit status."""
    return Local().run([sys.executable, "-c", _MAIN, *map(str, argv)], stdin=stdin, check=False)


def refusal(*argv: object, stdin: str | None = None) -> str:
    """Give the one line with which zmysql refuses; it must be one, and nothing else may be said."""
    done = zmysql(*argv, stdin=stdin)
    assert done.exit_status in (1, 2), done
    assert done.stdout == "", done
    assert done.stderr.startswith("zmysql: "), done
    assert done.stderr.count("\n") == 1, done
    return done.stderr.removeprefix("zmysql: ").rstrip("\n")

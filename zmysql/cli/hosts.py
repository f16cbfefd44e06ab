"""`--host`: where a command looks and acts."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from zmysql.errors import UsageError
from zmysql.host import Local, Ssh
from zmysql.testbed.vm import Testbed

if TYPE_CHECKING:
    from collections.abc import Callable

    from zmysql.host import Host

P = ParamSpec("P")
R = TypeVar("R")

# A name that begins with a hyphen would be an option to ssh.
_SSH = re.compile(r"ssh://(?P<where>(?:[\w.][\w.-]*@)?(?:[\w][\w.-]*|\[[0-9a-fA-F:]+\]))(?::(?P<port>\d{1,5}))?/?")
_TESTBED = "testbed:"


def parse_host(text: str) -> Host:
    """Give the machine that `ssh://[user@]machine[:port]` or `testbed:NAME` means.

    Raises UsageError for other texts, and ZmysqlError for a testbed that isn't up.
    """
    if text.startswith(_TESTBED):
        return Testbed(text.removeprefix(_TESTBED)).host()
    match = _SSH.fullmatch(text)
    if match is None:
        raise UsageError(f"--host {text!r}: write ssh://[user@]machine[:port], or testbed:NAME")
    where = match["where"].replace("[", "").replace("]", "")
    return Ssh(where, options=("-o", f"Port={match['port']}") if match["port"] else (), share=True)


def on_host(command: Callable[P, R]) -> Callable[P, R]:
    """Add `--host` to a command, which takes it as the parameter `host`."""
    option = click.option(
        "--host",
        metavar="HOST",
        default=Local(),
        type=lambda given: given if not isinstance(given, str) else parse_host(given),
        help="ssh://[user@]machine[:port], or testbed:NAME; otherwise this machine.",
    )
    return functools.wraps(command)(option(command))

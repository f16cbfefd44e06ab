"""The `zmysql` command: its groups, and how errors leave it."""

from __future__ import annotations

import sys

import click

from zmysql import __version__
from zmysql.cli.lazy import LazyGroup
from zmysql.errors import ZmysqlError

_PLACES = {
    "check": "zmysql.cli.check:check",
    "create-pool": "zmysql.cli.create_pool:create_pool",
    "devices": "zmysql.cli.layout:devices",
    "locality": "zmysql.cli.locality:locality",
    "mycnf": "zmysql.cli.mycnf:mycnf",
    "redo-size": "zmysql.cli.mycnf:redo_size",
    "snapshot": "zmysql.cli.snapshot:snapshot",
    "templates": "zmysql.cli.layout:templates",
    "testbed": "zmysql.cli.testbed:testbed",
    "trace": "zmysql.cli.trace:trace",
    "udev-rules": "zmysql.cli.mycnf:udev_rules",
}


@click.group(cls=LazyGroup, places=_PLACES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="zmysql")
def cli() -> None:
    """Lay out ZFS pools for MySQL, trace what MySQL reads again, and judge what would pay."""


def main() -> None:
    """Run the command line; an error is one line on standard error and an exit status, never a traceback."""
    try:
        status = cli(standalone_mode=False)
    except click.ClickException as error:
        # click 8.2 and later raise it with the help as its message; 8.1, which Debian 13 has, prints the help itself.
        is_help = type(error).__name__ == "NoArgsIsHelpError"
        status = _say(error.format_message(), error.exit_code, prefix="" if is_help else "zmysql: ")
    except click.Abort:
        status = _say("interrupted", 130)
    except ZmysqlError as error:
        status = _say(str(error), error.exit_status)
    except BrokenPipeError:  # `zmysql … | head` is no error
        sys.stderr.close()
        status = 0
    sys.exit(status)


def _say(message: str, status: int, prefix: str = "zmysql: ") -> int:
    click.echo(prefix + message, err=True)
    return status

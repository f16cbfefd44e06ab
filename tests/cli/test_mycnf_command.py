"""mycnf, udev-rules and redo-size where they can't do what is asked; what they print is seen in the guest."""

from __future__ import annotations

import pytest
from running import refusal, zmysql


def test_an_unknown_server_is_refused_with_those_that_are_known() -> None:
    message = refusal("mycnf", "tank", "--server", "mysql-6.0", "--memory", "2G")
    assert message.startswith("unknown server 'mysql-6.0'; known are mysql-9.7, mysql-8.4, mysql-8.0, mysql-5.7, ")
    assert "mariadb-10.11" in message


@pytest.mark.parametrize("options", [("--explain", "-j"), ("--arc", "--explain"), ("--arc", "-j")])
def test_one_thing_is_printed_at_a_time(options: tuple[str, ...]) -> None:
    assert "ask for one of them" in refusal("mycnf", "tank", "--server", "mysql-9.7", *options)


@pytest.mark.parametrize("command", [("mycnf", "--server", "mysql-9.7"), ("udev-rules",)])
@pytest.mark.parametrize("pool", ["mirror-0", "a b", "tank/data", "-rf", "x\ny"])
def test_a_name_that_no_pool_has_is_refused(command: tuple[str, ...], pool: str) -> None:
    assert "pool name" in (message := refusal(*command, "--", pool)) or "reserved" in message


@pytest.mark.parametrize("dsn", ["", "localhost", "mysql://root:geheim@db/x", "mysql://db:port/"])
def test_what_is_no_address_of_a_server_is_refused_without_its_password(dsn: str) -> None:
    assert "geheim" not in refusal("redo-size", "--mysql", dsn)


def test_redo_size_measures_a_minute_at_least() -> None:
    done = zmysql("redo-size", "--mysql", "mysql://root@db/", "--minutes", 0)
    assert (done.exit_status, done.stdout) == (2, "")

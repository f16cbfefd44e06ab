"""Finding mysqld."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zmysql.errors import UsageError
from zmysql.host import Local
from zmysql.mysql.process import Server, find_server, parse_servers, server_version

MACHINE = Path(__file__).parents[1] / "machines" / "debian13-dtrace2.0"


def test_servers_are_found_by_the_name_of_their_process() -> None:
    found = parse_servers((MACHINE / "servers").read_text())
    assert found == (Server(3872, "mysqld"), Server(3936, "mariadbd"))


def test_no_server() -> None:
    assert parse_servers("") == ()


def test_a_process_that_is_named_is_taken_whatever_it_is() -> None:
    server = find_server(Local(), os.getpid())
    assert server.pid == os.getpid()
    assert server_version(Local(), server) is None


def test_a_process_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="no process 4194304 on this machine"):
        find_server(Local(), 4194304)  # PID_MAX_LIMIT of 64 bit Linux, which no process gets

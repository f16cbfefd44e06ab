"""What `zmysql snapshot` refuses before it looks at the machine."""

from __future__ import annotations

import pytest
from running import refusal, zmysql


def test_the_commands_are_there() -> None:
    said = zmysql("snapshot", "--help").stdout
    assert [word for word in ("create", "list", "rollback", "hold", "release", "destroy") if word not in said] == []


@pytest.mark.parametrize(("command", "name"), [("create", "-rf"), ("rollback", "a\nb"), ("destroy", "a@b")])
def test_a_name_that_is_none(command: str, name: str) -> None:
    assert f"the name of a snapshot {name!r}: use letters" in refusal("snapshot", command, "--", "tank", name)


@pytest.mark.parametrize("pool", ["-rf", "a\nb", "a/b"])
def test_a_layout_that_is_none(pool: str) -> None:
    assert f"{pool!r} is no pool name" in refusal("snapshot", "list", "--", pool)


def test_a_tag_that_is_none() -> None:
    assert "a tag '-r': use letters" in refusal("snapshot", "hold", "--", "tank", "a", "-r")


def test_an_address_that_is_none_is_not_repeated() -> None:
    said = refusal("snapshot", "create", "tank", "--consistent", "--mysql", "root:hunter2@db1")
    assert "no address of a MySQL server" in said
    assert "hunter2" not in said


def test_a_server_without_a_lock() -> None:
    assert "say --consistent too" in refusal("snapshot", "create", "tank", "--mysql", "mysql://")


def test_json_and_lines_at_once() -> None:
    assert "-j and -H" in refusal("snapshot", "list", "tank", "-j", "-H")

"""Addresses of servers, and what the client program prints."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from captures import MACHINES
from hypothesis import given
from hypothesis import strategies as st

from zmysql.errors import UsageError, ZmysqlError
from zmysql.host import Local
from zmysql.mysql.client import Dsn, parse_batch, parse_dsn, query, session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("mysql://", Dsn()),
        ("mysql:///", Dsn()),
        ("mysql://root@/", Dsn(user="root")),
        ("mysql://db1", Dsn(host="db1")),
        ("mysql://backup:a%40b%2Fc%3A@db1:3307/", Dsn("backup", "a@b/c:", "db1", 3307)),
        ("mysql://backup:@[::1]/", Dsn("backup", "", "::1")),
        ("mysql:///?socket=/run/my%20sql/a+b.sock", Dsn(socket="/run/my sql/a+b.sock")),
        (
            "mysql://root@localhost/?socket=/s&defaults-file=/etc/x",
            Dsn("root", None, "localhost", None, "/s", "/etc/x"),
        ),
    ],
)
def test_an_address(text: str, meant: Dsn) -> None:
    assert parse_dsn(text) == meant


@given(st.text(), st.text(min_size=1))
def test_whatever_is_encoded_comes_back(user: str, password: str) -> None:
    dsn = parse_dsn(f"mysql://{quote(user, safe='')}:{quote(password, safe='')}@db1/")
    assert (dsn.user, dsn.password) == (user, password)


SECRET = "hunter2"  # noqa: S105 - stands for one


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no address"),
        (f"root:{SECRET}@db1", "no address"),
        (f"http://root:{SECRET}@db1/", "no address"),
        (f"mysql://root:{SECRET}\n@db1/", "no address"),
        (f"mysql://root:{SECRET}@db1:0x5/", "can't be read"),
        (f"mysql://root:{SECRET}@db1:99999/", "can't be read"),
        (f"mysql://root:{SECRET}%ff@db1/", "can't be read"),
        (f"mysql://root:{SECRET}@[db1/", "can't be read"),
        (f"mysql://root:{SECRET}@db1/?socket", "can't be read"),
        (f"mysql://root:{SECRET}@db1/shop", "names no database"),
        (f"mysql://root:a/{SECRET}@db1/", "names no database|can't be read"),
        (f"mysql://root:a#{SECRET}@db1/", "names no database|can't be read"),
        (f"mysql://root:{SECRET}@db1/?ssl=1", "unknown parameters"),
        (f"mysql://root:{SECRET}@:3306/", "a port without a host"),
        (f"mysql://root:{SECRET}@db1/?socket=/s", "a host and a socket"),
        (f"mysql://root:{SECRET}@/?defaults-file=/f", "a password and a defaults-file"),
    ],
)
def test_what_is_no_address_is_said_without_the_password(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        parse_dsn(text)
    assert SECRET not in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text())
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for tried in (text, f"mysql://{text}"):
        try:
            parse_dsn(tried)
        except UsageError:
            continue


def test_a_password_is_in_no_repr() -> None:
    dsn = parse_dsn(f"mysql://root:{SECRET}@db1/")
    assert SECRET not in repr(dsn) + str(dsn)


@pytest.mark.parametrize("machine", ["mariadb-10.11-client", "mysql-9.7-client"])
def test_the_rows_that_the_client_prints(machine: str) -> None:
    # As Host.run decodes it.
    first, second = parse_batch((MACHINES / machine / "batch").read_bytes().decode(errors="replace"))
    assert first == {
        "n": "1",
        "lines": "tab\tnewline\nend",
        "slash": "back\\slash \\n",
        "nul": "nul\0l",
        "cr": "cr\r\nlf",
        "empty": "",
        "nothing": None,
        "word": None,  # the text NULL: the client prints both alike
        "utf8": "ö€😀",
        "bytes": "�\0�",
        "a\\\\tb": "x",  # names aren't escaped
    }
    assert list(second.values()) == ["2", "", "", "", "", "", None, "", "", "", ""]


def test_no_rows() -> None:
    assert parse_batch("") == ()


def test_a_row_that_does_not_fit_its_headings() -> None:
    with pytest.raises(ZmysqlError, match="a row of 2 fields under 1 columns"):
        parse_batch("a\nb\tc\n")


def test_a_host_without_a_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    none = "no mysql or mariadb client on this machine"
    with pytest.raises(ZmysqlError, match=none):
        query(Local(), Dsn(), "SELECT 1")
    with pytest.raises(ZmysqlError, match=none), session(Local(), Dsn()) as opened:
        opened.query("SELECT 1")

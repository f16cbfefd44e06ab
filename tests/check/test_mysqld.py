"""Where a server keeps its files, and how its variables are changed for good."""

from __future__ import annotations

from dataclasses import replace

import pytest
from captures import capture

from zmysql.check.mysqld import Server, wanted_places
from zmysql.mysql.client import Dsn, parse_batch

VARIABLES = {
    row["Variable_name"] or "": row["Value"] or ""
    for row in parse_batch(capture("debian13-zfs2.3-serving", "variables"))
}
FAULTY = {
    row["Variable_name"] or "": row["Value"] or ""
    for row in parse_batch(capture("debian13-zfs2.3-faulty", "variables"))
}
SERVER = Server(Dsn(user="root", socket="/run/a.sock"), VARIABLES)


def test_places_are_directories_and_the_first_system_tablespace() -> None:
    assert wanted_places(VARIABLES) == {
        "data": ("datadir", "/tank/mysql/data"),
        "system": ("innodb_data_file_path", "/tank/mysql/data/ibdata1"),
        "redo": ("innodb_log_group_home_dir", "/tank/mysql/redo"),
        "undo": ("innodb_undo_directory", "/tank/mysql/data"),
        "doublewrite": ("innodb_doublewrite_dir", "/tank/mysql/data"),
        "tmp": ("tmpdir", "/tank/mysql/tmp"),
        "binlog": ("log_bin_basename", "/tank/mysql/binlog"),
        "relay": ("relay_log_basename", "/tank/mysql/relay"),
    }
    assert wanted_places(FAULTY)["redo"] == ("innodb_log_group_home_dir", "/tank/mysql/data")


@pytest.mark.parametrize(
    ("variables", "key", "path"),
    [
        (
            {"innodb_data_home_dir": "/ssd/ib", "innodb_data_file_path": "ibdata1:500M;ibdata2:1G"},
            "system",
            "/ssd/ib/ibdata1",
        ),
        ({"innodb_data_file_path": "/hdd/ibdata1:500M:autoextend"}, "system", "/hdd/ibdata1"),
        ({"tmpdir": "/a:/b"}, "tmp", "/a"),
        ({"innodb_undo_directory": "./undo"}, "undo", "/tank/mysql/data/undo"),
    ],
)
def test_a_path_is_taken_from_where_the_server_takes_it(variables: dict[str, str], key: str, path: str) -> None:
    assert wanted_places({**VARIABLES, **variables})[key][1] == path


def test_what_a_server_doesnt_have_has_no_place() -> None:
    without = {**VARIABLES, "log_bin_basename": "", "relay_log_basename": ""}
    del without["innodb_doublewrite_dir"]  # MariaDB
    assert not {"binlog", "relay", "doublewrite"} & set(wanted_places(without))


def test_variables_persist_where_the_server_can() -> None:
    assert SERVER.change("sync_binlog", "1", live=True) == (
        (("mysql", "--user=root", "--socket=/run/a.sock", "-e", "SET PERSIST sync_binlog = 1"),),
        None,
    )
    (argv,), then = SERVER.change("innodb_use_native_aio", "OFF", live=False)
    assert (argv[-1], then) == ("SET PERSIST_ONLY innodb_use_native_aio = OFF", "restart mysqld")
    # MySQL itself refuses to persist this one.
    assert SERVER.change("innodb_doublewrite", "ON", live=False)[0] == ()
    old = replace(SERVER, variables={**VARIABLES, "version": "5.7.33-log"})
    (argv,), then = old.change("sync_binlog", "1", live=True)
    assert argv[-1] == "SET GLOBAL sync_binlog = 1"
    assert then == "and set sync_binlog = 1 under [mysqld] in the server's option file, for the next start"


def test_a_password_is_asked_for_and_never_printed() -> None:
    argv = replace(SERVER, dsn=Dsn("root", "secret", "db1", 3307)).statement("SELECT 1")
    assert argv == ("mysql", "--user=root", "--password", "--host=db1", "--port=3307", "-e", "SELECT 1")
    assert replace(SERVER, dsn=Dsn(defaults_file="/etc/a.cnf")).statement("SELECT 1")[1] == "--defaults-file=/etc/a.cnf"


def test_mariadb_is_known_by_its_version() -> None:
    mariadb = replace(SERVER, variables={**VARIABLES, "version": "11.8.6-MariaDB-0+deb13u1"})
    assert mariadb.is_mariadb
    assert mariadb.version == (11, 8)
    assert mariadb.statement("SELECT 1")[0] == "mariadb"
    assert not SERVER.is_mariadb

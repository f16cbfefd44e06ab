"""The table of variables, against what the servers themselves say: captured here, or recorded by others."""

from __future__ import annotations

import json
import re

import pytest
from captures import capture
from layouts import layout

from zmysql.errors import UsageError
from zmysql.layout.template import template_names
from zmysql.mysql.mycnf import settings_for
from zmysql.mysql.server import SERVERS, Flavour, parse_server, server_of
from zmysql.mysql.sizing import plan_memory
from zmysql.mysql.variables import AUTO, VARIABLES, current_name, default_of, knows, values_of

PRINTED = {"TRUE": "ON", "FALSE": "OFF", "(No default value)": "", "NULL": ""}

# What a server prints where it works the default out at start, or where its help isn't what it starts with.
ODD = {
    # `mysqld --help` says fsync; where the system has O_DIRECT, that is what the server starts with.
    ("innodb_flush_method", "mysql-9.7.4"): "fsync",
    # Old servers have O_DIRECT and fsync, and an empty text for the latter.
    ("innodb_flush_method", "mysql-5.7.33"): "",
}


def printed(machine: str) -> dict[str, str]:
    """Give what `--no-defaults --help --verbose` of a captured server printed, in the words of my.cnf."""
    rows = (re.fullmatch(r"(\S+) +(.+)", line) for line in capture(machine, "variables").splitlines()[3:])
    found = {row[1]: row[2] for row in rows if row} or json.loads(capture(machine, "variables.json"))
    return {name.replace("-", "_"): PRINTED.get(value, value) for name, value in found.items()}


def of_manual_8_0() -> set[str]:
    return {name.replace("-", "_") for name in capture("mysqld-8.0-manual", "innodb-names").split()}


def of_manual_8_4() -> dict[str, str]:
    lines = capture("mysqld-8.4-manual", "innodb-defaults.tsv").splitlines()
    return {name: PRINTED.get(value, value) for name, value in (line.split("\t") for line in lines)}


OUTPUTS = {
    "mysql-5.7.33": printed("mysqld-5.7.33"),
    "mysql-8.0.23": printed("mysqld-8.0.23"),
    "mysql-9.7.4": printed("mysqld-9.7.4"),
    "mariadb-10.11.19": printed("mariadbd-10.11.19"),
    "mariadb-11.8.6": printed("mariadbd-11.8.6"),
}
# What isn't InnoDB's isn't in the recorded pages of the manual: it must be there before and after.
ELSEWHERE = {name for name in OUTPUTS["mysql-8.0.23"] if not name.startswith("innodb_")} & set(OUTPUTS["mysql-9.7.4"])
NAMES = {
    **{server: set(found) for server, found in OUTPUTS.items()},
    "mysql-8.0": of_manual_8_0() | ELSEWHERE,
    "mysql-8.4": set(of_manual_8_4()) | ELSEWHERE,
}
# Which record tells the names of a server that one asks for.
RECORD_OF = {
    "mysql-9.7": "mysql-9.7.4",
    "mysql-8.4": "mysql-8.4",
    "mysql-8.0": "mysql-8.0",
    "mysql-8.0.23": "mysql-8.0.23",
    "mysql-5.7": "mysql-5.7.33",
    "percona-8.4": "mysql-8.4",
    "percona-8.0": "mysql-8.0",
    "percona-5.7": "mysql-5.7.33",
    "mariadb-11.8": "mariadb-11.8.6",
    "mariadb-10.11": "mariadb-10.11.19",
}


def test_the_records_are_whole() -> None:
    assert {server: len(found) for server, found in OUTPUTS.items()} == {
        "mysql-5.7.33": 140,
        "mysql-8.0.23": 153,
        "mysql-9.7.4": 722,
        "mariadb-10.11.19": 705,
        "mariadb-11.8.6": 727,
    }
    assert (len(of_manual_8_0()), len(of_manual_8_4())) == (164, 121)
    assert set(SERVERS) <= set(RECORD_OF)


@pytest.mark.parametrize("server", NAMES)
def test_the_table_knows_what_each_server_knows(server: str) -> None:
    of = parse_server(server)
    for variable in VARIABLES:
        assert knows(of, variable) == (variable in NAMES[server]), variable


@pytest.mark.parametrize("server", OUTPUTS)
def test_the_defaults_are_those_that_each_server_prints(server: str) -> None:
    of = parse_server(server)
    for variable in VARIABLES:
        default = default_of(of, variable)
        if default is not None and not default.startswith(AUTO):
            found = OUTPUTS[server][variable]
            assert found == ODD.get((variable, server), default), variable


def test_the_defaults_of_8_4_are_those_of_its_manual() -> None:
    words = {
        "innodb_flush_method": "O_DIRECT if supported, otherwise fsync",
        "innodb_data_home_dir": "-",
        "innodb_doublewrite_dir": "-",
        "innodb_log_group_home_dir": "-",
        "innodb_undo_directory": "-",
    }
    manual, of = of_manual_8_4(), parse_server("mysql-8.4")
    for variable in VARIABLES.keys() & manual.keys():
        default = default_of(of, variable)
        assert default is not None
        if not default.startswith(AUTO):
            assert manual[variable] == words.get(variable, default), variable


@pytest.mark.parametrize("template", template_names())
@pytest.mark.parametrize("server", RECORD_OF)
def test_no_variable_that_a_server_does_not_know_is_rendered(server: str, template: str) -> None:
    served = layout(template)
    of = parse_server(server)
    for memory_bytes in (256 << 20, 4 << 30):
        for setting in settings_for(of, served, plan_memory(served, memory_bytes, None)):
            assert setting.variable in NAMES[RECORD_OF[server]]
            words = values_of(of, setting.variable)
            assert words is None or setting.value in words, setting


def test_a_renamed_variable_goes_by_the_name_that_the_server_knows() -> None:
    redo = {server: current_name(parse_server(server), "innodb_log_file_size") for server in RECORD_OF}
    capacity = {server for server, name in redo.items() if name == "innodb_redo_log_capacity"}
    assert capacity == {"mysql-9.7", "mysql-8.4", "mysql-8.0", "percona-8.4", "percona-8.0"}
    assert current_name(parse_server("mariadb-11.8"), "innodb_flush_method") == "innodb_data_file_buffering"
    assert current_name(parse_server("mariadb-10.11"), "innodb_flush_method") == "innodb_flush_method"


@pytest.mark.parametrize(
    ("server", "variable", "known"),
    [
        ("mysql-8.0.29", "innodb_redo_log_capacity", False),
        ("mysql-8.0.30", "innodb_redo_log_capacity", True),
        ("mysql-8.0.19", "innodb_doublewrite_dir", False),
        ("mysql-8.0.20", "innodb_doublewrite_dir", True),
    ],
)
def test_a_patch_release_knows_no_more_than_it_did(server: str, variable: str, *, known: bool) -> None:
    assert knows(parse_server(server), variable) is known


@pytest.mark.parametrize("name", ["", "mysql", "mysql-8", "mysql-8.1", "MySQL-8.0", "mysql-8.0.", "mariadb-8.0"])
def test_other_names_are_no_servers(name: str) -> None:
    with pytest.raises(UsageError, match="unknown server"):
        parse_server(name)


@pytest.mark.parametrize(
    ("version", "flavour", "parts"),
    [
        ("10.11.19-MariaDB-0+deb12u1-log", Flavour.MARIADB, (10, 11, 19)),
        ("8.0.40-31", Flavour.MYSQL, (8, 0, 40)),
        ("9.7.4-2", Flavour.MYSQL, (9, 7, 4)),
    ],
)
def test_a_server_is_told_by_its_version(version: str, flavour: Flavour, parts: tuple[int, ...]) -> None:
    server = server_of(version)
    assert (server.flavour, server.version) == (flavour, parts)


def test_a_text_without_a_version_is_none() -> None:
    with pytest.raises(UsageError, match="is no version"):
        server_of("latest")

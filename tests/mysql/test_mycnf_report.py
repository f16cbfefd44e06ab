"""A my.cnf and a redo log explained, as people and programs read it."""

from __future__ import annotations

import io
import json

from layouts import layout
from rich.console import Console

from zmysql.mysql.mycnf import settings_for
from zmysql.mysql.redo import Measured, State, size_redo
from zmysql.mysql.server import parse_server
from zmysql.mysql.sizing import plan_memory
from zmysql.report import mycnf, redo

SERVED = layout("hybrid")
BUDGET = plan_memory(SERVED, None, 64 << 30)
SERVER = parse_server("mariadb-11.8")
SETTINGS = settings_for(SERVER, SERVED, BUDGET)
MEASURED = Measured((10 << 20, 30 << 20), State("8.0.29", 0, 9, 100 << 20, 16 << 20, 1000, 8192, 200))


def test_the_table_has_a_row_for_each_setting() -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(mycnf.as_table(SERVER, SERVED, BUDGET))
    first = {line.split()[0] for line in out.getvalue().splitlines() if line[:1].strip()}
    assert first == {"variable", *(setting.variable for setting in SETTINGS)}
    assert "134217728" in out.getvalue()


def test_the_json_has_all_that_the_table_has_and_the_memory() -> None:
    printed = json.loads(json.dumps(mycnf.as_json(SERVER, SERVED, BUDGET)))
    assert printed["output_version"]["command"] == "zmysql mycnf"
    assert [row["variable"] for row in printed["settings"]] == [setting.variable for setting in SETTINGS]
    assert {*printed["settings"][0]} == {"variable", "value", "default", "why", "sources"}
    assert printed["memory"]["arc_max_bytes"] == BUDGET.arc_max_bytes
    assert printed["arc"] == {
        "file": "/etc/modprobe.d/zfs.conf",
        "lines": [f"options zfs zfs_arc_max={BUDGET.arc_max_bytes}"],
    }
    without = mycnf.as_json(SERVER, SERVED, plan_memory(SERVED, 4 << 30, None))
    assert without["arc"] is None


def test_the_redo_log_is_told_as_lines_of_a_my_cnf() -> None:
    advice = size_redo(MEASURED, None)
    lines = redo.as_text(MEASURED, advice)
    assert [line for line in lines if not line.startswith("#")] == ["[mysqld]", "innodb_log_file_size = 928M"]
    assert lines[0] == "# mysql-8.0.29 writes 30M of redo log in the busiest minute of 2, 20M on average"
    assert "at most 32 s with the 100M that it has now" in lines[2]
    printed = json.loads(json.dumps(redo.as_json(MEASURED, advice)))
    assert (printed["redo_bytes"], printed["online"]) == (1856 << 20, None)
    assert printed["bytes_per_minute"] == [10 << 20, 30 << 20]

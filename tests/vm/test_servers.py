"""The rendered my.cnf on the real servers: accepted, initialised and started on a layout of two pools, and used.

The guest only runs the servers; zmysql runs outside of it, as it would for a database host without Python.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from blank import blank
from running import refusal, zmysql

from zmysql.mysql.client import parse_dsn, query
from zmysql.mysql.mycnf import render, settings_for
from zmysql.mysql.redo import measure, size_redo
from zmysql.mysql.served import contradictions, read_layout
from zmysql.mysql.server import parse_server, server_of
from zmysql.mysql.sizing import plan_memory
from zmysql.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.mysql.served import ServedLayout
    from zmysql.mysql.setting import Setting
    from zmysql.testbed.vm import Guest

# Two pools, and a dataset for everything that a my.cnf can place.
TEMPLATE = "ssd-data-hdd-log"
MEMORY_BYTES = 256 << 20
SOCKET = "/tmp/zmservers.sock"
DSN = parse_dsn(f"mysql://root@/?socket={SOCKET}")
RUN = ("--user=mysql", f"--socket={SOCKET}", "--pid-file=/tmp/zmservers.pid", "--skip-networking")
SYSBENCH = (
    *("sysbench", "oltp_read_write", "--db-driver=mysql", f"--mysql-socket={SOCKET}", "--mysql-user=root"),
    *("--tables=1", "--table-size=2000", "--threads=1"),
)
REDO = ("innodb_redo_log_capacity", "innodb_log_file_size")
START_SECONDS = 90


@dataclass(frozen=True)
class Program:
    """A server of the guest's image: how to ask for it, to check a my.cnf with it, and to initialise it."""

    server: str
    program: str
    check: tuple[str, ...]
    initialise: tuple[str, ...]

    @property
    def file(self) -> str:
        return f"/tmp/{self.server}.cnf"


def mariadb(version: str) -> Program:
    install = (f"mariadb-install-db-{version}", f"--defaults-file=/tmp/mariadb-{version}.cnf", "--user=mysql")
    return Program(
        f"mariadb-{version}",
        f"mariadbd-{version}",
        ("--help", "--verbose"),
        (*install, "--auth-root-authentication-method=normal"),
    )


PROGRAMS = (
    Program(
        "mysql-9.7",
        "mysqld",
        ("--validate-config", "--user=mysql"),
        ("mysqld", "--defaults-file=/tmp/mysql-9.7.cnf", "--initialize-insecure", "--user=mysql"),
    ),
    mariadb("10.11"),
    mariadb("11.8"),
)


@pytest.fixture(scope="module")
def layout(guest: Guest) -> Iterator[str]:
    """Give the name of a layout of two pools, created in the guest."""
    blank(guest)
    done = zmysql("create-pool", "tank", "-t", TEMPLATE, "-y", "--host", address(guest))
    assert done.exit_status == 0, done
    yield "tank"
    blank(guest)


def address(guest: Guest) -> str:
    return f"testbed:{guest.testbed.name}"


def sh(guest: Guest, script: str, *words: str) -> str:
    return guest.run(("sh", "-c", script, "sh", *words)).stdout


def start(guest: Guest, program: Program) -> None:
    command = (program.program, f"--defaults-file={program.file}", *RUN)
    guest.run(("systemd-run", "--quiet", "--unit=zmservers", "--collect", *command))
    until = time.monotonic() + START_SECONDS
    while guest.run(("mysql", "-uroot", "-S", SOCKET, "-e", "SELECT 1"), check=False).exit_status:
        assert time.monotonic() < until, guest.run(("journalctl", "-u", "zmservers", "-n", "20")).stdout
        time.sleep(0.5)


def as_server_says(value: str) -> str:
    """Give a value of my.cnf as SHOW VARIABLES prints it."""
    return str(parse_size(value)) if re.fullmatch(r"\d+M", value) else {"0": "OFF", "1": "ON"}.get(value, value)


def holds(running: dict[str, str], variable: str, value: str) -> bool:
    """Tell whether a running server has taken a setting."""
    if variable == "log_bin":
        return running["log_bin_basename"] == value
    found = running[variable]
    return found.rstrip("/") == value or as_server_says(found) == as_server_says(value)


def files(guest: Guest, served: ServedLayout) -> dict[str, list[str]]:
    """Give the first level of what lies in each dataset."""
    return {purpose: sh(guest, 'ls -A "$1"', place.directory).split() for purpose, place in served.places.items()}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.server)
def test_a_server_takes_the_file_starts_on_the_layout_and_works(guest: Guest, layout: str, program: Program) -> None:
    served = read_layout(guest, layout)
    sh(guest, 'for folder; do rm -rf "$folder"/* "$folder"/.[!.]*; done', *served.directories)
    text = render(program.server, served, MEMORY_BYTES)

    # The server reads it without a complaint, and complains of a variable that it doesn't know.
    guest.run(("tee", program.file), stdin=text)
    check = (program.program, f"--defaults-file={program.file}", *program.check)
    accepted = guest.run(check)
    assert not re.search(r"\[ERROR\]|deprecated|was removed|unknown", accepted.stderr), accepted.stderr
    guest.run(("tee", program.file), stdin=text + "innodb_zmysql = 1\n")
    assert guest.run(check, check=False).exit_status != 0

    guest.run(("tee", program.file), stdin=text)
    guest.run(program.initialise)
    start(guest, program)
    try:
        running = {str(row["Variable_name"]): str(row["Value"]) for row in query(guest, DSN, "SHOW GLOBAL VARIABLES")}
        server = parse_server(program.server)
        assert server_of(running["version"]).version[:2] == server.version[:2]
        budget = plan_memory(served, MEMORY_BYTES, None)
        settings = settings_for(server, served, budget)
        assert len(settings) > 20
        for setting in settings:
            assert f"\n{setting.variable} = {setting.value}\n" in text
            assert holds(running, setting.variable, setting.value), (setting, running[setting.variable])

        query(guest, DSN, "CREATE DATABASE sbtest")
        guest.run((*SYSBENCH, "prepare"))
        ran = guest.run((*SYSBENCH, "--time=4", "run")).stdout
        assert int(re.findall(r"transactions: +(\d+)", ran)[0]) > 10
        assert re.findall(r"ignored errors: +(\d+)", ran) == ["0"]
        check_redo_size(guest, settings)
    finally:
        guest.run(("systemctl", "stop", "zmservers"))

    # Everything is where the layout wants it, and the next my.cnf is the same: no file has records too small for it.
    found = files(guest, served)
    assert {"sbtest", "mysql"} <= set(found["data"])
    assert "ibdata1" in found["system"]
    assert not {name for name in found["data"] if name.startswith(("ibdata", "ib_logfile", "undo", "binlog"))}
    for purpose in ("redo", "undo", "binlog", "logs"):
        assert found[purpose], purpose
    again = read_layout(guest, layout)
    assert again.record_bytes
    assert min(again.record_bytes) >= 16 << 10
    assert settings_for(server, again, budget) == settings


def check_redo_size(guest: Guest, settings: tuple[Setting, ...]) -> None:
    """Ask the server what it wrote, and hold the answer against its my.cnf."""
    measured = measure(guest, DSN, 1, print, interval_s=0.5)
    assert measured.state.written_bytes > 100 << 10
    sizes = [setting for setting in settings if setting.variable in REDO]
    assert [f"{measured.state.capacity_bytes >> 20}M"] == [setting.value for setting in sizes]
    advice = size_redo(measured, None)
    assert [setting.variable for setting in advice.settings] == [setting.variable for setting in sizes]


def test_the_layout_is_read_from_all_its_pools(guest: Guest, layout: str) -> None:
    served = read_layout(guest, layout)
    assert [pool.name for pool in served.pools] == ["tank", "tank-log"]
    assert {purpose: place.pool.name for purpose, place in served.places.items()} == {
        **dict.fromkeys(("data", "undo", "tmp"), "tank"),
        **dict.fromkeys(("redo", "binlog", "relay", "doublewrite", "system", "logs"), "tank-log"),
    }
    assert contradictions(served) == ()
    command = ("mycnf", "tank-log", "--server", "mysql-9.7", "--host", address(guest))
    assert refusal(*command) == "the pool tank-log is a part of the layout tank: name that"
    ram_bytes = served.ram_bytes
    assert ram_bytes is not None
    printed = json.loads(zmysql("mycnf", "tank", "--server", "mysql-8.4", "-j", "--host", address(guest)).stdout)
    memory = printed["memory"]
    assert memory["mysqld_bytes"] + memory["arc_max_bytes"] + memory["system_bytes"] == memory["ram_bytes"] == ram_bytes


def test_the_cap_of_the_arc_is_taken_by_zfs(guest: Guest, layout: str) -> None:
    text = zmysql("mycnf", layout, "--server", "mysql-9.7", "--arc", "--host", address(guest)).stdout
    commands = re.findall(r"^# (echo \d+ > \S+)$", text, re.MULTILINE)
    cap = int(re.findall(r"^options zfs .*zfs_arc_max=(\d+)$", text, re.MULTILINE)[0])
    parameter = "/sys/module/zfs/parameters/zfs_arc_max"
    before = sh(guest, f"cat {parameter}").strip()
    try:
        sh(guest, "; ".join(commands))
        taken = sh(guest, "awk '$1 == \"c_max\" {print $3}' /proc/spl/kstat/zfs/arcstats").strip()
        assert int(taken) == cap
    finally:
        sh(guest, f"echo {before} > {parameter}")


def test_the_udev_rules_tune_the_disks_of_the_layout_and_no_other(guest: Guest, layout: str) -> None:
    text = zmysql("udev-rules", layout, "--host", address(guest)).stdout
    file = text.split()[1].rstrip(":")
    ours = re.findall(r"^# (\w+) now: ", text, re.MULTILINE)
    assert len(ours) > 3
    every = sh(guest, "ls /sys/block").split()
    others = [name for name in every if name.startswith(("sd", "nvme")) and name not in ours]
    disks = (*ours, *others)
    read = 'for disk; do cat "/sys/block/$disk/queue/scheduler"; done'
    try:
        sh(guest, 'for disk; do echo mq-deadline > "/sys/block/$disk/queue/scheduler"; done', *disks)
        guest.run(("tee", file), stdin=text)
        sh(guest, "udevadm control --reload && udevadm trigger --subsystem-match=block && udevadm settle")
        active = dict(zip(disks, re.findall(r"\[(\S+)\]", sh(guest, read, *disks)), strict=True))
        assert active == {**dict.fromkeys(ours, "none"), **dict.fromkeys(others, "mq-deadline")}
        rotating = sh(guest, 'for disk; do cat "/sys/block/$disk/queue/rotational"; done', *ours).split()
        assert dict(zip(ours, rotating, strict=True)) == {
            name: "1" if re.search(rf"^# {name} now: .*, hdd$", text, re.MULTILINE) else "0" for name in ours
        }
    finally:
        sh(
            guest,
            'file=$1; shift; rm -f "$file"; udevadm control --reload; for disk; do '
            'echo none > "/sys/block/$disk/queue/scheduler"; done',
            file,
            *disks,
        )

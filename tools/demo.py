"""The main job, for real: a pool from a template, MySQL on it, sysbench, DTrace, and the report.

Everything runs in a testbed of its own; each line after a `$` is what a person would type in a guest's shell.
The trace is saved, and the testbed is ended, or kept with `make demo KEEP=1`.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from zmysql.cli.testbed import progress
from zmysql.errors import ZmysqlError
from zmysql.host import Local
from zmysql.testbed.vm import Guest, Testbed

ROOT = Path(__file__).parents[1]
POOL = "tank"
DEFAULTS = "/etc/zmysql.cnf"
SOCKET = "/run/mysqld/mysqld.sock"
TABLES, ROWS = 1, 300_000
THREADS = 4
RECORD_S = 60
# Small, as the data is: caches that hold everything would show nothing.
BUFFER_POOL = "16M"
ARC_LIMITS = (("zfs_arc_min", 32 << 20), ("zfs_arc_max", 64 << 20))
console = Console(highlight=False)
begun = time.monotonic()


def chapter(title: str) -> None:
    """Begin a part of the show."""
    console.print(f"\n[bold]{title}[/bold] [dim]({time.monotonic() - begun:.0f} s)[/dim]")


def show(guest: Guest, *argv: str) -> None:
    """Run a command in the guest in front of the audience."""
    console.print("$ " + shlex.join(argv), style="cyan", markup=False, soft_wrap=True)
    if status := guest.call(argv):
        raise ZmysqlError(f"the demo stopped: `{shlex.join(argv)}` ended with status {status}")


def sysbench(script: str, *more: str) -> list[str]:
    """Give a sysbench command on the demo's tables."""
    connection = [f"--mysql-socket={SOCKET}", "--mysql-user=root", "--db-driver=mysql"]
    return ["sysbench", script, *connection, f"--tables={TABLES}", f"--table-size={ROWS}", *more]


def boot() -> Testbed:
    """Build or reuse the image, and start a fresh testbed."""
    bed = Testbed("demo")
    bed.down()
    with progress() as say:
        bed.up(say)
        say("building zmysql's wheel")
        Local().run([*f"{sys.executable} -m pip wheel -q --no-deps --no-build-isolation -w dist".split(), str(ROOT)])
        wheel = max((ROOT / "dist").glob("zmysql-*.whl"), key=lambda path: path.stat().st_mtime)
        say("installing it in the guest with pip")
        bed.host().install(wheel)
        say("ready")
    return bed


def lay_out(guest: Guest) -> None:
    """Create the pool from the template."""
    show(guest, "zmysql", "devices")
    show(guest, "zmysql", "create-pool", POOL, "--template", "hybrid", "--yes")
    show(guest, "zpool", "status", POOL)
    show(guest, "zfs", "list", "-r", "-o", "name,recordsize,primarycache,logbias,compression,atime", POOL)


def start_mysql(guest: Guest) -> None:
    """Render the my.cnf, initialise the data directory and start the server."""
    show(guest, "sh", "-c", f"zmysql mycnf {POOL} --server mysql-9.7 --memory 256M > {DEFAULTS}")
    show(guest, "mysqld", f"--defaults-file={DEFAULTS}", "--initialize-insecure", "--user=mysql")
    server = ["mysqld", f"--defaults-file={DEFAULTS}", "--user=mysql", f"--innodb-buffer-pool-size={BUFFER_POOL}"]
    show(guest, "systemd-run", "--quiet", "--unit=mysqld", *server, f"--socket={SOCKET}")
    client = ["mysql", f"--socket={SOCKET}", "--user=root"]
    deadline = time.monotonic() + 120
    while guest.run([*client, "-e", "SELECT 1"], check=False).exit_status:
        if time.monotonic() > deadline:
            raise ZmysqlError("mysqld doesn't answer: " + guest.run(["journalctl", "-u", "mysqld", "-n", "5"]).stdout)
        time.sleep(1)
    guest.run([*client, "-e", "CREATE DATABASE sbtest"])


def load_and_record(guest: Guest, trace: Path) -> None:
    """Load tables, then read them with sysbench while DTrace watches."""
    for parameter, limit in ARC_LIMITS:
        show(guest, "sh", "-c", f"echo {limit} > /sys/module/zfs/parameters/{parameter}")
    show(guest, *sysbench("oltp_read_only", "--threads=1", "prepare"))
    # Ten rows a query: an emulated CPU spends its time on queries, and this is about the records that they read.
    rows = ["--random-points=10", "--rand-type=uniform"]
    reader = sysbench("select_random_points", *rows, f"--threads={THREADS}", f"--time={RECORD_S + 60}", "run")
    console.print("$ " + shlex.join(reader) + " &", style="cyan", markup=False, soft_wrap=True)
    with guest.start(reader):
        show(guest, "zmysql", "trace", "record", "--duration", f"{RECORD_S}s", "-o", "/root/demo.trace.gz")
    guest.get("/root/demo.trace.gz", trace)


def main() -> None:
    """Run the show."""
    console.print("[bold]zmysql demo[/bold]: a ZFS pool for MySQL, laid out, loaded, traced and judged")
    bed = boot()
    try:
        guest = bed.host()
        chapter("1. Lay out: a pool from a template")
        lay_out(guest)
        chapter("2. MySQL on it, with the my.cnf that fits")
        start_mysql(guest)
        chapter(f"3. Load, read, and record for {RECORD_S} s which records are read again")
        trace = ROOT / f"demo-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.trace.gz"
        load_and_record(guest, trace)
    finally:
        if not os.environ.get("KEEP"):
            bed.down()
    chapter("4. What it means, judged on this machine")
    report = [str(Path(sys.executable).with_name("zmysql")), "locality", "report", str(trace)]
    console.print("$ " + shlex.join(["zmysql", *report[1:]]), style="cyan", markup=False)
    Local().call(report)
    console.print(f"\nDone in {time.monotonic() - begun:.0f} s. The trace is {trace.name}. Next:")
    for command, what in (
        (f".venv/bin/zmysql locality report {trace.name} --l2arc 32M", "judge for other sizes"),
        (".venv/bin/zmysql testbed up && .venv/bin/zmysql testbed ssh", "a machine to play with"),
        ("zmysql trace record --duration 60s -o FILE", "on your own server, as root"),
    ):
        console.print(f"  {command:<60} {what}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    try:
        main()
    except ZmysqlError as error:
        console.print(f"zmysql: {error}", style="red", markup=False)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)

"""The guest: two pools of one layout that differ in their recordsize, the same tables on both, mysqld on one."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy.workloads import CACHE_BYTES, TABLE_ROWS, TABLES
from zmysql.errors import ZmysqlError
from zmysql.host import Local
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from zmysql.testbed.vm import Guest, Testbed

ROOT = Path(__file__).parents[2]
MEMORY_BYTES = 3 << 30
POOLS = {16 << 10: ("tank16", "sda"), 128 << 10: ("tank128", "sdb")}
DISKS = ("hdd-instant:3G*2", *(f"ssd:{size >> 20}M" for size in CACHE_BYTES))
CACHES = {size: f"sd{letter}" for size, letter in zip(CACHE_BYTES, "cdefgh", strict=False)}
SOCKET = "/run/mysqld/mysqld.sock"
PARAMETERS = "/sys/module/zfs/parameters"
# Of 128, purge would read the headers in three files, in one go, once in a run.
ONE_SEGMENT = "--innodb-rollback-segments=1"
# Nothing that a run needs is in the pool, so that only mysqld reads there. Its buffer pool is the smallest there is:
# what it hits, ZFS never sees. Emulated, 16K of checksum take longer than the read.
MYSQLD = (
    *("--user=mysql", f"--socket={SOCKET}", "--skip-networking", "--mysqlx=0", "--skip-log-bin"),
    *("--innodb-buffer-pool-chunk-size=1M", "--innodb-buffer-pool-load-at-startup=0", "--performance-schema=OFF"),
    *("--innodb-flush-method=fsync", "--innodb-use-native-aio=0", "--innodb-checksum-algorithm=none"),
    *("--innodb-doublewrite=OFF", "--innodb-redo-log-capacity=64M"),
    ONE_SEGMENT,
)
SYSBENCH = (f"--mysql-socket={SOCKET}", "--mysql-user=root", "--db-driver=mysql")
PATIENCE_S = 300.0
# As files: emulated, rows that are inserted take four times as long.
COPY = f"""
client="mysql --socket={SOCKET} --user=root sbtest"
for number in {{numbers}}; do
    $client -e "CREATE TABLE sbtest$number LIKE sbtest1; ALTER TABLE sbtest$number DISCARD TABLESPACE"
done
cd {{folder}}
{{{{
    echo "FLUSH TABLES sbtest1 FOR EXPORT;"
    until test -s sbtest1.cfg; do sleep 0.2; done; sleep 1
    for number in {{numbers}}; do
        for end in ibd cfg; do cp -p sbtest1.$end sbtest$number.$end; done
    done
    echo "UNLOCK TABLES;"
}}}} | $client
for number in {{numbers}}; do $client -e "ALTER TABLE sbtest$number IMPORT TABLESPACE"; done
rm -f ./*.cfg
"""


class Machine:
    """A testbed with the pools and tables that the workloads read."""

    def __init__(self, bed: Testbed, say: Callable[[str], None]) -> None:
        """Take the testbed; nothing is done before `boot`."""
        self.bed = bed
        self.say = say

    @property
    def guest(self) -> Guest:
        """The guest, as a host."""
        return self.bed.host()

    def sh(self, script: str) -> str:
        """Run a script in the guest's shell, and give what it prints."""
        return self.guest.run(("sh", "-euc", script)).stdout

    def boot(self) -> None:
        """Start the testbed, or take one that was kept, and put the tables on both pools."""
        if not self.bed.is_up():
            self.bed.down()
            self.bed.up(self.say, DISKS, memory_bytes=MEMORY_BYTES)
        self.say("installing zmysql in the guest")
        Local().run([*f"{sys.executable} -m pip wheel -q --no-deps --no-build-isolation -w dist".split(), str(ROOT)])
        self.guest.install(max((ROOT / "dist").glob("zmysql-*.whl"), key=lambda path: path.stat().st_mtime))
        for name in ("points.lua", "scans.lua", "sampler.py", "compressed.py"):
            self.guest.put(Path(__file__).parent / name, f"/root/{name}")
        if self.guest.run(("test", "-e", "/root/loaded"), check=False).exit_status:
            self._load()

    def _load(self) -> None:
        one = ("--set", "vdevs.data.kind=disk", "--set", "vdevs.data.width=1", "--allow-no-redundancy")
        for recordsize, (pool, disk) in POOLS.items():
            self.say(f"creating {pool}, with records of {format_size(recordsize)}")
            layout = ("--template", "all-hdd", *one, "--set", f"data.recordsize={recordsize >> 10}K", "--data", disk)
            self.guest.run(("zmysql", "create-pool", pool, *layout, "--yes"))
            self.sh(f"zmysql mycnf {pool} --server mysql-9.7 --memory 512M > /etc/{pool}.cnf")
        first, second = (pool for pool, _ in POOLS.values())
        self.say("initialising MySQL")
        self.sh(f"mysqld --defaults-file=/etc/{first}.cnf --initialize-insecure --user=mysql {ONE_SEGMENT}")
        self.start_mysqld(first, "256M", "--innodb-flush-log-at-trx-commit=0")
        self.say(f"loading a table of {TABLE_ROWS} rows")
        self.sql("CREATE DATABASE sbtest")
        options = ("--tables=1", f"--table-size={TABLE_ROWS}", "--create_secondary=off", "--threads=1")
        self.guest.run(("sysbench", "oltp_read_only", *SYSBENCH, *options, "prepare"))
        self.say(f"copying it {TABLES - 1} times")
        self.sh(COPY.format(folder=f"/{first}/mysql/data/sbtest", numbers=" ".join(map(str, range(2, TABLES + 1)))))
        self.stop_mysqld()
        self.say(f"copying all to {second}")
        self.sh(f"cp -a /{first}/mysql/. /{second}/mysql/; zpool sync; zpool export -a; touch /root/loaded")

    def sql(self, statement: str) -> str:
        """Have the server execute a statement."""
        return self.guest.run(("mysql", f"--socket={SOCKET}", "--user=root", "-Ne", statement)).stdout

    def start_mysqld(self, pool: str, buffer_pool: str, *more: str) -> None:
        """Start the server on a pool, and wait until it answers.

        Raises ZmysqlError with the end of its log when it doesn't.
        """
        server = ("mysqld", f"--defaults-file=/etc/{pool}.cnf", *MYSQLD, f"--innodb-buffer-pool-size={buffer_pool}")
        self.guest.run(("systemd-run", "--quiet", "--collect", "--unit=mysqld", *server, *more))
        deadline = time.monotonic() + PATIENCE_S
        ping = ("mysql", f"--socket={SOCKET}", "--user=root", "-e", "SELECT 1")
        while self.guest.run(ping, check=False).exit_status:
            if time.monotonic() > deadline:
                log = self.sh(f"journalctl -u mysqld -n 5; tail -n 5 /{pool}/mysql/logs/* || true")
                raise ZmysqlError(f"mysqld doesn't answer: {log}")
            time.sleep(1)

    def stop_mysqld(self) -> None:
        """Stop the server, if it runs, and wait until it has written all."""
        self.sh("systemctl stop mysqld 2>/dev/null || true; while pgrep -x mysqld >/dev/null; do sleep 0.5; done")

    def limit_arc(self, size_bytes: int) -> None:
        """Hold the ARC's target at a size: a maximum that isn't above the minimum is ignored, so that goes first."""
        for name, value in (("min", 32 << 20), ("max", size_bytes), ("min", size_bytes - (1 << 20))):
            self.sh(f"echo {value} > {PARAMETERS}/zfs_arc_{name}")

    def empty(self, pool: str, arc_bytes: int) -> None:
        """Leave nothing in the caches: no pool but this one, which was just imported, without cache device."""
        # A run that was cut short leaves these.
        self.sh("pkill -x sysbench || true; pkill -x -INT dtrace || true; pkill -f '[s]ampler.py' || true")
        self.stop_mysqld()
        self.sh("zpool list -Ho name | xargs -r -n1 zpool export")
        self.limit_arc(arc_bytes)
        self.sh(f"zpool import {pool}")
        # An earlier run that was cut short may have left its cache device.
        self.sh(
            f"zpool status -L {pool} | awk '/cache/ {{found = 1}} found && $1 ~ /^sd/ {{print $1}}' "
            f"| xargs -r -n1 zpool remove {pool}"
        )

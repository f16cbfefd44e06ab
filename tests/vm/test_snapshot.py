"""Snapshots of a real server that is written to: what they are worth, and that nothing is held back or left behind."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from running import zmysql

from zmysql.errors import ZmysqlError
from zmysql.host import Completed, Host, Local
from zmysql.mysql.client import Dsn, QueryFailed, parse_dsn, query, session
from zmysql.snapshot.create import create, create_consistent
from zmysql.snapshot.job import Job
from zmysql.snapshot.model import Kind
from zmysql.snapshot.place import against_server
from zmysql.snapshot.read import find, read_all, read_layout
from zmysql.snapshot.rollback import plan_rollback, read_newer, read_openers, roll_back
from zmysql.zfs.snapshot import ByCommand, SnapshotSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from zmysql.testbed.vm import Guest
    from zmysql.zfs.commands import Argv

ONE, TWO = "zmone", "zmtwo"  # layouts of one pool and of two
SOCKET = "/tmp/zmsnap.sock"
DSN = Dsn(user="root", socket=SOCKET)
MYCNF = """[mysqld]
user=mysql
datadir=/{data}/mysql/data/mysql
innodb_log_group_home_dir=/{log}/mysql/redo
log_bin=/{log}/mysql/binlog/binlog
socket={socket}
pid-file=/tmp/zmsnap.pid
log-error=/tmp/zmsnap.log
secure_file_priv=
mysqlx=0
skip-networking
gtid_mode=ON
enforce_gtid_consistency=ON
performance_schema=OFF
innodb_flush_method=fsync
innodb_use_native_aio=0
innodb_doublewrite=OFF
innodb_flush_log_at_trx_commit=0
innodb_redo_log_capacity=16M
innodb_buffer_pool_size=32M
innodb_buffer_pool_load_at_startup=0
innodb_buffer_pool_dump_at_shutdown=0
"""


def sh(guest: Host, script: str) -> str:
    return guest.run(("sh", "-euc", script)).stdout


@pytest.fixture(scope="module")
def pools(guest: Host) -> Iterator[None]:
    """Give the pools of both layouts, on the SSDs."""
    disks = [line.split() for line in sh(guest, "lsblk -dno NAME,ROTA").splitlines()]
    ssds = [name for name, rotates in disks if rotates == "0" and name.startswith("sd")]
    made = {ONE: (ONE, ("data", "redo", "binlog")), TWO: (TWO, ("data",))}
    made |= {f"{TWO}-log": (TWO, ("redo", "binlog"))}
    try:
        for disk, (pool, (layout, datasets)) in zip(ssds[: len(made)], made.items(), strict=True):
            options = f"-O zmysql:layout={layout} -O zmysql:state=complete -O recordsize=16K -O atime=off"
            names = " ".join(f"{pool}/mysql/{name}" for name in datasets)
            sh(
                guest,
                f"zpool create -f {options} {pool} {disk}; for one in {pool}/mysql {names}; do zfs create $one; done",
            )
            sh(guest, f"chown mysql:mysql /{pool}/mysql/*")
        yield
    finally:
        guest.run(("sh", "-c", f"for pool in {' '.join(made)}; do zpool destroy -f $pool; done"), check=False)


@dataclass
class Writer:
    """Commits rows 1, 2, 3, … each in a transaction of its own, and knows which were acknowledged."""

    guest: Host
    asked: int = 0
    acknowledged: int = 0
    failed: ZmysqlError | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        try:
            with session(self.guest, DSN) as opened:
                while not self.ended.is_set():
                    self.asked += 1
                    opened.query(f"INSERT INTO w.t SET id = {self.asked}, filler = REPEAT('x', 3000)")
                    self.acknowledged = self.asked
                    self.ended.wait(0.02)  # the guest has one CPU, which others need too
        except ZmysqlError as error:
            self.failed = error

    def goes_on(self) -> None:
        """Wait until it has committed something more."""
        before, until = self.acknowledged, time.monotonic() + 30
        while self.acknowledged < before + 3:
            assert time.monotonic() < until, self.failed or "the writer is stuck"
            time.sleep(0.05)


@contextmanager
def writing(guest: Host) -> Iterator[Writer]:
    writer = Writer(guest, asked=(start := rows(guest)[0]), acknowledged=start)
    thread = threading.Thread(target=writer.run, daemon=True)
    thread.start()
    try:
        writer.goes_on()
        yield writer
    finally:
        writer.ended.set()
        thread.join(30)


def rows(guest: Host) -> tuple[int, int]:
    """Give the highest row, and how many there are."""
    (row,) = query(guest, DSN, "SELECT COALESCE(MAX(id), 0) AS highest, COUNT(*) AS n FROM w.t")
    return int(row["highest"] or 0), int(row["n"] or 0)


def start(guest: Host) -> None:
    # The socket is there just before the server is ready: cheaper to look at than to ask the server all the time.
    sh(
        guest,
        f"rm -f {SOCKET}; setsid mysqld --defaults-file=/tmp/zmsnap.cnf >/dev/null 2>&1 </dev/null & "
        f"for try in $(seq 600); do test -S {SOCKET} && mysqladmin -uroot -S {SOCKET} ping >/dev/null 2>&1 && exit; "
        "sleep 0.1; done; "
        "cat /tmp/zmsnap.log >&2; exit 1",
    )


def stop(guest: Host) -> None:
    """End the server at once: what it leaves is rolled back, or recovered from."""
    sh(guest, "pid=$(cat /tmp/zmsnap.pid); kill -KILL $pid; while kill -0 $pid 2>/dev/null; do sleep 0.1; done")


def sound(guest: Host) -> None:
    """Hold the database against CHECK TABLE; a page that isn't whole would also end the server."""
    checked = query(guest, DSN, "CHECK TABLE w.t, mysql.user EXTENDED")
    assert {row["Msg_text"] for row in checked} == {"OK"}


def job(guest: Host, layout: str, name: str, say: Callable[[Argv], None] = lambda _: None) -> Job:
    return Job(guest, ByCommand(guest), read_layout(guest, layout), name, say)


def go_back(of: Job) -> None:
    snapshots = read_all(of.host, of.layout)
    wanted = find(of.layout, snapshots, of.name)
    newer = read_newer(of.host, of.layout, wanted, snapshots)
    roll_back(of, wanted, newer, plan_rollback(of.layout, wanted, newer))


def snapshot_names(guest: Host, layout: str) -> set[str]:
    return {one.name for one in read_all(guest, read_layout(guest, layout))}


@pytest.fixture(scope="module")
def served(guest: Host, pools: None) -> Iterator[Host]:  # noqa: ARG001 - it makes the pools
    """Give the guest with a server on the layout of one pool, and an empty table."""
    guest.run(("tee", "/tmp/zmsnap.cnf"), stdin=MYCNF.format(data=ONE, log=ONE, socket=SOCKET))
    guest.run(("mysqld", "--defaults-file=/tmp/zmsnap.cnf", "--initialize-insecure"))
    start(guest)
    query(guest, DSN, "CREATE DATABASE w")
    query(guest, DSN, "CREATE TABLE w.t (id INT PRIMARY KEY, filler TEXT)")
    try:
        yield guest
    finally:
        guest.run(("sh", "-c", "kill -9 $(cat /tmp/zmsnap.pid)"), check=False)


def test_a_password_reaches_the_server_and_nobody_else(served: Host) -> None:
    password = "p'a\"s#s\\w ö%;=[x]\n$(id)\ttail "  # noqa: S105 - of a server that lives for minutes
    literal = password.replace("\\", "\\\\").replace("'", "''")
    query(served, DSN, f"CREATE USER 'it''s me'@localhost IDENTIFIED BY '{literal}'")
    sh(served, "printf '[client]\\npassword=other\\n' >~/.my.cnf")
    try:
        dsn = parse_dsn(f"mysql://it's%20me:{quote(password, safe='')}@localhost/?socket={SOCKET}")
        with session(served, dsn) as opened:
            (row,) = opened.query("SELECT CURRENT_USER() AS user")
            seen = sh(served, "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null || :")
            left = sh(served, "ls -d /tmp/zmysql.* || :")
        with pytest.raises(QueryFailed, match="refuses the login: ERROR 1045") as refused:
            query(served, Dsn(user="it's me", socket=SOCKET), "SELECT 1")
    finally:
        sh(served, "rm ~/.my.cnf")
    assert row == {"user": "it's me@localhost"}
    assert "--user=it's me" in seen
    assert "s#s" not in seen
    assert left == ""
    assert refused.value.code == 1045


def test_what_the_client_cannot_do_is_one_line(served: Host) -> None:
    with pytest.raises(QueryFailed, match=r"can't talk to MySQL at socket /nowhere: ERROR 2002"):
        query(served, Dsn(socket="/nowhere"), "SELECT 1")
    with pytest.raises(QueryFailed, match="ERROR 1064") as syntax:
        query(served, DSN, "SELEC 1")
    assert syntax.value.code == 1064
    assert "\n" not in str(syntax.value)
    with pytest.raises(QueryFailed, match="/nowhere"), session(served, Dsn(defaults_file="/nowhere")) as opened:
        opened.query("SELECT 1")


def test_snapshots_of_a_server_that_is_written_to(served: Host) -> None:
    """A crash-consistent snapshot has a prefix of the rows, a consistent one exactly those from before the lock."""
    with writing(served) as writer:
        before_crash = writer.acknowledged
        time.sleep(1.5)  # with innodb_flush_log_at_trx_commit=0 the redo log is written once a second
        create(job(served, ONE, "crash"), Kind.CRASH_CONSISTENT)
        after_crash = writer.asked
        writer.goes_on()
        at_lock: list[int] = []

        def watch(argv: Argv) -> None:
            if argv[1] == "snapshot":  # the lock is held; what was committed before it has been acknowledged by now
                time.sleep(0.5)
                at_lock.append(writer.acknowledged)
                time.sleep(0.5)
                at_lock.append(writer.acknowledged)

        taken = create_consistent(job(served, ONE, "locked", watch), DSN, 10)
        writer.goes_on()  # so the lock is gone
    assert at_lock[0] == at_lock[1]
    position = taken.position
    assert position is not None
    assert position.binlog is not None
    assert position.server.startswith("9.")
    stop(served)

    go_back(job(served, ONE, "locked"))
    name, _, offset = position.binlog.partition(":")
    assert sh(served, f"stat -c %s /{ONE}/mysql/binlog/{name}").strip() == offset
    start(served)
    sound(served)
    assert rows(served) == (at_lock[0], at_lock[0])
    (gtid,) = query(served, DSN, "SELECT @@GLOBAL.gtid_executed AS done")
    assert gtid["done"] == position.gtid
    stop(served)

    go_back(job(served, ONE, "crash"))
    assert snapshot_names(served, ONE) == {"crash"}
    start(served)
    sound(served)
    highest, count = rows(served)
    assert highest == count
    assert before_crash <= count <= after_crash


HOLDER = """
import time
from zmysql.mysql.backup_lock import backup_lock
from zmysql.mysql.client import Dsn, session
from zmysql.testbed.vm import Testbed
with session(Testbed({name!r}).host(), Dsn(user="root", socket={socket!r})) as opened, backup_lock(opened, 10):
    print("locked", flush=True)
    time.sleep(600)
"""


def test_the_lock_goes_with_its_holder(served: Host, guest: Guest) -> None:
    holder = (sys.executable, "-c", HOLDER.format(name=guest.testbed.name, socket=SOCKET))
    with writing(served) as writer, Local().start(holder) as process:
        assert next(process.lines(), b"") == b"locked\n", process.stderr()
        time.sleep(0.3)
        held = writer.acknowledged
        time.sleep(0.5)
        assert writer.acknowledged == held
        process.kill()
        writer.goes_on()


class Broken(ByCommand):
    """Takes no snapshot in one of the pools."""

    pool = ONE

    def create(self, of: SnapshotSet, marks: Mapping[str, str]) -> None:
        if of.pool == self.pool:
            raise ZmysqlError("out of space")
        super().create(of, marks)


def test_the_lock_goes_and_nothing_stays_when_the_snapshot_fails(served: Host) -> None:
    before = snapshot_names(served, ONE)

    def kill_session(argv: Argv) -> None:
        if argv[1] == "snapshot":
            (one,) = query(served, DSN, "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Sleep'")
            query(served, DSN, f"KILL {one['ID']}")

    broken = replace(job(served, ONE, "broken"), calls=Broken(served))
    with pytest.raises(ZmysqlError, match="out of space"):
        create_consistent(broken, DSN, 10)
    with pytest.raises(QueryFailed):
        create_consistent(job(served, ONE, "lost", kill_session), DSN, 10)
    assert snapshot_names(served, ONE) == before
    with writing(served):
        pass  # nothing holds it back
    with session(served, DSN) as other:
        other.query("LOCK TABLES w.t WRITE")
        with pytest.raises(ZmysqlError, match="waited 1 s for a long query or transaction"):
            create_consistent(job(served, ONE, "late"), DSN, 1)


def cli(guest: Guest, *argv: str) -> Completed:
    command, *rest = argv
    return zmysql("snapshot", command, "--host", f"testbed:{guest.testbed.name}", *rest)


def refused(guest: Guest, *argv: str) -> str:
    done = cli(guest, *argv)
    assert (done.exit_status, done.stdout) == (1, ""), done
    return done.stderr


def test_refusals(served: Host, guest: Guest) -> None:
    assert cli(guest, "create", ONE, "mine").stdout == f"{ONE}@mine is taken: crash-consistent\n"
    served.run(("zfs", "snapshot", "-r", f"{ONE}/mysql@theirs"))
    uses = refused(guest, "rollback", "-y", ONE, "mine").splitlines()
    assert uses[0].startswith("zmysql: mine: newer snapshots would be destroyed (@theirs)")
    (pid,) = sh(served, "cat /tmp/zmsnap.pid").split()
    assert uses[1].startswith(f"zmysql: {ONE}: mysqld (process {pid}) uses /{ONE}/mysql/binlog, /{ONE}/mysql/data, ")
    assert "wasn't taken by zmysql" in refused(guest, "rollback", "-y", ONE, "theirs")
    assert "wasn't taken by zmysql" in refused(guest, "destroy", "-y", ONE, "theirs")
    assert "no imported pool is marked as one of a layout nix" in refused(guest, "list", "nix")
    assert cli(guest, "hold", ONE, "mine", "nightly").exit_status == 0
    assert "mine: it is held by nightly; `zmysql snapshot release" in refused(guest, "destroy", "-y", ONE, "mine")
    (row,) = [line.split("\t") for line in cli(guest, "list", "-H", ONE).stdout.splitlines() if "mine" in line]
    assert (row[0], row[1], row[5:]) == ("mine", "crash-consistent", ["nightly", "-", "-"])
    assert cli(guest, "release", ONE, "mine", "nightly").exit_status == 0
    shown = cli(guest, "destroy", "-n", ONE, "mine")
    assert shown.stdout == f"zfs destroy -r {ONE}/mysql@mine\n"
    assert cli(guest, "destroy", "-y", ONE, "mine").exit_status == 0
    assert "mine" not in snapshot_names(served, ONE)


# Two pools


@pytest.fixture(scope="module")
def served_by_two(served: Host) -> Host:
    """Give the guest with the same server on the layout of two pools."""
    stop(served)
    sh(
        served,
        f"cp -a /{ONE}/mysql/data/. /{TWO}/mysql/data/; for one in redo binlog; do cp -a /{ONE}/mysql/$one/. "
        f"/{TWO}-log/mysql/$one/; done; sed -i s,/{ONE}/,/{TWO}-log/, /{TWO}-log/mysql/binlog/binlog.index",
    )
    served.run(("tee", "/tmp/zmsnap.cnf"), stdin=MYCNF.format(data=TWO, log=f"{TWO}-log", socket=SOCKET))
    start(served)
    return served


def test_two_pools_need_the_lock_and_their_own_server(served_by_two: Host, guest: Guest) -> None:
    said = refused(guest, "create", TWO)
    assert f"{TWO} and {TWO}-log can't be taken at one moment" in said
    assert "--consistent (or --allow-not-atomic" in said
    wrong = [str(one) for one in against_server(served_by_two, DSN, read_layout(served_by_two, ONE))]
    assert len(wrong) == 3  # data with undo and system tablespace, redo, binlog
    assert f"/{TWO}/mysql/data/mysql isn't on {ONE}" in wrong[0]
    assert not against_server(served_by_two, DSN, read_layout(served_by_two, TWO))


def test_what_was_taken_of_the_first_pool_goes_when_the_second_fails(served_by_two: Host) -> None:
    calls = Broken(served_by_two)
    calls.pool = f"{TWO}-log"
    with pytest.raises(ZmysqlError, match="out of space"):
        create(replace(job(served_by_two, TWO, "half"), calls=calls), Kind.NOT_ATOMIC)
    assert snapshot_names(served_by_two, TWO) == set()


def test_a_rollback_of_two_pools_that_is_interrupted_is_finished(served_by_two: Host, guest: Guest) -> None:
    with writing(served_by_two) as writer:
        counted: list[int] = []  # once: it doesn't go on before the lock is gone
        said: list[Argv] = []

        def watch(argv: Argv) -> None:
            said.append(argv)
            if len(said) == 1:
                time.sleep(0.5)
                counted.append(writer.acknowledged)
            if len(said) == 2:  # between the two pools: have the dirty pages written, which moves the checkpoint
                query(
                    served_by_two, DSN, "SET GLOBAL innodb_max_dirty_pages_pct = 0, innodb_max_dirty_pages_pct_lwm = 0"
                )
                time.sleep(2)

        taken = create_consistent(job(served_by_two, TWO, "both", watch), DSN, 10)
        writer.goes_on()
        stop(served_by_two)
    assert writer.failed is not None
    assert taken.kind is Kind.CONSISTENT
    took = [(argv[1], argv[-1].partition("@")[0]) for argv in said]
    data, log = f"{TWO}/mysql", f"{TWO}-log/mysql"
    assert took[:4] == [("snapshot", data), ("snapshot", log), ("destroy", log), ("destroy", data)]
    assert took[-3:-1] == [("snapshot", data), ("snapshot", log)]
    assert took[-1][0] == "set"

    class Interrupted(ByCommand):
        def roll_back(self, to: SnapshotSet, newer: Sequence[str]) -> None:
            if to.pool != TWO:
                raise KeyboardInterrupt
            super().roll_back(to, newer)

    with pytest.raises(ZmysqlError) as interrupted:
        go_back(replace(job(served_by_two, TWO, "both"), calls=Interrupted(served_by_two)))
    assert str(interrupted.value).startswith(f"interrupted; {TWO} is rolled back, {TWO}-log isn't; ")
    assert not [member for member in read_layout(served_by_two, TWO).members if member.mounted]
    finished = cli(guest, "rollback", "-y", TWO, "both")
    assert finished.stdout.startswith(f"{TWO} is rolled back to both; the binary log is at binlog.0000")
    layout = read_layout(served_by_two, TWO)
    assert layout.rolling_back_to is None
    assert all(member.mounted for member in layout.members)
    assert not read_openers(served_by_two, layout)
    start(served_by_two)
    sound(served_by_two)
    assert rows(served_by_two) == (counted[0], counted[0])

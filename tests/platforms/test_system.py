"""Which system a host runs, and what is asked of it there."""

import os
import time
from pathlib import Path

import pytest

from zmysql.errors import ZmysqlError
from zmysql.host import Local
from zmysql.platforms.device import Device, MediaClass
from zmysql.platforms.system import FreeBSD, Illumos, Linux, System, find_files, parse_system, system_of

HERE = Local()
BOTH = pytest.mark.parametrize("system", [Linux(), FreeBSD()], ids=lambda system: system.name)


@pytest.mark.parametrize(
    ("uname", "name"),
    [
        ("Linux #1 SMP PREEMPT_DYNAMIC Debian 6.12.48-1 (2025-09-20)\n", "linux"),
        ("FreeBSD FreeBSD 14.3-RELEASE releng/14.3-n271432-8c9ce319fef7 GENERIC\n", "freebsd"),
        ("SunOS omnios-r151046-8ab991ea831\n", "illumos"),
        ("SunOS joyent_20200408T231825Z\n", "illumos"),
        ("SunOS oi_151a4\n", "illumos"),
    ],
)
def test_the_system_is_told_by_uname(uname: str, name: str) -> None:
    assert parse_system(uname, "db1").name == name


@pytest.mark.parametrize(
    ("uname", "called"),
    [
        ("SunOS 11.4.0.15.0\n", "Oracle Solaris"),
        ("SunOS Generic_147148-26\n", "Oracle Solaris"),
        ("Darwin Darwin Kernel Version 23.1.0\n", "Darwin"),
        ("", "something that has no name"),
    ],
)
def test_another_system_is_refused_by_name(uname: str, called: str) -> None:
    with pytest.raises(ZmysqlError, match=f"^db1 runs {called}: zmysql knows Linux, FreeBSD and illumos$"):
        parse_system(uname, "db1")


def test_a_system_that_does_not_answer_as_it_should_is_a_clear_error() -> None:
    with pytest.raises(
        ZmysqlError, match=r"^this machine doesn't tell its disks with `sysctl kern\.geom\.confxml`: .+"
    ):
        FreeBSD().disks(HERE)
    with pytest.raises(ZmysqlError, match=r"^no diskinfo on this machine: "):
        Illumos().disks(HERE)


def test_this_machine_has_a_system_and_memory() -> None:
    system = system_of(HERE)
    assert system.name == "linux"
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert system.memory_bytes(HERE) == pages


def test_a_directory_holds_files_when_a_mount_would_hide_any(tmp_path: Path) -> None:
    system = system_of(HERE)
    assert not system.directory_holds_files(HERE, f"{tmp_path}/absent")
    assert not system.directory_holds_files(HERE, str(tmp_path))
    (tmp_path / ".hidden").touch()
    assert system.directory_holds_files(HERE, str(tmp_path))
    assert system.directory_holds_files(HERE, f"{tmp_path}/.hidden")
    assert system.owner(HERE, str(tmp_path)) == tmp_path.owner()
    assert system.owner(HERE, f"{tmp_path}/absent") is None


@BOTH
def test_processes_are_found_by_the_program_that_they_run(system: System) -> None:
    wanted, found = {("sleep", "61.25"), ("sleep", "62.5")}, set[tuple[str, ...]]()
    with HERE.start(["sleep", "61.25"]), HERE.start(["sleep", "62.5"]):
        deadline = time.monotonic() + 30
        # A program that has only just started shows no arguments for a moment.
        while not wanted <= found and time.monotonic() < deadline:
            found = {one.argv for one in system.processes(HERE, "sleep")}
    assert wanted <= found
    assert system.processes(HERE, "no-such-program") == ()


def test_the_sizes_of_files_are_those_of_the_named_ones(tmp_path: Path) -> None:
    for name in ("a.ibd", "with blank.ibd", "ibdata1", "other"):
        (tmp_path / name).write_bytes(b"x")
    sizes = Linux().record_sizes(HERE, str(tmp_path), ["*.ibd", "ibdata*"])
    assert sizes == ((tmp_path / "a.ibd").stat().st_blksize,) * 3
    assert Linux().record_sizes(HERE, f"{tmp_path}/absent", ["*"]) == ()
    assert find_files("/d", ["*.ibd"]) == ("find", "/d", "-type", "f", "(", "-name", "*.ibd", ")")


def test_perl_tells_the_same_sizes_as_stat(tmp_path: Path) -> None:
    (tmp_path / "a.ibd").write_bytes(b"x")
    for_illumos = Illumos().record_sizes(HERE, str(tmp_path), ["*.ibd"])
    assert for_illumos == ((tmp_path / "a.ibd").stat().st_blksize,)


def test_a_disk_is_blanked_with_the_commands_of_its_system() -> None:
    disk = Device("d0", "/dev/d0", MediaClass.SSD, 1 << 40, 512, 4096, parts=("/dev/d0p1",))
    assert Linux().blank_disk(disk) == (
        ("zpool", "labelclear", "-f", "/dev/d0p1"),
        ("wipefs", "--all", "--quiet", "/dev/d0"),
        ("blockdev", "--rereadpt", "/dev/d0"),
    )
    assert FreeBSD().blank_disk(disk) == (("zpool", "labelclear", "-f", "/dev/d0"),)
    assert Illumos().blank_disk(disk) == (("zpool", "labelclear", "-f", "/dev/d0s0"),)

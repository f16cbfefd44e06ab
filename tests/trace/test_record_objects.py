"""From numbers to files: real output of find, zfs(8) and /proc on Debian 13 with a mysqld on O_DIRECT."""

from __future__ import annotations

from pathlib import Path

from zmysql.trace.format import Dataset
from zmysql.trace.objects import descriptors_with, parse_mounted, parse_opened

MACHINE = Path(__file__).parents[1] / "machines" / "debian13-dtrace2.0"
O_DIRECT = 0o40000


def capture(name: str) -> str:
    return (MACHINE / name).read_text()


def test_datasets_are_found_by_their_device_number() -> None:
    mounted = parse_mounted(capture("zfs-list"), capture("mountinfo"))
    assert mounted.objsets[50] == 91
    assert mounted.datasets[91] == Dataset("tank/data", 16384)
    assert mounted.datasets[100] == Dataset("tank/redo", 131072)
    assert set(mounted.objsets.values()) == mounted.datasets.keys()


def test_a_dataset_that_is_not_mounted_has_no_device() -> None:
    elsewhere = "\n".join(line for line in capture("mountinfo").splitlines() if " /tank/data " not in line)
    mounted = parse_mounted(capture("zfs-list"), elsewhere)
    assert 50 not in mounted.objsets
    assert 91 not in mounted.datasets


def test_open_files_have_device_inode_and_the_path_that_they_have_or_had() -> None:
    opened = {one.descriptor: one for one in parse_opened(capture("fd-links"), capture("fd-files"))}
    assert opened[5].path == "/tank/data/mysql/ibdata1"
    assert (opened[5].device, opened[5].inode) == (50, 11)
    assert opened[9].path == "/tank/redo/#innodb_redo/#ib_redo28"
    assert opened[6].path == "/tmp/#32"  # unlinked
    assert all(one.inode > 0 for one in opened.values())


def test_sockets_and_devices_are_no_files() -> None:
    paths = [one.path for one in parse_opened(capture("fd-links"), capture("fd-files"))]
    assert not [path for path in paths if path.startswith(("socket:", "pipe:", "/dev/"))]


def test_descriptors_with_o_direct() -> None:
    direct = descriptors_with(capture("fdinfo-flags"), O_DIRECT)
    opened = {one.descriptor: one.path for one in parse_opened(capture("fd-links"), capture("fd-files"))}
    assert "/tank/data/mysql/ibdata1" in {opened[number] for number in direct}
    assert not {path for number, path in opened.items() if number in direct and "redo" in path}

"""Udev rules for captured disks; that the kernel obeys them is seen in the guest."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from captures import inventory

from zmysql.errors import ZmysqlError
from zmysql.platforms.device import MediaClass
from zmysql.platforms.udev import rules

DISKS = inventory("debian13-zfs2.3-hybrid").devices
NAMED = tuple(disk for disk in DISKS if disk.by_id)
LINE = re.compile(
    r'ACTION=="add\|change", SUBSYSTEM=="block", ENV\{DEVTYPE\}=="disk", SYMLINK=="(?P<link>[^"]+)", '
    r'ATTR\{queue/scheduler\}="none", ATTR\{queue/add_random\}="0"(?P<rotational>, ATTR\{queue/rotational\}="0")?'
)


def test_each_disk_has_one_rule_by_its_stable_name() -> None:
    lines = [line for line in rules("tank", NAMED).splitlines() if line and not line.startswith("#")]
    found = [LINE.fullmatch(line) for line in lines]
    assert all(found)
    assert [f"/dev/{match['link']}" for match in found if match] == [disk.by_id for disk in NAMED]
    assert {disk.media for disk in NAMED} == set(MediaClass)
    assert [match["rotational"] is not None for match in found if match] == [
        disk.media is not MediaClass.HDD for disk in NAMED
    ]


def test_the_file_says_where_it_goes() -> None:
    text = rules("tank", NAMED)
    assert text.startswith("# /etc/udev/rules.d/66-zmysql-tank.rules: ")
    assert max(len(line) for line in text.splitlines() if line.startswith("#")) <= 120


def test_a_disk_without_a_stable_name_is_refused() -> None:
    with pytest.raises(ZmysqlError, match=r"sdx: no name under /dev/disk/by-id"):
        rules("tank", (*NAMED, replace(NAMED[0], name="sdx", by_id=None)))


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("ata-A[1]*?", "ata-A[[]1][*][?]"), ('x", RUN+="/bin/sh', "x?, RUN+=?/bin/sh"), ("a|b", "a?b")],
)
def test_a_name_is_no_pattern_and_ends_no_text(name: str, pattern: str) -> None:
    text = rules("tank", (replace(NAMED[0], by_id=f"/dev/disk/by-id/{name}"),))
    assert f'SYMLINK=="disk/by-id/{pattern}", ATTR' in text

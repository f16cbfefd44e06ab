"""What zpool create refuses is what the planner refuses before it; and what a person allows is then done, with -f."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from zmysql.layout.inventory import read_inventory, read_site
from zmysql.layout.model import Allow, Plan, Prefer, RoleSpec
from zmysql.layout.plan import make_plan, wanted_pool
from zmysql.layout.rules.case import Case
from zmysql.layout.rules.redundancy import zpool_objects
from zmysql.layout.template import load_template
from zmysql.platforms.system import system_of
from zmysql.zfs.commands import create_pool, destroy_pool
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Host
    from zmysql.platforms.device import Device

ALL_HDD = load_template("all-hdd")
DATA, SPECIAL, LOG = VdevRole.DATA, VdevRole.SPECIAL, VdevRole.LOG

# The vdevs of a pool by role and kind, and their disks: all of one size but for some of the SSDs.
LAYOUTS: list[list[tuple[VdevRole, str, str]]] = [
    [(DATA, "mirror", "sda sdb sdc")],
    [(DATA, "mirror", "sda sdg")],
    [(DATA, "mirror", "sda sdb"), (SPECIAL, "disk", "sdg")],
    [(DATA, "mirror", "sda sdb"), (SPECIAL, "mirror", "sdg sdh")],
    [(DATA, "raidz1", "sda sdb sdc"), (SPECIAL, "mirror", "sdg sdh")],
    [(DATA, "raidz2", "sda sdb sdc sdd"), (SPECIAL, "mirror", "sdg sdh")],
    [(DATA, "mirror", "sda sdb"), (LOG, "mirror", "sdg sdi")],
]


@pytest.fixture
def sda(guest: Host) -> Iterator[Device]:
    """Give a disk with a file system that nobody mounts; afterwards it and its neighbours are free again."""
    guest.run(("mkfs.ext4", "-q", "-F", "-L", "old", "/dev/sda"))
    system = system_of(guest)
    system.settle(guest)
    device = read_inventory(guest).named("sda")
    assert device is not None
    yield device
    guest.run(destroy_pool("tank"), check=False)
    for one in read_inventory(guest).devices:
        if one.name in {"sda", "sdb"}:
            for argv in system.blank_disk(one):
                guest.run(argv, check=False)
    system.settle(guest)


def test_zpool_refuses_what_we_say_that_it_refuses(guest: Host) -> None:
    inventory, site = read_inventory(guest), read_site(guest, "tank")
    said, commands = list[list[str]](), list[str]()
    for layout in LAYOUTS:
        disks = {
            role: tuple(one for one in inventory.devices if one.name in names.split()) for role, _, names in layout
        }
        roles = tuple(
            RoleSpec(role, ALL_HDD.pools[0].roles[0].classes, kind, len(disks[role]), 1, None, Prefer.LARGEST)
            for role, kind, _ in layout
        )
        spec = replace(ALL_HDD.pools[0], roles=roles)
        said.append(list(zpool_objects(Case(spec, disks, site))))
        bare = replace(wanted_pool("tank", spec, disks), properties={}, datasets=())
        commands.append(shlex.join(create_pool(bare)).replace("zpool create", "zpool create -n", 1))
    script = "; ".join(f"{command} >/dev/null 2>&1 && echo taken || echo refused" for command in commands)
    answers = guest.run(("sh", "-c", script)).stdout.split()
    assert answers == ["refused" if objections else "taken" for objections in said]
    assert set(answers) == {"refused", "taken"}


def test_a_disk_with_a_file_system_is_taken_when_that_is_allowed(guest: Host, sda: Device) -> None:
    named = {DATA: ["sda", "sdb"]}
    inventory, site = read_inventory(guest), read_site(guest, "tank")
    refused = make_plan("tank", ALL_HDD, ALL_HDD.pools[0], inventory, named, site)
    assert isinstance(refused, tuple)
    assert [(one.about, one.allow) for one in refused] == [("sda", Allow.IN_USE)]
    assert "ext4 old" in str(refused[0])
    made = make_plan("tank", ALL_HDD, ALL_HDD.pools[0], inventory, named, site, frozenset({Allow.IN_USE}))
    assert isinstance(made, Plan)
    assert made.steps[0][:3] == ("zpool", "create", "-f")
    without_force = (*made.steps[0][:2], "-n", *made.steps[0][3:])
    assert guest.run(without_force, check=False).exit_status != 0, "zpool create itself refuses it"
    guest.run(made.steps[0])
    taken = read_inventory(guest).named(sda.name)
    assert taken is not None
    assert [use.pool for use in taken.used_by] == ["tank"]

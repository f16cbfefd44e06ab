"""The exact commands: a machine's inventory and a template give one plan. What each template gives: test_golden.py."""

from dataclasses import replace

import pytest
from captures import inventory

from zmysql.errors import UsageError
from zmysql.layout.inventory import Site, without
from zmysql.layout.model import Allow, Inventory, Plan
from zmysql.layout.plan import as_shell, check_pool_name, make_plan
from zmysql.layout.template import load_template, parse_template
from zmysql.platforms.device import Use, UseKind
from zmysql.zfs.capability import Zfs
from zmysql.zfs.model import VdevRole

SITE = Site(mountpoint_is_taken=False, has_mysql_user=True, memory_bytes=16 << 30)
BLANK = inventory("debian13-zfs2.3-blank")
ALL_HDD = load_template("all-hdd")


def plan(template: str, there: Inventory = BLANK, site: Site = SITE) -> Plan:
    wanted = load_template(template)
    made = make_plan("tank", wanted, wanted.pools[0], there, {}, site)
    assert isinstance(made, Plan), made
    return made


@pytest.mark.parametrize("template", ["all-hdd", "hybrid"])
def test_a_machine_in_use_gives_no_plan(template: str) -> None:
    wanted = load_template(template)
    for machine in ("busy", "held", "destroyed", "hybrid", "special"):
        found = make_plan("tank", wanted, wanted.pools[0], inventory(f"debian13-zfs2.3-{machine}"), {}, SITE)
        assert isinstance(found, tuple)
        assert found


def test_a_plan_uses_stable_names_only_where_there_are_some() -> None:
    bare = Inventory(tuple(replace(one, by_id=None, aliases=()) for one in BLANK.devices), ())
    made = plan("all-hdd", bare)
    assert made.steps[0][-6:] == ("mirror", "/dev/sda", "/dev/sdb", "mirror", "/dev/sdc", "/dev/sdd")
    assert any("no name that survives a reboot" in reason for reason in made.reasons)


def test_a_pool_says_from_its_first_moment_what_it_is_made_from() -> None:
    wanted = load_template("hybrid", ["data.recordsize=32K", "pool.ashift=13"])
    made = make_plan("tank", wanted, wanted.pools[0], BLANK, {}, SITE)
    assert isinstance(made, Plan)
    words = made.steps[0]
    assert [words[at + 1] for at, word in enumerate(words) if word == "-O" and words[at + 1].startswith("zmysql:")] == [
        "zmysql:template=hybrid",
        "zmysql:layout=tank",
        "zmysql:set=data.recordsize=32K pool.ashift=13",
        "zmysql:state=creating",
    ]
    assert "zmysql:set='" not in as_shell(made)
    assert "'zmysql:set=data.recordsize=32K pool.ashift=13'" in as_shell(made)


TWO_POOLS = """
description = "tables on HDD, redo on SSD"
when = "there are both"
sources = ["this test"]
[pool]
ashift = "12"
[vdevs.data]
class = ["hdd"]
kind = "mirror"
width = 2
min = 1
prefer = "largest"
[properties]
atime = "off"
[datasets.data]
recordsize = "16K"
[pools.log.pool]
ashift = "12"
[pools.log.vdevs.data]
class = ["hdd", "ssd"]
kind = "mirror"
width = 2
min = 1
fill = 1
prefer = "largest"
[pools.log.properties]
atime = "off"
[pools.log.datasets.redo]
recordsize = "128K"
"""


def test_two_pools_of_a_layout_share_its_name_and_no_disk() -> None:
    template = parse_template("mine", TWO_POOLS)
    first = make_plan("tank", template, template.pools[0], BLANK, {}, SITE)
    assert isinstance(first, Plan)
    second = make_plan("tank", template, template.pools[1], without(BLANK, first.devices), {}, SITE)
    assert isinstance(second, Plan)
    assert [plan.wanted.name for plan in (first, second)] == ["tank", "tank-log"]
    assert [[one.name for one in plan.devices] for plan in (first, second)] == [
        ["sda", "sdb", "sdc", "sdd"],
        ["sde", "sdf"],
    ]
    assert all("zmysql:layout=tank" in plan.steps[0] for plan in (first, second))
    assert second.steps[-1] == ("zfs", "set", "zmysql:state=complete", "tank-log")
    named = {VdevRole.DATA: ["sda", "sde"]}
    refused = make_plan("tank", template, template.pools[1], without(BLANK, first.devices), named, SITE)
    assert isinstance(refused, tuple)
    assert str(refused[0]) == "sda: is in use (taken by another pool of this layout); name another disk"
    taken = replace(SITE, mountpoint_is_taken=True)
    refused = make_plan("tank", template, template.pools[1], BLANK, {}, taken)
    assert isinstance(refused, tuple)
    assert [one.about for one in refused] == ["/tank-log"]


def test_what_the_zfs_of_the_host_lacks_is_left_out_or_refused_before_anything_is_made() -> None:
    template = load_template("hybrid", ["data.direct=disabled", "tmp.compression=zstd"])
    old = replace(SITE, zfs=Zfs("linux", (2, 2)))
    made = make_plan("tank", template, template.pools[0], BLANK, {}, old)
    assert isinstance(made, Plan)
    assert not any("direct=" in word for step in made.steps[:-1] for word in step if not word.startswith("zmysql:"))
    assert any(reason.startswith("datasets.data.direct=disabled is left out: ") for reason in made.reasons)
    illumos = replace(SITE, zfs=Zfs("illumos", None))
    refused = make_plan("tank", template, template.pools[0], BLANK, {}, illumos)
    assert isinstance(refused, tuple)
    assert [one.about for one in refused] == ["datasets.tmp.compression=zstd"]


def test_a_disk_is_taken_from_what_lies_on_it_only_when_that_is_allowed_and_the_plan_says_so() -> None:
    label = Use(UseKind.FILE_SYSTEM, "ext4 old\nrm -rf / #\x1b[2J", way_out="wipe it")
    there = Inventory((replace(BLANK.devices[0], used_by=(label,)), *BLANK.devices[1:]), ())
    named = {VdevRole.DATA: ["sda", "sdb"]}
    refused = make_plan("tank", ALL_HDD, ALL_HDD.pools[0], there, named, SITE)
    assert isinstance(refused, tuple)
    assert [str(one) for one in refused] == [
        "sda: is in use (ext4 old\\nrm -rf / #\\x1b[2J); wipe it (or --allow-in-use, if you know better)"
    ]
    allowed = frozenset({Allow.IN_USE})
    made = make_plan("tank", ALL_HDD, ALL_HDD.pools[0], there, named, SITE, allowed)
    assert isinstance(made, Plan)
    assert made.steps[0][:3] == ("zpool", "create", "-f")
    # What somebody wrote on the disk stays within the comment.
    lines = as_shell(made).splitlines()
    assert "# sda: is in use (ext4 old\\nrm -rf / #\\x1b[2J), and all that is on it will be lost: allowed with" in (
        as_shell(made)
    )
    assert next(line for line in lines if not line.startswith("# ")).startswith("zpool create -f -o ashift=12 ")
    assert "-f" not in plan("all-hdd", there).steps[0]
    # Unasked it is never taken, whatever is allowed.
    free = make_plan("tank", ALL_HDD, ALL_HDD.pools[0], there, {}, SITE, allowed)
    assert isinstance(free, Plan)
    assert "sda" not in {one.name for one in free.devices}


@pytest.mark.parametrize("name", ["by id", "a\nb", "-rf", "x'y", '"', "$(id)"])
def test_a_disk_whose_own_name_no_command_takes_is_no_use(name: str) -> None:
    odd = replace(BLANK.devices[0], by_id=f"/dev/disk/by-id/{name}" if name != "-rf" else name)
    there = Inventory((odd, *BLANK.devices[1:]), ())
    refused = make_plan("tank", ALL_HDD, ALL_HDD.pools[0], there, {VdevRole.DATA: ["sda", "sdb"]}, SITE)
    assert isinstance(refused, tuple)
    assert "is no path that a command takes" in str(refused[0])
    assert "\n" not in str(refused[0])
    assert "sda" not in {one.name for one in plan("all-hdd", there).devices}


@pytest.mark.parametrize(
    ("sector_bytes", "ashift"), [(512, "12"), (4096, "12"), (8192, "13"), (16384, "14"), (65536, "14")]
)
def test_big_sectors_raise_ashift(sector_bytes: int, ashift: str) -> None:
    devices = (replace(BLANK.devices[0], physical_sector_bytes=sector_bytes), *BLANK.devices[1:])
    made = plan("all-hdd", Inventory(devices, ()))
    assert made.wanted.properties["ashift"] == ashift
    assert f"ashift={ashift}" in made.steps[0]


def test_without_a_user_mysql_nothing_is_handed_over_and_the_plan_says_so() -> None:
    made = plan("all-hdd", site=replace(SITE, has_mysql_user=False))
    assert all(step[0] in {"zpool", "zfs"} for step in made.steps)
    assert "there is no user mysql here" in made.reasons[-1]


def test_a_mount_point_that_holds_files_is_refused_beside_all_else() -> None:
    site = replace(SITE, mountpoint_is_taken=True)
    refusals = make_plan("tank", ALL_HDD, ALL_HDD.pools[0], inventory("debian13-zfs2.3-busy"), {}, site)
    assert isinstance(refusals, tuple)
    assert [refusal.about for refusal in refusals] == ["data", "/tank"]


def test_while_another_process_makes_the_pool_there_is_one_refusal() -> None:
    refusals = make_plan("tank", ALL_HDD, ALL_HDD.pools[0], BLANK, {}, replace(SITE, making_pid=123))
    assert isinstance(refusals, tuple)
    assert [str(refusal).startswith("tank: process 123 runs `zpool create`") for refusal in refusals] == [True]


@pytest.mark.parametrize("name", ["tank", "T", "db-1", "a.b:c_d", "logs", "cache", "camera"])
def test_a_pool_name_that_zfs_takes(name: str) -> None:
    assert check_pool_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "1tank",
        "-rf",
        "a b",
        "a/b",
        "a\n",
        "a'b",
        "a@b",
        "log",
        "mirror",
        "mirrored",
        "raidz9",
        "draid",
        "spared",
        "c0t0d0",
        "ä",
        "x" * 300,
    ],
)
def test_a_pool_name_that_zfs_refuses(name: str) -> None:
    with pytest.raises(UsageError) as error:
        check_pool_name(name)
    assert "\n" not in str(error.value)

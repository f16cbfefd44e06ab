"""The exact commands, against goldens: a machine's inventory and a template give one plan."""

from dataclasses import replace
from pathlib import Path

import pytest
from captures import inventory

from zmysql.errors import UsageError
from zmysql.layout.inventory import Site
from zmysql.layout.model import Inventory, Plan
from zmysql.layout.plan import as_shell, check_pool_name, make_plan
from zmysql.layout.template import load_template, template_names

GOLDEN = Path(__file__).parent / "golden"
SITE = Site(mountpoint_is_taken=False, has_mysql_user=True)
BLANK = inventory("debian13-zfs2.3-blank")


def plan(template: str, there: Inventory = BLANK, site: Site = SITE) -> Plan:
    made = make_plan("tank", load_template(template), there, {}, site)
    assert isinstance(made, Plan), made
    return made


@pytest.mark.parametrize("template", template_names())
def test_the_plan_is_the_golden_one(template: str) -> None:
    """After a change that is meant, write what the failure shows into the golden and read its diff."""
    assert as_shell(plan(template)) == (GOLDEN / f"blank-{template}.sh").read_text()


@pytest.mark.parametrize("template", template_names())
def test_a_machine_in_use_gives_no_plan(template: str) -> None:
    for machine in ("busy", "held", "destroyed", "hybrid", "special"):
        found = make_plan("tank", load_template(template), inventory(f"debian13-zfs2.3-{machine}"), {}, SITE)
        assert isinstance(found, tuple)
        assert found


def test_a_plan_uses_stable_names_only_where_there_are_some() -> None:
    bare = Inventory(tuple(replace(one, by_id=None, aliases=()) for one in BLANK.devices), ())
    made = plan("all-hdd", bare)
    assert made.steps[0][-6:] == ("mirror", "/dev/sda", "/dev/sdb", "mirror", "/dev/sdc", "/dev/sdd")
    assert any("no name under /dev/disk/by-id" in reason for reason in made.reasons)


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
    refusals = make_plan("tank", load_template("all-hdd"), inventory("debian13-zfs2.3-busy"), {}, site)
    assert isinstance(refusals, tuple)
    assert [refusal.about for refusal in refusals] == ["data", "/tank"]


def test_while_another_process_makes_the_pool_there_is_one_refusal() -> None:
    refusals = make_plan("tank", load_template("all-hdd"), BLANK, {}, replace(SITE, making_pid=123))
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

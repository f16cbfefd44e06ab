"""A layout of several pools: each is made, finished or left by itself, and no disk is taken twice."""

from dataclasses import replace

from captures import inventory

from zmysql.layout.decide import decide
from zmysql.layout.existing import Existing
from zmysql.layout.inventory import Seen, Site
from zmysql.layout.model import Allow, Inventory, Refusal, Request
from zmysql.layout.template import load_template
from zmysql.platforms.device import MediaClass, Use, UseKind
from zmysql.zfs.capability import Zfs
from zmysql.zfs.model import Pool, VdevRole

MANY = inventory("debian13-zfs2.3-many")
SITE = Site(mountpoint_is_taken=False, has_mysql_user=True, memory_bytes=16 << 30, zfs=Zfs("linux", (2, 3)))
TWO = load_template("ssd-data-hdd-log")
HDDS = [one.name for one in MANY.devices if one.media is MediaClass.HDD and not one.used_by]
SSDS = [one.name for one in MANY.devices if one.media is MediaClass.SSD and not one.used_by]


def seen(there: Inventory = MANY, **actual: Pool) -> Seen:
    return Seen(
        there, {"tank": SITE, "tank-log": SITE}, {name.replace("_", "-"): pool for name, pool in actual.items()}
    )


def created(found: dict[str, Existing] | tuple[Refusal, ...], pool: str) -> set[str]:
    """Give the names of the disks of which a pool is to be made."""
    assert isinstance(found, dict), found
    plan = found[pool].plan
    assert plan is not None
    assert plan.steps[0][:2] == ("zpool", "create")
    return {device.name for device in plan.devices}


def made(pool: str) -> Pool:
    """Give a pool of the layout as it is read back when it was just made."""
    found = decide(Request("tank", TWO, {}), seen())
    assert isinstance(found, dict)
    plan = found[pool].plan
    assert plan is not None
    marks = {"zmysql:template": TWO.name, "zmysql:layout": "tank", "zmysql:state": "complete"}
    root = plan.wanted.datasets[0].properties
    datasets = tuple(
        replace(
            one,
            properties={
                **root,
                **one.properties,
                "mountpoint": f"/{one.name}",
                "mounted": "yes",
                **(marks if one.name == pool else {}),
            },
        )
        for one in plan.wanted.datasets
    )
    return replace(plan.wanted, datasets=datasets)


def test_both_pools_are_made_of_disks_of_their_class_and_share_none() -> None:
    found = decide(Request("tank", TWO, {}), seen())
    tables, logs = created(found, "tank"), created(found, "tank-log")
    assert not tables & logs
    assert logs < set(HDDS)
    assert not tables & set(HDDS)
    assert list(found) == ["tank", "tank-log"]


def test_where_the_first_is_there_the_second_is_made() -> None:
    found = decide(Request("tank", TWO, {}), seen(tank=made("tank")))
    assert isinstance(found, dict)
    assert (found["tank"].plan, found["tank"].differences) == (None, ())
    assert created(found, "tank-log")


def test_where_both_are_there_nothing_is_to_be_done() -> None:
    found = decide(Request("tank", TWO, {}), seen(tank=made("tank"), tank_log=made("tank-log")))
    assert isinstance(found, dict)
    assert [(one.plan, one.differences) for one in found.values()] == [(None, ()), (None, ())]


def test_named_disks_go_to_the_pool_that_they_are_named_for() -> None:
    named = {None: {VdevRole.DATA: SSDS[:2]}, "log": {VdevRole.DATA: HDDS[:2]}}
    found = decide(Request("tank", TWO, named), seen())
    assert created(found, "tank") == set(SSDS[:2])
    assert created(found, "tank-log") == set(HDDS[:2])


def test_once_a_disk_is_named_no_pool_chooses_for_itself() -> None:
    refusals = decide(Request("tank", TWO, {None: {VdevRole.DATA: SSDS[:2]}}), seen())
    assert isinstance(refusals, tuple)
    assert [one.about for one in refusals] == ["tank-log"]
    assert "--data log:" in refusals[0].way_out


def test_one_disk_for_both_pools_is_refused() -> None:
    named = {None: {VdevRole.DATA: SSDS[:2]}, "log": {VdevRole.DATA: [HDDS[0], SSDS[0]]}}
    refusals = decide(Request("tank", TWO, named), seen())
    assert isinstance(refusals, tuple)
    assert any(one.about == f"tank-log: {SSDS[0]}" and "another pool of this layout" in one.why for one in refusals)


def test_a_pool_of_the_name_that_is_not_imported_is_not_made_a_second_time() -> None:
    label = Use(UseKind.LABEL, "label of pool tank, not imported", "tank")
    devices = tuple(replace(one, used_by=(label,)) if one.name in {HDDS[0], HDDS[1]} else one for one in MANY.devices)
    request = Request("tank", load_template("all-hdd"), {})
    refusals = decide(request, seen(replace(MANY, devices=devices)))
    assert isinstance(refusals, tuple)
    (refusal,) = refusals
    assert (refusal.about, refusal.allow) == ("tank", Allow.IN_USE)
    assert "`zpool import tank`" in refusal.way_out
    allowed = decide(replace(request, allow=frozenset({Allow.IN_USE})), seen(replace(MANY, devices=devices)))
    assert created(allowed, "tank") == set(HDDS[2:])


def test_a_pool_of_another_layout_is_left_alone() -> None:
    foreign = made("tank-log")
    root = replace(foreign.datasets[0], properties={**foreign.datasets[0].properties, "zmysql:layout": "tank-log"})
    refusals = decide(Request("tank", TWO, {}), seen(tank_log=replace(foreign, datasets=(root, *foreign.datasets[1:]))))
    assert isinstance(refusals, tuple)
    assert "belongs to the layout tank-log" in refusals[0].why

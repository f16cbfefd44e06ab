"""What is changed in a pool that runs, what is named as unchangeable, and that nothing is ever taken away."""

from dataclasses import replace

import pytest
from captures import inventory, pool

from zmysql.layout.existing import Existing, judge
from zmysql.layout.inventory import Site
from zmysql.layout.model import Refusal, Request
from zmysql.layout.template import load_template
from zmysql.platforms.device import Use, UseKind
from zmysql.zfs.model import Dataset, Pool, Vdev, VdevRole

THERE = inventory("debian13-zfs2.3-hybrid")
TANK = pool("debian13-zfs2.3-hybrid")
SITE = Site(mountpoint_is_taken=True, has_mysql_user=True)
SETS = ("zfs", "set")


def reconciled(
    actual: Pool, template: str = "hybrid", named: dict[VdevRole, list[str]] | None = None
) -> Existing | tuple[Refusal, ...]:
    """Judge a pool; the SSDs that it doesn't use any more are free."""
    carried = {path for vdev in actual.vdevs for path in vdev.disks}
    devices = tuple(
        one if any(one.carries(path) for path in carried) or not _in_tank(one.used_by) else replace(one, used_by=())
        for one in THERE.devices
    )
    loaded = load_template(template)
    request = Request("tank", loaded, {None: named or {}}, reconcile=True)
    return judge(request, loaded.pools[0], replace(THERE, devices=devices), actual, SITE)


def _in_tank(uses: tuple[Use, ...]) -> bool:
    return any(use.kind is UseKind.POOL for use in uses)


def having(dataset: str, **properties: str) -> Pool:
    datasets = (
        replace(one, properties={**one.properties, **properties}) if one.name == dataset else one
        for one in TANK.datasets
    )
    return replace(TANK, datasets=tuple(datasets))


def steps(found: Existing | tuple[Refusal, ...]) -> tuple[tuple[str, ...], ...]:
    assert isinstance(found, Existing), found
    assert found.plan is not None, found
    return found.plan.steps


def test_a_pool_that_matches_needs_nothing() -> None:
    found = reconciled(TANK)
    assert isinstance(found, Existing)
    assert (found.plan, found.differences, found.stays) == (None, (), ())


@pytest.mark.parametrize(
    ("actual", "step"),
    [
        (having("tank", atime="on"), (*SETS, "atime=off", "tank")),
        (having("tank/mysql/tmp", logbias="latency"), (*SETS, "logbias=throughput", "tank/mysql/tmp")),
        (having("tank/mysql/data", recordsize="131072"), (*SETS, "recordsize=16K", "tank/mysql/data")),
        # What the template leaves to the root is inherited again, not set once more.
        (having("tank/mysql", compression="off"), ("zfs", "inherit", "compression", "tank/mysql")),
        (having("tank/mysql/redo", mounted="no"), ("zfs", "mount", "tank/mysql/redo")),
        (replace(TANK, properties={**TANK.properties, "autotrim": "off"}), ("zpool", "set", "autotrim=on", "tank")),
    ],
)
def test_what_can_be_changed_is_one_command(actual: Pool, step: tuple[str, ...]) -> None:
    assert steps(reconciled(actual)) == (step,)


def test_a_new_recordsize_says_what_it_does_not_do() -> None:
    found = reconciled(having("tank/mysql/data", recordsize="131072"))
    assert isinstance(found, Existing)
    assert found.plan is not None
    assert any("files already written keep their records" in reason for reason in found.plan.reasons)


def test_a_missing_dataset_is_created_and_handed_over() -> None:
    without = replace(TANK, datasets=tuple(one for one in TANK.datasets if one.name != "tank/mysql/redo"))
    create, *owner = steps(reconciled(without))
    assert create[:2] == ("zfs", "create")
    assert create[-1] == "tank/mysql/redo"
    assert owner == [("chown", "mysql:mysql", "/tank/mysql/redo"), ("chmod", "0750", "/tank/mysql/redo")]


def test_missing_log_and_cache_come_from_free_disks_of_their_class() -> None:
    bare = replace(TANK, vdevs=TANK.with_role(VdevRole.DATA))
    found = reconciled(bare)
    (add,) = steps(found)
    assert add[:4] == ("zpool", "add", "tank", "log")
    assert add[4] == "mirror"
    assert add[7] == "cache"
    assert len(add) == len(("zpool", "add", "tank", "log", "mirror", "a", "b", "cache", "c"))
    assert isinstance(found, Existing)
    assert found.stays == ()
    # The disks are looked at again before the command runs.
    assert found.plan is not None
    assert {device.name for device in found.plan.devices} == {"sdg", "sdh", "nvme0n1"}


def test_a_named_cache_is_added_if_its_disk_is_free() -> None:
    named = {
        VdevRole.DATA: ["sda", "sdb", "sdc", "sdd", "sde", "sdf"],
        VdevRole.LOG: ["sdg", "sdh"],
        VdevRole.CACHE: ["nvme0n1"],
    }
    bare = replace(TANK, vdevs=tuple(one for one in TANK.vdevs if one.role is not VdevRole.CACHE))
    (add,) = steps(reconciled(bare, named=named))
    assert add[:4] == ("zpool", "add", "tank", "cache")
    assert add[4].startswith("/dev/disk/by-id/")
    system = next(one.name for one in THERE.devices if any(use.kind is UseKind.MOUNTED for use in one.used_by))
    refused = reconciled(bare, named={**named, VdevRole.CACHE: [system]})
    assert isinstance(refused, tuple)
    assert "is in use" in refused[0].why


def test_another_template_is_taken_on_where_only_what_can_be_added_is_missing() -> None:
    made_from_hdd = having("tank", **{"zmysql:template": "all-hdd"})
    found = reconciled(replace(made_from_hdd, vdevs=TANK.with_role(VdevRole.DATA)))
    done = steps(found)
    assert (*SETS, "zmysql:template=hybrid", "tank") in done
    assert any(step[:3] == ("zpool", "add", "tank") for step in done)


@pytest.mark.parametrize(
    ("actual", "what", "way_out"),
    [
        (replace(TANK, properties={**TANK.properties, "ashift": "9"}), "ashift", "keeps its ashift for life"),
        (replace(TANK, state="DEGRADED"), "state", "see `zpool status tank`"),
        (having("tank/mysql/redo", mountpoint="/x"), "mountpoint", "stop mysqld, then"),
        (
            replace(TANK, vdevs=(*TANK.vdevs, Vdev(VdevRole.SPECIAL, "disk", ("/dev/sdx1",)))),
            "special vdev",
            "left alone",
        ),
        (replace(TANK, vdevs=(Vdev(VdevRole.DATA, "disk", ("/dev/sda1",)), *TANK.vdevs[2:])), "data vdev", "zfs send"),
    ],
)
def test_what_cannot_be_changed_is_named_with_a_way_out(actual: Pool, what: str, way_out: str) -> None:
    found = reconciled(actual)
    assert isinstance(found, Existing)
    assert found.plan is None
    (stays,) = found.stays
    assert stays.difference.what == what
    assert way_out in stays.way_out


def test_nothing_is_ever_taken_away() -> None:
    more = replace(
        TANK,
        vdevs=(*TANK.vdevs, Vdev(VdevRole.CACHE, "disk", ("/dev/sdx1",)), Vdev(VdevRole.SPARE, "disk", ("/dev/sdy1",))),
        datasets=(*TANK.datasets, Dataset("tank/home", {"mounted": "yes"})),
    )
    found = reconciled(replace(more, properties={**more.properties, "autotrim": "off"}))
    assert isinstance(found, Existing)
    assert steps(found) == (("zpool", "set", "autotrim=on", "tank"),)
    assert all("left alone" in stays.way_out or "zfs send" in stays.way_out for stays in found.stays)

"""A real pool against its template: nothing differs, and each thing that is changed is found and named."""

from dataclasses import replace

import pytest
from captures import inventory, pool

from zmysql.layout.compare import compare
from zmysql.layout.existing import Existing, judge
from zmysql.layout.inventory import Site
from zmysql.layout.model import Assignment, Inventory, Refusal, Request
from zmysql.layout.plan import COMPLETE, COMPLETING, CREATING, wanted_pool
from zmysql.layout.roles import assign
from zmysql.layout.template import load_template
from zmysql.zfs.model import Dataset, Pool, Vdev, VdevRole

HYBRID = load_template("hybrid")
THERE = inventory("debian13-zfs2.3-hybrid")
TANK = pool("debian13-zfs2.3-hybrid")
SITE = Site(mountpoint_is_taken=True, has_mysql_user=True)
CACHE = next(one for one in THERE.devices if one.name == "nvme0n1")
NAMED = {
    VdevRole.DATA: ["sdd", "sdc", "sda", "sdb", "sde", "sdf"],
    VdevRole.LOG: ["sdg", "sdh"],
    VdevRole.CACHE: [CACHE.stable_path.rsplit("/", 1)[1]],
}


def having(dataset: str, **properties: str) -> Pool:
    """Give the captured pool with some properties of a dataset changed."""
    changed = (
        replace(one, properties={**one.properties, **properties}) if one.name == dataset else one
        for one in TANK.datasets
    )
    return replace(TANK, datasets=tuple(changed))


def marked(pool: Pool, state: str) -> Pool:
    root = pool.datasets[0]
    first = Dataset(root.name, {**root.properties, "zmysql:state": state})
    return replace(pool, datasets=(first, *pool.datasets[1:]))


def without(*names: str) -> Pool:
    return replace(TANK, datasets=tuple(one for one in TANK.datasets if one.name not in names))


def judged(
    actual: Pool, named: dict[VdevRole, list[str]] | None = None, template: str = "hybrid", machine: Inventory = THERE
) -> Existing | tuple[Refusal, ...]:
    loaded = load_template(template)
    return judge(Request("tank", loaded, {None: named or {}}), loaded.pools[0], machine, actual, SITE)


def differences(actual: Pool, named: dict[VdevRole, list[str]] | None = None) -> list[str]:
    found = judged(actual, named)
    assert isinstance(found, Existing), found
    assert found.plan is None
    return [str(difference) for difference in found.differences]


def test_what_was_created_is_what_was_wanted() -> None:
    blank = inventory("debian13-zfs2.3-many")
    assignment = assign("hybrid", HYBRID.pools[0], blank, {})
    assert isinstance(assignment, Assignment)
    assert compare(wanted_pool("tank", HYBRID.pools[0], assignment.disks), TANK, THERE) == ()


def test_a_pool_that_matches_leaves_nothing_to_do() -> None:
    assert differences(TANK) == []
    assert differences(TANK, NAMED) == []


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        (having("tank/mysql/data", recordsize="131072"), "tank/mysql/data: recordsize is 131072, wanted 16K"),
        (having("tank", atime="on"), "tank: atime is on, wanted off"),
        (having("tank/mysql/tmp", logbias="latency"), "tank/mysql/tmp: logbias is latency, wanted throughput"),
        (having("tank/mysql/data", primarycache="metadata"), "tank/mysql/data: primarycache is metadata, wanted all"),
        (having("tank/mysql", compression="off"), "tank/mysql: compression is off, wanted lz4"),
        (having("tank/mysql/redo", mounted="no"), "tank/mysql/redo: mounted is no, wanted yes"),
        (having("tank/mysql/redo", mountpoint="/x"), "tank/mysql/redo: mountpoint is /x, wanted /tank/mysql/redo"),
        (without("tank/mysql/redo"), "tank/mysql/redo: dataset is absent, wanted there"),
        (replace(TANK, state="DEGRADED"), "tank: state is DEGRADED, wanted ONLINE"),
        (replace(TANK, properties={**TANK.properties, "autotrim": "off"}), "tank: autotrim is off, wanted on"),
        (replace(TANK, vdevs=TANK.vdevs[:4]), "tank: cache vdevs is 0, wanted 1 or more"),
        (
            replace(TANK, vdevs=(*TANK.vdevs[:4], Vdev(VdevRole.CACHE, "disk", ("/dev/sda1",)))),
            "tank: cache vdev is disk sda, wanted disk of 1 ssd or nvme",
        ),
        (
            replace(TANK, vdevs=(*TANK.vdevs, Vdev(VdevRole.SPECIAL, "disk", ("/dev/sdx1",)))),
            "tank: special vdev is disk /dev/sdx1, wanted none",
        ),
    ],
)
def test_each_difference_is_found_and_is_the_only_one(actual: Pool, said: str) -> None:
    assert differences(actual) == [said]


def test_named_disks_are_compared_with_the_real_ones() -> None:
    other = {**NAMED, VdevRole.DATA: ["sda", "sdc", "sdb", "sdd", "sde", "sdf"]}
    assert differences(TANK, other) == [
        "tank: data vdev is absent, wanted mirror sda sdc",
        "tank: data vdev is absent, wanted mirror sdb sdd",
        "tank: data vdev is mirror sda sdb, wanted none",
        "tank: data vdev is mirror sdc sdd, wanted none",
    ]
    refusals = judged(TANK, {VdevRole.DATA: ["nix"]})
    assert isinstance(refusals, tuple)


def test_more_datasets_and_more_mirrors_are_no_difference() -> None:
    assert differences(replace(TANK, datasets=(*TANK.datasets, Dataset("tank/home", {})))) == []


def test_another_template_is_a_difference() -> None:
    found = judged(TANK, template="all-hdd")
    assert isinstance(found, Existing)
    assert [str(one) for one in found.differences] == ["tank: zmysql:template is hybrid, wanted all-hdd"]


def test_a_pool_of_somebody_else_is_left_alone() -> None:
    there = inventory("debian13-zfs2.3-busy")
    refusals = judged(pool("debian13-zfs2.3-busy"), machine=there)
    assert isinstance(refusals, tuple)
    assert str(refusals[0]) == "tank: this pool exists and zmysql didn't make it; it is left alone: take another name"


@pytest.mark.parametrize("state", [CREATING, COMPLETING])
def test_an_unfinished_pool_gets_what_it_lacks_and_no_more(state: str) -> None:
    found = judged(marked(without("tank/mysql/redo", "tank/mysql/tmp"), state))
    assert isinstance(found, Existing)
    assert found.plan is not None
    datasets = [step[-1] for step in found.plan.steps if step[:2] == ("zfs", "create")]
    assert datasets == ["tank/mysql/redo", "tank/mysql/tmp"]
    assert found.plan.steps[0] == ("zfs", "set", "zmysql:state=completing", "tank")
    assert found.plan.steps[-1] == ("zfs", "set", "zmysql:state=complete", "tank")
    assert not any(
        step[:2] in {("zpool", "create"), ("zpool", "destroy"), ("zfs", "destroy")} for step in found.plan.steps
    )


def test_an_unfinished_dataset_is_mounted() -> None:
    found = judged(marked(having("tank/mysql/redo", mounted="no"), CREATING))
    assert isinstance(found, Existing)
    assert found.plan is not None
    assert ("zfs", "mount", "tank/mysql/redo") in found.plan.steps


def test_an_unfinished_pool_with_wrong_properties_is_explained_and_left() -> None:
    assert differences(marked(having("tank", atime="on"), CREATING)) == ["tank: atime is on, wanted off"]


def test_a_pool_that_is_complete_and_lacks_a_dataset_is_not_mended_silently() -> None:
    assert differences(marked(without("tank/mysql/tmp"), COMPLETE)) == [
        "tank/mysql/tmp: dataset is absent, wanted there"
    ]

"""Each rule: what it refuses, with the way out; what lifts it; and what is then said, and done with -f."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from captures import inventory

from zmysql.layout.inventory import Site
from zmysql.layout.model import Allow, Inventory, Plan, PoolSpec, Prefer, RoleSpec
from zmysql.layout.plan import make_plan
from zmysql.layout.rules.case import Case
from zmysql.layout.rules.redundancy import zpool_objects
from zmysql.layout.rules.ruling import ruling
from zmysql.layout.template import load_template
from zmysql.platforms.device import MediaClass, Use, UseKind
from zmysql.zfs.capability import Zfs
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from zmysql.platforms.device import Device

DATA, SPECIAL, DEDUP, LOG, CACHE, SPARE = (
    VdevRole.DATA,
    VdevRole.SPECIAL,
    VdevRole.DEDUP,
    VdevRole.LOG,
    VdevRole.CACHE,
    VdevRole.SPARE,
)
MIB, GIB = 1 << 20, 1 << 30
HYBRID = load_template("hybrid")
BLANK = inventory("debian13-zfs2.3-blank")
BUSY = inventory("debian13-zfs2.3-busy")
SITE = Site(mountpoint_is_taken=False, has_mysql_user=True, memory_bytes=16 * GIB, zfs=Zfs("linux", (2, 3)))
HDD, SSD = MediaClass.HDD, MediaClass.SSD


def disks(count: int, media: MediaClass = HDD, size_bytes: int = 400 * GIB, first: int = 0) -> tuple[Device, ...]:
    """Give disks of the captured machine as if it had more of them, and of another size."""
    names = [f"sd{chr(97 + first + number)}" for number in range(count)]
    one = BLANK.devices[0]
    return tuple(
        replace(one, name=name, path=f"/dev/{name}", by_id=None, wwn=None, media=media, size_bytes=size_bytes)
        for name in names
    )


def role(name: VdevRole, kind: str, width: int, classes: tuple[MediaClass, ...] = (HDD, SSD)) -> RoleSpec:
    return RoleSpec(name, classes, kind, width, 1, None, Prefer.LARGEST)


def case(*roles: tuple[RoleSpec, tuple[Device, ...]], spec: PoolSpec | None = None, site: Site = SITE) -> Case:
    spec = replace(spec or HYBRID.pools[0], roles=tuple(one for one, _ in roles))
    return Case(spec, {one.role: devices for one, devices in roles}, site)


def refused(of: Case) -> str:
    """Give the one refusal of a case, which names what would lift it, and is lifted by that."""
    (one,) = ruling(of).refusals
    if one.allow is not None:
        lifted = ruling(of, frozenset({one.allow}))
        assert lifted.refusals == ()
        assert any(reason.endswith(f"allowed with --allow-{one.allow}") for reason in lifted.reasons)
        every_other = frozenset(Allow) - {one.allow}
        assert ruling(of, every_other).refusals == (one,)
    else:
        assert ruling(of, frozenset(Allow)).refusals == (one,)
    return str(one)


def told(of: Case) -> list[str]:
    """Give what is said of a case in which nothing is refused."""
    found = ruling(of)
    assert found.refusals == ()
    assert not found.force
    return list(found.reasons)


MIRROR, RAIDZ2 = role(DATA, "mirror", 2), role(DATA, "raidz2", 6)
PAIR = (MIRROR, disks(2))


def test_a_pair_of_equal_disks_needs_no_word() -> None:
    assert told(case(PAIR)) == []


@pytest.mark.parametrize(("kind", "width"), [("mirror", 2), ("mirror", 3), ("raidz1", 3), ("raidz2", 4)])
def test_unequal_disks_in_one_vdev(kind: str, width: int) -> None:
    found = disks(width)
    odd = (*found[:-1], replace(found[-1], size_bytes=500 * GIB))
    of = case((role(DATA, kind, width), odd))
    assert refused(of).startswith(f"data: would be a {kind} of unequal disks (sda 400G, sd")
    lifted = ruling(of, frozenset({Allow.UNEQUAL}))
    assert lifted.force
    assert lifted.reasons[-1] == "-f: zpool create takes data of unequal disks only so"
    nearly = (*found[:-1], replace(found[-1], size_bytes=found[-1].size_bytes + 16 * MIB))
    assert told(case((role(DATA, kind, width), nearly))) == []


def test_unequal_logs_are_refused_by_us_and_not_by_zpool() -> None:
    one, other = disks(2, SSD, 4 * GIB, first=2)
    of = case(PAIR, (role(LOG, "mirror", 2), (one, replace(other, size_bytes=8 * GIB))))
    assert refused(of).startswith("log: would be a mirror of unequal disks (sdc 4G, sdd 8G); ")
    assert not ruling(of, frozenset({Allow.UNEQUAL})).force


def test_a_remainder_of_disks() -> None:
    assert refused(case((MIRROR, disks(3)))) == (
        "data: needs a multiple of 2 hdd or ssd and 3 are named; "
        "name them with --data, or name no disks at all and let zmysql choose"
    )


def test_classes() -> None:
    of = case((role(DATA, "mirror", 2, (HDD,)), disks(2, SSD)))
    assert [one.allow for one in ruling(of).refusals] == [Allow.CLASS_MISMATCH] * 2
    assert str(ruling(of).refusals[0]).startswith(
        "sda: is an ssd, and the data vdevs of this template are made of hdd; "
    )
    lifted = ruling(of, frozenset({Allow.CLASS_MISMATCH}))
    assert lifted.refusals == ()
    assert not lifted.force
    mixed = (*disks(1), *disks(1, SSD, first=1))
    assert "would be a mirror of unlike disks (sda hdd, sdb ssd), as slow as the slowest; name disks of one class" in (
        refused(case((MIRROR, mixed)))
    )
    assert told(case((MIRROR, (*disks(2), *disks(2, SSD, first=2))))) == []


def test_special_and_dedup_without_redundancy() -> None:
    for name in (SPECIAL, DEDUP):
        of = case(PAIR, (role(name, "disk", 1), disks(1, SSD, first=2)))
        assert refused(of) == (
            f"{name}: isn't redundant, and the pool is lost with a {name} vdev; "
            f"make it a mirror: --set vdevs.{name}.kind=mirror --set vdevs.{name}.width=2 "
            "(or --allow-no-redundancy, if you know better)"
        )
        assert ruling(of, frozenset({Allow.NO_REDUNDANCY})).force
    other = replace(HYBRID.pools[0], key="log")
    assert "--set pools.log.vdevs.special.kind=mirror" in refused(
        case(PAIR, (role(SPECIAL, "disk", 1), disks(1, SSD, first=2)), spec=other)
    )


def test_data_without_redundancy_is_the_templates_wish_or_refused() -> None:
    stripe = (role(DATA, "disk", 1), disks(3))
    assert told(case(stripe)) == [
        "data: isn't redundant, as the template wants it: the pool is lost with the first disk that fails"
    ]
    made_so = replace(HYBRID.pools[0], overridden=frozenset({"vdevs.data.kind", "vdevs.data.width"}))
    of = case(stripe, spec=made_so)
    assert refused(of).startswith(
        "data: isn't redundant: the pool is lost with the first disk that fails, and the temp"
    )
    assert not ruling(of, frozenset({Allow.NO_REDUNDANCY})).force


def test_what_a_person_sets_is_remembered_with_the_pool() -> None:
    settings = ["pool.ashift=9", "vdevs.data.kind=disk", "vdevs.data.width=1"]
    assert load_template("hybrid", settings).pools[0].overridden == {
        "pool.ashift",
        "vdevs.data.kind",
        "vdevs.data.width",
    }


@pytest.mark.parametrize(
    ("data", "special", "system", "said"),
    [
        (("mirror", 3), ("mirror", 2), "linux", "special: is mirror of 2, and data is mirror of 3: it bears 1 failed"),
        (("raidz2", 6), ("mirror", 2), "linux", "special: is mirror of 2, and data is raidz2 of 6: it bears 1 failed"),
        (("mirror", 2), ("mirror", 3), "linux", "special: is mirror of 3, and data is mirror of 2: zpool create wants"),
        (("raidz2", 6), ("mirror", 3), "linux", None),
        (("raidz1", 3), ("mirror", 2), "freebsd", None),
        (("raidz1", 3), ("mirror", 2), "illumos", "special: is mirror of 2, and data is raidz1 of 3: zpool create"),
        (("mirror", 2), ("mirror", 2), "linux", None),
    ],
)
def test_special_as_redundant_as_data(
    data: tuple[str, int], special: tuple[str, int], system: str, said: str | None
) -> None:
    of = case(
        (role(DATA, *data), disks(data[1])),
        (role(SPECIAL, *special), disks(special[1], SSD, first=12)),
        site=replace(SITE, zfs=Zfs(system, None)),
    )
    if said is None:
        assert told(of) == []
        return
    assert refused(of).startswith(said)
    lifted = ruling(of, frozenset({Allow.REPLICATION_MISMATCH}))
    assert lifted.force
    assert lifted.reasons[-1] == "-f: zpool create takes data and special of different redundancy only so"


def test_a_single_log_disk_is_told() -> None:
    (said,) = told(case(PAIR, (role(LOG, "disk", 1), disks(1, SSD, 4 * GIB, first=2))))
    assert said.startswith("log: isn't mirrored: ")


@pytest.mark.parametrize(("kind", "most"), [("raidz2", 12), ("raidz3", 12), ("mirror", 4)])
def test_wide_vdevs(kind: str, most: int) -> None:
    assert told(case((role(DATA, kind, most), disks(most)))) == []
    said = refused(case((role(DATA, kind, most + 1), disks(most + 1))))
    assert said.startswith(f"data: would be a {kind} of {most + 1}: over {most} ")
    assert said.endswith(f"--set vdevs.data.width={most // 2} (or --allow-wide, if you know better)")


def test_raidz1_of_big_disks_is_told() -> None:
    of = role(DATA, "raidz1", 3)
    assert told(case((of, disks(3, HDD, 1 << 40)))) == []
    assert told(case((of, disks(3, SSD, 8 << 40)))) == []
    (said,) = told(case((of, disks(3, HDD, 8 << 40))))
    assert said == "data: raidz1 of HDD of 8T: while one is rebuilt, a second failure loses the pool"


def sectors(ashift: str, logical: int, physical: int, *, by_hand: bool = False) -> Case:
    first, second = disks(2)
    odd = replace(second, logical_sector_bytes=logical, physical_sector_bytes=physical)
    spec = replace(
        HYBRID.pools[0],
        properties={"ashift": ashift},
        overridden=frozenset({"pool.ashift"} if by_hand else ()),
    )
    return case((MIRROR, (first, odd)), spec=spec)


def test_sectors_bigger_than_ashift() -> None:
    assert told(sectors("12", 512, 4096)) == []
    (raised,) = told(sectors("12", 512, 8192))
    assert raised.startswith("ashift 13, not the template's 12, for sdb 8192: all that the pool writes takes multiples")
    assert any("more makes no sense" in one and "sdb 65536" in one for one in told(sectors("12", 512, 65536)))
    assert refused(sectors("9", 512, 4096, by_hand=True)) == (
        "ashift: 9 is writes of 512 bytes, for which a disk reads and writes a whole sector: sdb 4096; leave out "
        "pool.ashift: it is then raised for such disks (or --allow-ashift-mismatch, if you know better)"
    )
    # A disk that takes no less than 4096 bytes can't be written to in 512, whatever one allows.
    assert refused(sectors("9", 4096, 4096, by_hand=True)).startswith("ashift: 9 is writes of 512 bytes, and the disks")


def test_an_ashift_that_was_allowed_is_the_pools() -> None:
    template = load_template("all-hdd", ["pool.ashift=9"])
    devices = (replace(BLANK.devices[0], physical_sector_bytes=4096), *BLANK.devices[1:])
    there = Inventory(devices, ())
    assert isinstance(make_plan("tank", template, template.pools[0], there, {}, SITE), tuple)
    allowed = frozenset({Allow.ASHIFT_MISMATCH})
    made = make_plan("tank", template, template.pools[0], there, {}, SITE, allowed)
    assert isinstance(made, Plan)
    assert made.wanted.properties["ashift"] == "9"
    assert "-f" not in made.steps[0]


@pytest.mark.parametrize(
    ("size_bytes", "said"),
    [
        (128 * MIB, None),
        (256 * MIB, "log: 256M may fill up under many writes, and syncs then wait for the data: 4G is enough for most"),
        (GIB, ""),
        (64 * GIB, ""),
        (400 * GIB, "log: of 400G ZFS uses some 4G: what stays unused serves as a reserve against wear"),
    ],
)
def test_the_size_of_the_log(size_bytes: int, said: str | None) -> None:
    of = case(PAIR, (role(LOG, "mirror", 2), disks(2, SSD, size_bytes, first=2)))
    if said is None:
        assert refused(of).startswith(
            "log: has 128M, which a second of writes fills: then each sync waits for the data"
        )
    else:
        assert told(of) == ([said] if said else [])


def cached(cache_bytes: int, memory_bytes: int | None, zfs: Zfs = SITE.zfs, **properties: str) -> Case:
    spec = HYBRID.pools[0]
    spec = replace(spec, datasets={**spec.datasets, "data": {**spec.datasets["data"], **properties}})
    site = replace(SITE, memory_bytes=memory_bytes, zfs=zfs)
    return case(PAIR, (role(CACHE, "disk", 1), disks(1, SSD, cache_bytes, first=2)), spec=spec, site=site)


def test_l2arc_headers() -> None:
    # 100 GiB in records of 16K are 6.6 M headers of 96 bytes: 600 MiB.
    assert told(cached(100 * GIB, 16 * GIB)) == []
    (said,) = told(cached(100 * GIB, 6 * GIB))
    assert said.startswith("cache: 100G of L2ARC in records of 16K take 600M of the ARC's 5G for headers, 12%: ")
    assert refused(cached(100 * GIB, 2 * GIB)).startswith(
        "cache: 100G of L2ARC in records of 16K take 600M of the ARC's 1.2G for headers, 47%; add memory, "
    )
    assert told(cached(100 * GIB, 2 * GIB, recordsize="128K")) == []
    assert told(cached(100 * GIB, 2 * GIB, primarycache="metadata")) == []
    # Up to OpenZFS 2.2 Linux gives the ARC half of the memory.
    assert "of the ARC's 3G for headers, 20%" in told(cached(100 * GIB, 6 * GIB, Zfs("linux", (2, 2))))[0]
    (unknown,) = told(cached(100 * GIB, None))
    assert "nobody checked" in unknown


def test_an_l2arc_that_is_too_small_to_be_restored() -> None:
    (said,) = told(cached(800 * MIB, 16 * GIB))
    assert said == "cache: empty after each reboot, since ZFS restores only what has 1G or more: sdc 800M"


def test_sizes_of_special_data_and_spares() -> None:
    special = role(SPECIAL, "mirror", 2)
    (said,) = told(case(PAIR, (special, disks(2, SSD, 4 * GIB, first=2))))
    assert said.startswith("special: 4G, and the block pointers of 400G in records of 16K can take 6.2G, 1.6%: when ")
    assert told(case(PAIR, (special, disks(2, SSD, 8 * GIB, first=2)))) == []
    (said,) = told(case((MIRROR, disks(2, HDD, 512 * MIB))))
    assert said == "data: 512M in all, of which an empty mysqld takes some 300M"
    (said,) = told(case(PAIR, (role(SPARE, "disk", 1), disks(1, HDD, 100 * GIB, first=2))))
    assert said == "spare: sdc with 100G can't stand in for every data disk"
    assert (
        refused(case((role(DATA, "disk", 1), disks(1, HDD, 63 * MIB))))
        == "sda: has 63M, ZFS needs 64M; name another disk"
    )


def test_two_paths_to_one_disk() -> None:
    one, other = (replace(each, wwn="0x5000", serial="S1") for each in disks(2))
    assert refused(case((MIRROR, (one, other)))).startswith(
        "sdb: is the same disk as sda, reached by another path (WWN 0x5000); name each disk once, or put "
    )
    # Cheap disks that all say the same world-wide name are told apart by their serial numbers.
    assert told(case((MIRROR, (one, replace(other, serial="S2"))))) == []


def test_a_disk_that_is_in_use_by_another_path_to_it() -> None:
    twin = replace(
        BLANK.devices[0], name="sdz", path="/dev/sdz", aliases=(), used_by=(Use(UseKind.MOUNTED, "mounted"),)
    )
    there = Inventory((*BLANK.devices, twin), ())
    template = load_template("all-hdd")
    found = make_plan("tank", template, template.pools[0], there, {DATA: ["sda", "sdb"]}, SITE)
    assert isinstance(found, tuple)
    assert [str(one) for one in found] == ["sda: is the same disk as sdz, which is in use (mounted); name another disk"]
    chosen = make_plan("tank", template, template.pools[0], there, {}, SITE)
    assert isinstance(chosen, Plan)
    assert "sda" not in {one.name for one in chosen.devices}


@pytest.mark.parametrize(("name", "may_be_lost"), [("sda", False), ("sdb", False), ("sdc", True), ("sdd", False)])
def test_only_what_nobody_uses_now_may_be_taken_from_its_disk(name: str, may_be_lost: bool) -> None:  # noqa: FBT001 - a table
    device = next(one for one in BUSY.devices if one.name == name)
    of = case((role(DATA, "disk", 1), (device,)))
    (refusal,) = ruling(of).refusals
    assert refusal.allow is (Allow.IN_USE if may_be_lost else None)
    lifted = ruling(of, frozenset({Allow.IN_USE}))
    assert (lifted.refusals == ()) is may_be_lost
    assert lifted.force is may_be_lost
    if may_be_lost:
        assert "sdc: is in use (label of pool exported, not imported (sdc1)), and all that is on it will be lost" in (
            " / ".join(lifted.reasons)
        )


def test_what_zpool_compares() -> None:
    """It compares each disk with the one before, and the roles that a pool can't do without; logs it leaves out."""
    one, other, third = disks(3)
    stairs = (
        one,
        replace(other, size_bytes=one.size_bytes + 16 * MIB),
        replace(third, size_bytes=one.size_bytes + 32 * MIB),
    )
    assert list(zpool_objects(case((role(DATA, "mirror", 3), stairs)))) == []
    assert refused(case((role(DATA, "mirror", 3), stairs))).startswith("data: would be a mirror of unequal disks")
    of = case(
        (role(DATA, "mirror", 2), disks(2)),
        (role(SPECIAL, "mirror", 2), disks(2, SSD, first=2)),
        (role(DEDUP, "mirror", 3), disks(3, SSD, first=4)),
        (role(LOG, "disk", 1), disks(1, SSD, first=9)),
    )
    assert list(zpool_objects(of)) == ["special and dedup of different redundancy"]
    assert refused(of).startswith("dedup: is mirror of 3, and special is mirror of 2: zpool create wants them alike; ")

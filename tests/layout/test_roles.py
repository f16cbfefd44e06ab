"""Which disks do what, and every refusal."""

from dataclasses import replace

import pytest
from captures import inventory

from zmysql.layout.inventory import Site
from zmysql.layout.model import Assignment, Inventory, Refusal
from zmysql.layout.plan import make_plan
from zmysql.layout.roles import assign
from zmysql.layout.template import load_template
from zmysql.zfs.model import VdevRole

DATA, CACHE, LOG = VdevRole.DATA, VdevRole.CACHE, VdevRole.LOG
TEMPLATE = load_template("hybrid")
HYBRID = TEMPLATE.pools[0]
SITE = Site(mountpoint_is_taken=False, has_mysql_user=True, memory_bytes=16 << 30)
BLANK = inventory("debian13-zfs2.3-blank")
BUSY = inventory("debian13-zfs2.3-busy")
HELD = inventory("debian13-zfs2.3-held")


def refused(there: Inventory, named: dict[VdevRole, list[str]]) -> list[str]:
    found = make_plan("tank", TEMPLATE, HYBRID, there, named, SITE)
    assert isinstance(found, tuple), found
    assert all("\n" not in str(refusal) and refusal.way_out for refusal in found)
    return [str(refusal) for refusal in found]


def roles(found: Assignment | tuple[Refusal, ...]) -> dict[str, list[str]]:
    assert isinstance(found, Assignment), found
    return {role.value: [device.name for device in devices] for role, devices in found.disks.items()}


def sized(**gib: float) -> Inventory:
    """Give the blank machine with other sizes; a disk that isn't named is taken out."""
    return Inventory(
        tuple(replace(one, size_bytes=int(gib[one.name] * 2**30)) for one in BLANK.devices if one.name in gib), ()
    )


def test_without_names_disks_are_taken_by_class_and_size() -> None:
    found = assign("hybrid", HYBRID, BLANK, {})
    assert roles(found) == {"data": ["sda", "sdb", "sdc", "sdd"], "log": ["sde", "sdf"], "cache": ["sdg"]}


def test_each_choice_is_explained() -> None:
    found = assign("hybrid", HYBRID, sized(sda=4, sdb=4, sdc=4, sde=1, sdf=1, sdg=2), {})
    assert isinstance(found, Assignment)
    assert found.reasons == (
        "data: sda sdb: all free hdd in mirrors of 2 of equal size",
        "log: sde sdf: the smallest free ssd or nvme in mirrors of 2 of equal size that no role before took",
        "cache: sdg: the largest free ssd or nvme that no role before took",
        "left alone: sdc (hdd, 4G): free, and no role of this pool wants them",
    )


def test_the_log_takes_the_smallest_pair_also_where_the_smallest_disk_has_no_partner() -> None:
    found = assign("hybrid", HYBRID, sized(sda=4, sdb=4, sde=1, sdf=2, sdg=2), {})
    assert roles(found) == {"data": ["sda", "sdb"], "log": ["sdf", "sdg"], "cache": ["sde"]}


def test_mirrors_are_made_of_equal_disks() -> None:
    found = assign("hybrid", HYBRID, sized(sda=4, sdb=8, sdc=4, sdd=8, sde=1, sdf=1, sdg=2), {})
    assert roles(found)["data"] == ["sdb", "sdd", "sda", "sdc"]


def test_named_disks_are_taken_as_named_and_no_others() -> None:
    named = {
        DATA: ["sdd", "/dev/sda"],
        CACHE: ["sdf"],
        LOG: ["wwn-0x5002538000000104", "/dev/disk/by-id/scsi-35002538000000106"],
    }
    (said,) = refused(BLANK, named)
    assert said.startswith("log: would be a mirror of unequal disks (sde 1G, sdg 2G); name disks of equal size in")
    assert said.endswith(" (or --allow-unequal, if you know better)")
    named = {DATA: ["sdd", "/dev/sda"], CACHE: ["sdg"], LOG: ["wwn-0x5002538000000104", "sdf"]}
    assert roles(assign("hybrid", HYBRID, BLANK, named)) == {
        "data": ["sdd", "sda"],
        "log": ["sde", "sdf"],
        "cache": ["sdg"],
    }


def test_once_a_disk_is_named_no_role_is_filled() -> None:
    log, cache = refused(BLANK, {DATA: ["sda", "sdb"]})
    assert log.startswith(
        "log: needs a multiple of 2 ssd or nvme and 0 are named; name them with --log, or name no disks"
    )
    assert cache.startswith("cache: needs 1 ssd or nvme and 0 are named; name them with --cache, or name no disks")


def test_too_few_disks_says_which_role_needs_how_many_and_what_there_is() -> None:
    (said,) = refused(sized(sda=4, sdb=4, sde=1, sdf=1), {})
    assert said.startswith("cache: needs 1 free ssd or nvme and there are none left; ")
    (said,) = refused(sized(sda=4, sdb=8, sde=1, sdf=1, sdg=2), {})
    assert said.startswith("data: needs 2 free hdd of equal size and there are 2 (sda 4G, sdb 8G) left; ")
    said = refused(BUSY, {})[0]
    assert "sda: mounted at /mnt/a; sdb: ext4 spare (sdb1); sdc: label of pool exported" in said


REST = {CACHE: ["sdg"], LOG: ["sde", "sdf"]}


@pytest.mark.parametrize(
    ("there", "names", "said"),
    [
        (BUSY, ["sda"], "sda: is in use (mounted at /mnt/a); unmount it first, or name another disk"),
        (
            BUSY,
            ["sdb"],
            "sdb: is in use (ext4 spare (sdb1), swapped to (sdb2), partition sdb3); `swapoff` it first, or",
        ),
        (BUSY, ["sdc"], "sdc: is in use (label of pool exported, not imported (sdc1)); `zpool import` it, or if"),
        (BUSY, ["sdd"], "sdd: is in use (in pool tank); name another disk"),
        (HELD, ["sdb"], "sdb: is in use (held by dm plain); take it out of there first, or name another disk"),
        (HELD, ["sdc"], "sdc: is in use (mounted at /mnt/b c (sdc1)); unmount it first, or name another disk"),
        (HELD, ["sdd"], "sdd: is in use (label of pool tank, not imported (sdd1)); `zpool import` it, or if nobody"),
        (BLANK, ["sde"], "sde: is an ssd, and the data vdevs of this template are made of hdd; name another; in a"),
    ],
)
def test_a_disk_that_is_no_use_is_refused_with_the_way_out(there: Inventory, names: list[str], said: str) -> None:
    named = {DATA: [*names, "sda"]} if names != ["sda"] else {DATA: ["sda", "sdb"]}
    assert any(line.startswith(said) for line in refused(there, named))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["nix"], "nix: there is no such disk; see `zmysql devices`"),
        (["/dev/sdz"], "/dev/sdz: there is no such disk; see `zmysql devices`"),
        (["-rf"], "'-rf': is no name of a disk; see `zmysql devices`"),
        ([""], "'': is no name of a disk; see `zmysql devices`"),
        (["sda sdb"], "'sda sdb': is no name of a disk; see `zmysql devices`"),
        (["sda\nsdb"], "'sda\\nsdb': is no name of a disk; see `zmysql devices`"),
        (["$(id)"], "'$(id)': is no name of a disk; see `zmysql devices`"),
        (["sda'"], '"sda\'": is no name of a disk; see `zmysql devices`'),
        (["sda", "sda"], "sda: the disk sda is named twice, for data; name each disk once"),
        (
            ["sda", "wwn-0x5000c50000000100"],
            "wwn-0x5000c50000000100: the disk sda is named as sda too, for data; name each",
        ),
        (["sdb", "sdg"], "sdg: the disk sdg is named twice, for data and cache; name each disk once"),
    ],
)
def test_a_name_that_means_no_disk_or_one_twice_is_refused(names: list[str], said: str) -> None:
    assert any(line.startswith(said) for line in refused(BLANK, {DATA: names, **REST}))


def test_a_partition_is_refused_for_the_disk_that_it_is_of() -> None:
    assert refused(BUSY, {DATA: ["sdb1", "/dev/sdb2"]}) == [
        "sdb1: is a part of sdb; name a whole disk that is free",
        "/dev/sdb2: is a part of sdb; name a whole disk that is free",
    ]


def test_a_role_that_the_template_lacks_is_refused() -> None:
    found = assign("all-hdd", load_template("all-hdd").pools[0], BLANK, {DATA: ["sda", "sdb"], LOG: ["sde", "sdf"]})
    assert isinstance(found, tuple)
    assert [str(one) for one in found] == [
        "--log: template all-hdd has no log vdevs; leave it out, or take another template"
    ]


def test_disks_that_an_interrupted_run_left_half_made_are_not_quietly_left_out() -> None:
    there = Inventory((*BLANK.devices[:4], *HELD.devices[4:]), ())
    assert refused(there, {}) == [
        f"{name}: is in use (partition {name}1 of ZFS without a label); an interrupted `zpool create` leaves that: "
        f"run `wipefs --all /dev/{name}` and `blockdev --rereadpt /dev/{name}`, then again"
        for name in ("sde", "sdf", "sdg")
    ]


def test_removable_and_tiny_disks_are_never_taken_unasked() -> None:
    there = sized(sda=4, sdb=4, sdc=4, sdd=4, sde=1, sdf=1, sdg=2)
    sticks = tuple(replace(one, removable=one.name in {"sda", "sdb"}) for one in there.devices)
    assert roles(assign("hybrid", HYBRID, Inventory(sticks, ()), {}))["data"] == ["sdc", "sdd"]
    tiny = sized(sda=4, sdb=4, sdc=0.01, sdd=0.01, sde=1, sdf=1, sdg=2)
    assert roles(assign("hybrid", HYBRID, tiny, {}))["data"] == ["sda", "sdb"]

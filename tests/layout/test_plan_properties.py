"""What holds of every plan and every refusal, over ten thousand random machines and requests.

The machines come from a seeded generator rather than from Hypothesis, which takes minutes for as many. A failure names
its seed: `check(seed)` is that one case again.
"""

from __future__ import annotations

import random
import re
import shlex
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from zmysql.layout.inventory import Site, without
from zmysql.layout.model import Allow, Inventory, Plan, PoolSpec, Prefer, RoleSpec, Template
from zmysql.layout.plan import as_shell, make_plan
from zmysql.layout.template import load_template, template_names
from zmysql.platforms.device import Device, MediaClass, Use, UseKind
from zmysql.zfs.capability import Zfs
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from zmysql.layout.model import Refusal
    from zmysql.layout.roles import Named

CASES = 10_000
MIB, GIB = 1 << 20, 1 << 30
TEMPLATES = [load_template(name) for name in template_names()]
HOSTILE = ["", " ", "-rf", "sda sdb", "sda'", 'sd"a', "sda\nsdb", "$(reboot)", "`id`", "/dev/sda;id", "sdä", "\x1b[2J"]
SIZES_BYTES = [32 * MIB, 200 * MIB, GIB, GIB + 9 * MIB, 4 * GIB + 17 * MIB, 4 << 40]
LOSABLE = {UseKind.LABEL, UseKind.FILE_SYSTEM, UseKind.PARTITION, UseKind.ZFS_PARTITION, UseKind.PARTITION_TABLE}
SITES = [
    Site(mountpoint_is_taken=False, has_mysql_user=True, memory_bytes=memory_bytes, zfs=zfs)
    for memory_bytes in (None, 2 * GIB, 256 * GIB)
    for zfs in (
        Zfs("linux", None),
        Zfs("linux", (2, 1)),
        Zfs("linux", (2, 4)),
        Zfs("freebsd", (2, 2)),
        Zfs("illumos", None),
    )
]
KINDS = [("disk", 1), ("mirror", 2), ("mirror", 2), ("mirror", 3), ("raidz1", 3), ("raidz1", 4), ("raidz2", 6)]
WORDS = {"disk", "mirror", "raidz1", "raidz2", "raidz3"}


@dataclass(frozen=True)
class Case:
    template: Template
    inventory: Inventory
    named: dict[str | None, dict[VdevRole, list[str]]]
    site: Site
    allow: frozenset[Allow]


def device(chance: random.Random, number: int, mess: float) -> Device:
    """Give a disk; `mess` is how likely there is something about it."""

    def odd() -> bool:
        return chance.random() < mess

    name = f"sd{chr(97 + number // 6)}{chr(97 + number % 6)}"
    logical = 4096 if odd() else 512
    by_id = f"/dev/disk/by-id/wwn-{number:x}"
    if odd() and odd():
        by_id = "/dev/disk/by-id/an evil\nname"
    return Device(
        name=name,
        path=f"/dev/{name}",
        media=chance.choice([MediaClass.HDD, MediaClass.HDD, MediaClass.SSD, MediaClass.SSD, MediaClass.NVME]),
        size_bytes=chance.choice(SIZES_BYTES) if odd() else 4 * GIB,
        logical_sector_bytes=logical,
        physical_sector_bytes=max(logical, chance.choice([512, 8192, 65536]) if odd() else 4096),
        serial=f"S{number}",
        wwn=f"0x{number:x}",
        removable=odd() and odd(),
        by_id=None if odd() and odd() else by_id,
        aliases=(by_id,),
        used_by=tuple(use(chance) for _ in range(chance.choice([1, 1, 1, 2]) if odd() else 0)),
    )


def use(chance: random.Random) -> Use:
    """Give a use, which often is the label that somebody wrote on the disk."""
    kind = chance.choice([*LOSABLE, *LOSABLE, *UseKind])
    return Use(kind, chance.choice([f"{kind} of somebody", "ext4 my\nlabel; rm -rf /", "\x1b[2J"]))


def machine(chance: random.Random) -> Inventory:
    mess = chance.choice([0, 0.02, 0.1, 0.3])
    devices = [device(chance, number, mess) for number in range(chance.choice([0, 2, 5, 8, 12, 16, 24, 30, 36]))]
    if chance.random() < 0.3:
        devices = [replace(one, wwn=None) for one in devices]
    if chance.random() < 0.2:
        devices = [one if one.media is MediaClass.HDD else replace(one, size_bytes=200 * MIB) for one in devices]
    if devices and chance.random() < mess:
        one = chance.choice(devices)
        devices.append(replace(one, name="sdzz", path="/dev/sdzz", by_id=None, aliases=()))  # the other path to it
    chance.shuffle(devices)
    return Inventory(tuple(devices), ())


def role(chance: random.Random, name: VdevRole) -> RoleSpec:
    kind, width = chance.choice(KINDS if name is VdevRole.DATA else KINDS[:4])
    if name in {VdevRole.CACHE, VdevRole.SPARE}:
        kind, width = "disk", 1
    least = chance.choice([1, 1, 2])
    classes = tuple(chance.sample(list(MediaClass), chance.choice([1, 2, 3])))
    return RoleSpec(
        name, classes, kind, width, least, chance.choice([None, least, least + 1]), chance.choice(list(Prefer))
    )


def template(chance: random.Random) -> Template:
    """Give a template that ships, or one that nobody would write."""
    if chance.random() < 0.6:
        return chance.choice(TEMPLATES)
    shipped = chance.choice(TEMPLATES)
    names = [name for name in VdevRole if name is VdevRole.DATA or chance.random() < 0.3]
    chance.shuffle(names)
    roles = tuple(role(chance, name) for name in names)
    overridden = frozenset(
        chance.sample(["pool.ashift", "vdevs.data.kind", "data.recordsize"], chance.choice([0, 0, 1, 2]))
    )
    properties = {**shipped.pools[0].properties, "ashift": chance.choice(["9", "12", "12", "13"])}
    pool = replace(shipped.pools[0], roles=roles, overridden=overridden, properties=properties)
    return replace(shipped, name="mine", pools=(pool, *shipped.pools[1:]))


def names(chance: random.Random, spec: PoolSpec, left: list[Device]) -> dict[VdevRole, list[str]]:
    """Name disks for a pool, mostly such as will do: free ones of the right class, alike, as many as are needed."""
    named = {}
    for one in spec.roles:
        careless = chance.random()
        fitting = [disk for disk in left if careless > 0.9 or disk.media in one.classes]
        first = chance.choice(fitting) if fitting else None
        alike = [disk for disk in fitting if careless > 0.8 or (first and disk.size_bytes == first.size_bytes)]
        if careless < 0.5:
            alike.sort(key=lambda disk: (len(disk.used_by), disk.media))
        count = one.width * one.min_vdevs if chance.random() < 0.93 else chance.randrange(5)
        taken = alike[:count]
        if chance.random() > 0.03:
            left[:] = [disk for disk in left if disk not in taken]
        named[one.role] = [chance.choice([disk.name, disk.path, disk.by_id or disk.path]) for disk in taken]
    if chance.random() < 0.05:
        named.setdefault(chance.choice(list(VdevRole)), []).append(chance.choice([*HOSTILE, "sdq", "/dev/sdaa1"]))
    return named


def case(seed: int) -> Case:
    chance = random.Random(seed)  # noqa: S311 - the same each time is what is wanted
    wanted, there = template(chance), machine(chance)
    left = list(there.devices)
    named = {spec.key: names(chance, spec, left) for spec in wanted.pools} if chance.random() < 0.6 else {}
    allow = frozenset(one for one in Allow if chance.random() < 0.5) if chance.random() < 0.6 else frozenset[Allow]()
    return Case(wanted, there, named, chance.choice(SITES), allow)


def made(of: Case, inventory: Inventory) -> list[Plan | tuple[Refusal, ...]]:
    """Plan all pools of a template, one after the other, as create-pool does."""
    found: list[Plan | tuple[Refusal, ...]] = []
    for spec in of.template.pools:
        named: Named = of.named.get(spec.key, {})
        plan = make_plan("tank", of.template, spec, inventory, named, of.site, of.allow)
        inventory = without(inventory, plan.devices if isinstance(plan, Plan) else ())
        found.append(plan)
    return found


def check(seed: int) -> tuple[int, int]:
    """Check one case, and give how many plans and refusals it gave."""
    of = case(seed)
    found = made(of, of.inventory)
    assert found == made(of, of.inventory), "the same input gives the same plan"
    devices = list(of.inventory.devices)
    random.Random(seed).shuffle(devices)  # noqa: S311 - as above
    assert found == made(of, Inventory(tuple(devices), ())), "the order of the disks doesn't matter"
    plans = [plan for plan in found if isinstance(plan, Plan)]
    for spec, plan in zip(of.template.pools, found, strict=True):
        if isinstance(plan, Plan):
            check_disks(of, spec, plan)
            check_redundancy(of, spec, plan)
            check_commands(of, plan)
        else:
            check_refusals(of, plan)
    taken = [one for plan in plans for one in plan.devices]
    for one, other in combinations(taken, 2):
        assert one.name != other.name, "a disk is taken once"
        assert one.wwn is None or one.wwn != other.wwn, "also if it has two names"
    return len(plans), len(found) - len(plans)


def check_disks(of: Case, spec: PoolSpec, plan: Plan) -> None:
    named = [name for given in of.named.get(spec.key, {}).values() for name in given]
    for one in plan.devices:
        is_named = any(one.is_called(name) for name in named)
        assert is_named or not one.removable
        assert one.size_bytes >= 64 * MIB
        if one.used_by:
            assert is_named
            assert Allow.IN_USE in of.allow
            assert {use.kind for use in one.used_by} <= LOSABLE
        assert is_named or not named, "once a disk is named, only named ones are taken"


def check_redundancy(of: Case, spec: PoolSpec, plan: Plan) -> None:
    named = any(of.named.get(spec.key, {}).values())
    for one in spec.roles:
        disks = plan.disks[one.role]
        vdevs = [disks[at : at + one.width] for at in range(0, len(disks), one.width)]
        assert len(vdevs) >= one.min_vdevs
        for vdev in vdevs:
            assert len(vdev) == one.width
            sizes = [disk.size_bytes for disk in vdev]
            assert max(sizes) - min(sizes) <= 16 * MIB or (named and Allow.UNEQUAL in of.allow)
            media = {disk.media for disk in vdev}
            assert (media <= set(one.classes) and len(media) == 1) or (named and Allow.CLASS_MISMATCH in of.allow)
        if one.role in {VdevRole.SPECIAL, VdevRole.DEDUP} and one.width == 1:
            assert Allow.NO_REDUNDANCY in of.allow
        if one.role is VdevRole.DATA and one.width == 1 and "vdevs.data.kind" in spec.overridden:
            assert Allow.NO_REDUNDANCY in of.allow
        if one.role is VdevRole.LOG and sum(vdev[0].size_bytes for vdev in vdevs) < 256 * MIB:
            assert Allow.SMALL_LOG in of.allow
    sectors = [one.physical_sector_bytes for one in plan.devices]
    ashift = int(plan.wanted.properties["ashift"])
    assert 2**ashift >= min(max(sectors), 16384) or Allow.ASHIFT_MISMATCH in of.allow
    assert all(2**ashift >= one.logical_sector_bytes for one in plan.devices)
    assert [(vdev.role, vdev.kind, len(vdev.disks)) for vdev in plan.wanted.vdevs] == [
        (one.role, one.kind, one.width) for one in spec.roles for _ in range(len(plan.disks[one.role]) // one.width)
    ]


def check_commands(of: Case, plan: Plan) -> None:
    create, *others = plan.steps
    assert create[:2] == ("zpool", "create")
    vdevs = list(create[create.index(plan.wanted.name) + 1 :])
    disks = [word for word in vdevs if word.startswith("/")]
    assert set(vdevs) - set(disks) <= WORDS | set(VdevRole)
    assert sorted(disks) == sorted(one.stable_path for one in plan.devices), "each disk of the plan, and no other"
    assert all(re.fullmatch(r"/dev/[\w/-]+", word) for word in disks)
    assert not any(word.startswith("/dev/") for step in others for word in step)
    # -f: only for what somebody allowed, and explained.
    forced = {Allow.IN_USE, Allow.UNEQUAL, Allow.REPLICATION_MISMATCH, Allow.NO_REDUNDANCY}
    assert "-f" not in create or of.allow & forced
    assert ("-f" in create) == any(reason.startswith("-f: ") for reason in plan.reasons)
    assert "-f" in create or not any(one.used_by for one in plan.devices)
    lines = as_shell(plan).removesuffix("\n").split("\n")
    assert all(line.startswith("# ") and line.isprintable() for line in lines[: len(plan.reasons)])
    assert [tuple(shlex.split(line)) for line in lines[len(plan.reasons) :]] == list(plan.steps)


def check_refusals(of: Case, refusals: tuple[Refusal, ...]) -> None:
    assert refusals
    for one in refusals:
        assert str(one).isprintable(), "in one line, and harmless to a terminal"
        assert one.about
        assert one.why
        assert one.way_out
        assert one.allow not in of.allow


def test_whatever_the_machine_a_plan_is_safe_and_a_refusal_says_why() -> None:
    plans = refusals = 0
    for seed in range(CASES):
        try:
            of_plans, of_refusals = check(seed)
        except Exception as error:
            error.add_note(f"check({seed})")
            raise
        plans, refusals = plans + of_plans, refusals + of_refusals
    # Else all of the above would hold of nothing.
    assert plans > CASES / 3
    assert refusals > CASES / 3
    print(f"{CASES} machines: {plans} plans, {refusals} refused")

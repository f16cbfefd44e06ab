"""What each template makes of a real machine, and how it refuses: golden files, one folder a case.

After a change that is meant, `PYTHONPATH=tests python tests/layout/test_golden.py` writes them anew; read the diff.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from captures import inventory

from zmysql.layout.decide import decide
from zmysql.layout.inventory import Seen, Site
from zmysql.layout.model import Inventory, Plan, Request
from zmysql.layout.plan import as_shell
from zmysql.layout.template import load_template, template_names
from zmysql.platforms.device import MediaClass
from zmysql.zfs.capability import Zfs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zmysql.layout.model import PoolSpec, Refusal, RoleSpec, Template
    from zmysql.platforms.device import Device
    from zmysql.zfs.model import VdevRole

    Named = dict[str | None, dict[VdevRole, list[str]]]

GOLDEN = Path(__file__).parent / "golden"
SITE = Site(mountpoint_is_taken=False, has_mysql_user=True, memory_bytes=16 << 30, zfs=Zfs("linux", (2, 3)))
# Six HDDs, two SSDs of 1G, two of 2G, two NVMe disks of 2G.
MANY = inventory("debian13-zfs2.3-many").devices


def decided(template: Template, devices: Iterable[Device], named: Named | None = None) -> list[Plan] | list[Refusal]:
    names = [spec.name_of_pool("tank") for spec in template.pools]
    seen = Seen(Inventory(tuple(devices), ()), dict.fromkeys(names, SITE), {})
    found = decide(Request("tank", template, named or {}), seen)
    if isinstance(found, tuple):
        return list(found)
    return [existing.plan for existing in found.values() if existing.plan]


def fewest(template: Template) -> list[tuple[PoolSpec, RoleSpec, tuple[Device, ...]]]:
    """Give the disks that each role of a template needs at least, out of those that it takes on its own."""
    plans = decided(template, MANY)
    return [
        (spec, role, plan.disks[role.role][: role.width * role.min_vdevs])
        for spec, plan in zip(template.pools, plans, strict=True)
        if isinstance(plan, Plan)
        for role in spec.roles
    ]


def enough(template: Template) -> str:
    plans = decided(template, MANY)
    return "\n".join(as_shell(plan) for plan in plans if isinstance(plan, Plan))


def one_too_few(template: Template) -> Iterator[str]:
    """Take one disk from each role in turn, of a machine that has no more than are needed."""
    needed = fewest(template)
    everything = [device for _, _, devices in needed for device in devices]
    for spec, role, devices in needed:
        yield f"{spec.prefix}{role.role}: without {devices[-1].name} of {len(devices)}"
        yield from refusals(template, [device for device in everything if device != devices[-1]])


def wrong_class(template: Template) -> Iterator[str]:
    """Give each role in turn disks of a class that it can't take: once to find them, and once by name."""
    needed = fewest(template)
    named: Named = {}
    for spec, role, devices in needed:
        named.setdefault(spec.key, {})[role.role] = [device.name for device in devices]
    for spec, role, devices in needed:
        wrong = MediaClass.SSD if MediaClass.HDD in role.classes else MediaClass.HDD
        there = [
            replace(device, media=wrong) if device in devices else device
            for _, _, of_role in needed
            for device in of_role
        ]
        yield f"{spec.prefix}{role.role}: {' '.join(device.name for device in devices)} are {wrong}"
        yield from refusals(template, there)
        yield "the same, named"
        yield from refusals(template, there, named)


def refusals(template: Template, devices: list[Device], named: Named | None = None) -> Iterator[str]:
    found = decided(template, devices, named)
    assert found
    for one in found:
        assert not isinstance(one, Plan), one
        yield f"    {one}"


def goldens(template: Template) -> dict[Path, str]:
    return {
        GOLDEN / "enough" / f"{template.name}.sh": enough(template),
        GOLDEN / "one-too-few" / f"{template.name}.txt": "\n".join((*one_too_few(template), "")),
        GOLDEN / "wrong-class" / f"{template.name}.txt": "\n".join((*wrong_class(template), "")),
    }


@pytest.mark.parametrize("name", template_names())
def test_each_template_plans_and_refuses_as_in_its_goldens(name: str) -> None:
    for path, content in goldens(load_template(name)).items():
        assert content == path.read_text(), path


def test_there_is_no_golden_without_its_template() -> None:
    assert {path.stem for path in GOLDEN.glob("*/*")} == set(template_names())
    assert [path.name for path in GOLDEN.iterdir()] == [path.name for path in GOLDEN.iterdir() if path.is_dir()]


if __name__ == "__main__":
    for name in template_names():
        for path, content in goldens(load_template(name)).items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

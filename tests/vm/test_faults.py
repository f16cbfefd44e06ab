"""A sample of `make faults`: kills and a power cut while layouts are made, beside what is somebody else's."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from blank import blank
from faults.campaign import Campaign
from faults.layouts import side_by_side

from zmysql.platforms.device import MediaClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faults.campaign import Chosen
    from faults.layouts import Layout

    from zmysql.testbed.vm import Guest

# One pool with all sorts of vdevs, and two pools.
FREE = {
    MediaClass.HDD: ("sda", "sdb", "sdc", "sdd"),
    MediaClass.SSD: ("sdg", "sdh", "sdi", "nvme0n1", "nvme1n1"),
}
FOREIGN = ("sde", "sdf", "sdj")
FIRST = {"hybrid": ("zpool create",), "ssd-data-hdd-log": ("zfs create", "/data")}
AT_THE_CUT = {"hybrid": ("zfs create", "/binlog"), "ssd-data-hdd-log": ("zpool create", "-log")}
LAST = {"hybrid": ("chown",), "ssd-data-hdd-log": ("state=complete", "-log")}


@pytest.fixture
def campaign(guest: Guest) -> Iterator[Campaign]:
    """Give two layouts to be made on the guest, and leave its disks free at the end."""
    blank(guest)
    yield Campaign(guest.testbed, side_by_side(FIRST, FREE), FOREIGN, random.SystemRandom())
    blank(guest)


def test_what_was_killed_and_lost_its_power_is_finished_and_all_else_is_as_it_was(campaign: Campaign) -> None:
    def at(words: Mapping[str, tuple[str, ...]]) -> Chosen:
        def chosen(layout: Layout, step: str) -> bool:
            return all(word in step for word in words[layout.template])

        return chosen

    for layout in campaign.layouts:
        assert campaign.kill(layout, at(FIRST))
    assert campaign.cut_power(at(AT_THE_CUT))
    for layout in campaign.layouts:
        assert campaign.kill(layout, at(LAST))
    campaign.finish()
    found = campaign.counts
    assert found.broken == []
    assert (found.kills, found.cuts, found.boots, campaign.steps, found.finished) == (4, 2, 1, 6, 2)
    assert (found.lost, found.touched) == (0, 0)

"""Disks and what uses them, from captures of real machines."""

import pytest
from captures import capture, inventory
from hypothesis import given
from hypothesis import strategies as st

from zmysql.platforms.device import Device, MediaClass, UseKind
from zmysql.platforms.linux import parse_disks, preferred_by_id


def uses(machine: str) -> dict[str, list[str]]:
    return {device.name: [str(use) for use in device.used_by] for device in inventory(machine).devices}


def named(machine: str, name: str) -> Device:
    device = inventory(machine).named(name)
    assert device is not None
    return device


def test_a_disk_has_class_size_sectors_and_names() -> None:
    device = named("debian13-zfs2.3-blank", "sde")
    assert device.media is MediaClass.SSD
    assert device.size_bytes == 1 << 30
    assert (device.logical_sector_bytes, device.physical_sector_bytes) == (512, 512)
    assert (device.vendor, device.model, device.serial) == ("INTEL", "SSDSC2BA", "ZMvm-layout4")
    assert device.by_id == "/dev/disk/by-id/scsi-35002538000000104"
    assert device.used_by == ()


def test_rotation_tells_hdd_from_ssd() -> None:
    media = {device.name: device.media for device in inventory("debian13-zfs2.3-blank").devices}
    assert [media[f"sd{letter}"] for letter in "abcdefg"] == [*[MediaClass.HDD] * 4, *[MediaClass.SSD] * 3]


def test_what_is_no_disk_is_left_out() -> None:
    # This machine has a loop device, a zram device and a zvol besides its disks.
    said = capture("debian13-zfs2.3-busy", "lsblk.json")
    assert all(f'"name": "{name}"' in said for name in ("loop0", "zram0", "zd0"))
    assert [device.name for device in inventory("debian13-zfs2.3-busy").devices] == [
        *(f"sd{at}" for at in "abcdefg"),
        "vda",
    ]


def test_each_way_of_being_used_is_seen() -> None:
    assert uses("debian13-zfs2.3-busy") == {
        "sda": ["mounted at /mnt/a"],
        "sdb": ["ext4 spare (sdb1)", "swapped to (sdb2)", "partition sdb3"],
        "sdc": ["label of pool exported, not imported (sdc1)"],
        "sdd": ["in pool tank"],
        "sde": ["linux_raid_member zmysql-testbed:0", "held by raid1 md0"],
        "sdf": ["linux_raid_member zmysql-testbed:0", "held by raid1 md0"],
        "sdg": ["an empty gpt partition table"],
        "vda": ["mounted at /"],
    }


def test_holders_and_leftovers_are_seen() -> None:
    assert uses("debian13-zfs2.3-held") == {
        "sda": ["LVM2_member", "held by lvm vg0-root"],
        "sdb": ["held by dm plain"],
        "sdc": ["mounted at /mnt/b c (sdc1)"],
        "sdd": ["label of pool tank, not imported (sdd1)"],  # of a destroyed pool, which zpool import -D could save
        "sde": ["partition sde1 of ZFS without a label"],  # of a zpool create that failed after partitioning
        "sdf": ["partition sdf1 of ZFS without a label"],
        "sdg": ["partition sdg1 of ZFS without a label"],
        "vda": ["mounted at /"],
    }


def test_all_disks_of_a_pool_are_in_it_also_its_log_cache_and_spares() -> None:
    in_wide = {name for name, said in uses("debian13-zfs2.3-special").items() if said == ["in pool wide"]}
    assert in_wide == {f"sd{at}" for at in "abcdefg"}
    in_tank = {name for name, said in uses("debian13-zfs2.3-hybrid").items() if said == ["in pool tank"]}
    assert in_tank == {*(f"sd{at}" for at in "abcdefgh"), "nvme0n1"}


def test_a_machine_without_udev_has_disks_without_stable_names() -> None:
    (device,) = inventory("debian12-container").devices
    assert device.by_id is None
    assert device.stable_path == "/dev/vda"
    assert [str(use) for use in device.used_by] == ["mounted at /"]


@pytest.mark.parametrize(
    "name",
    ["sda", "/dev/sda", "/dev/disk/by-id/wwn-0x5000c50000000100", "wwn-0x5000c50000000100", "scsi-35000c50000000100"],
)
def test_a_disk_goes_by_any_of_its_names(name: str) -> None:
    assert named("debian13-zfs2.3-blank", name).name == "sda"


def test_a_partition_leads_to_its_disk_and_is_no_name_for_it() -> None:
    found = inventory("debian13-zfs2.3-busy")
    whole = found.carrying("/dev/sdb2")
    assert whole is not None
    assert whole.name == "sdb"
    assert found.named("sdb2") is None


def test_a_disk_that_is_read_only_says_so() -> None:
    said = capture("debian13-zfs2.3-blank", "lsblk.json").replace('"ro": false', '"ro": true')
    assert all(device.used_by[0].kind is UseKind.READ_ONLY for device in parse_disks(said, ""))


LINKS = tuple(
    f"/dev/disk/by-id/{name}"
    for name in (
        "ata-ST4000NM0035-1V4107_ZC1A2B3C",
        "nvme-Samsung_SSD_980_S649NL0T",
        "nvme-Samsung_SSD_980_S649NL0T_1",
        "scsi-SSEAGATE_ST4000NM_ZMvm-layout0",
        "scsi-35000c50000000100",
        "wwn-0x5000c50000000100",
        "nvme-eui.0025385b21404321",
        "virtio-disk0",
        "usb-Generic_Flash_1234",
    )
)


@given(st.permutations(LINKS), st.integers(1, len(LINKS)))
def test_the_stable_name_depends_on_the_names_and_not_on_their_order(links: list[str], count: int) -> None:
    # LINKS is in order of preference.
    assert preferred_by_id(tuple(links[:count])) == next(link for link in LINKS if link in links[:count])


def test_only_names_by_id_are_stable() -> None:
    assert preferred_by_id(("/dev/disk/by-path/pci-0000:00:02.0-scsi-0:0:0:0", "/dev/disk/by-uuid/b7ef65ba")) is None

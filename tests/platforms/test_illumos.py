"""illumos's disks and what uses them, from what real machines printed."""

from dataclasses import replace

import pytest
from captures import capture

from zmysql.layout.inventory import with_pools
from zmysql.platforms.device import Device, MediaClass
from zmysql.platforms.illumos import (
    Machine,
    Slice,
    devices_of,
    machine_of,
    parse_busy,
    parse_fdisk,
    parse_links,
    parse_memory,
    parse_serials,
    parse_slices,
    uses_of,
)
from zmysql.platforms.probe import Contents, sections
from zmysql.zfs.model import Pool, Vdev, VdevRole

NOTHING = machine_of({})
DISKS = devices_of(machine_of({"diskinfo": capture("smartos-hgst", "diskinfo")}))


def named(name: str) -> Device:
    (device,) = (device for device in DISKS if device.is_called(name))
    return device


def said(machine: Machine, disk: str) -> list[str]:
    return [str(use) for use in uses_of(disk, machine)]


def test_a_disk_has_class_size_and_names() -> None:
    device = named("c12t5000CCA0490428ADd0")
    assert (device.media, device.size_bytes) == (MediaClass.SSD, 100030242816)
    assert (device.vendor, device.model, device.transport) == ("HGST", "HUSMH8010BSS204", "scsi")
    assert device.stable_path == "/dev/dsk/c12t5000CCA0490428ADd0"
    assert named("/dev/dsk/c12t5000CCA0490428ADd0") == device
    assert device.physical_sector_bytes == 4096  # which no command of illumos tells
    assert device.used_by == ()


def test_disks_are_listed_in_the_order_of_their_numbers_and_a_stick_is_removable() -> None:
    assert [device.name.partition("t")[0] for device in DISKS] == [f"c{at}" for at in range(17)]
    assert [device.name for device in DISKS if device.removable] == ["c16t0d0"]
    assert [device.media for device in DISKS].count(MediaClass.HDD) == 16


def test_serial_numbers_come_from_iostat_where_they_are_told() -> None:
    text = capture("solaris-x86-scsi", "iostat")
    assert parse_serials(text) == {}  # this one's controller tells none
    told = text.replace("Product: SROMBSASFC       Revision: 1.11 Serial No:  ", "Product: X  Serial No: BTYS8174 ", 1)
    assert parse_serials(told) == {"c3t0d0": "BTYS8174"}


def test_slices_have_tags_and_mount_points() -> None:
    assert parse_slices(capture("opensolaris-ec2", "prtvtoc-c0d0")) == (
        Slice(0, 2, "/"),
        Slice(1, 3, None),
        Slice(2, 5, None),
        Slice(8, 1, None),
    )


def test_a_mounted_slice_and_one_that_may_hold_something_are_in_use() -> None:
    machine = replace(NOTHING, prtvtoc={"c0d0": capture("opensolaris-ec2", "prtvtoc-c0d0")})
    assert said(machine, "c0d0") == ["mounted at / (c0d0s0)", "slice c0d0s1 (swap)"]
    fresh = replace(NOTHING, prtvtoc={"c4t0d0": capture("openindiana-151a4", "prtvtoc-c4t0d0")})
    assert said(fresh, "c4t0d0") == ["slice c4t0d0s0 (root)"]


def test_a_disk_with_an_efi_label_and_nothing_on_it_is_free() -> None:
    blank = {"c0d1": capture("opensolaris-ec2", "prtvtoc-c0d1")}
    assert said(replace(NOTHING, prtvtoc=blank), "c0d1") == []
    labelled = {"c0d1s0": Contents(None, is_zfs=True, pool="tank")}
    machine = replace(NOTHING, prtvtoc=blank, contents=labelled)
    assert said(machine, "c0d1") == ["label of pool tank, not imported (c0d1s0)"]
    machine = replace(NOTHING, prtvtoc=blank, contents={"c0d1s0": Contents("ufs", is_zfs=False, pool=None)})
    assert said(machine, "c0d1") == ["ufs (c0d1s0)"]


def test_fdisk_partitions_of_others_are_in_use() -> None:
    text = capture("openindiana-151a4", "fdisk-c3t0d0")
    assert parse_fdisk(text) == ()  # Solaris2 is illumos's own
    linux = text.replace("\n191 ", "\n131 ")
    assert parse_fdisk(linux) == (131,)
    assert said(replace(NOTHING, fdisk={"c3t0d0": linux}), "c3t0d0") == ["fdisk partition of type 131"]


def test_swap_and_dumps_on_volumes_of_a_pool_use_no_disk_and_on_slices_they_do() -> None:
    swap, dump = capture("openindiana-151a4", "swap"), capture("openindiana-151a4", "dumpadm")
    mounts = capture("solaris-x86-scsi", "mount")
    assert parse_busy(swap, dump, mounts) == {}
    on_disk = parse_busy(
        swap.replace("/dev/zvol/dsk/rpool1/swap", "/dev/dsk/c0t5000CCA02203E181d0s1"),
        dump.replace("/dev/zvol/dsk/syspool/dump", "/dev/dsk/c1t0d0s1"),
        mounts.replace("proc on /proc", "/dev/dsk/c2d0p0:1 on /mnt/a stick"),
    )
    assert {disk: [str(use) for use in uses] for disk, uses in on_disk.items()} == {
        "c0t5000CCA02203E181d0": ["swapped to (c0t5000CCA02203E181d0s1)"],
        "c2d0": ["mounted at /mnt/a stick (c2d0p0)"],
        "c1t0d0": ["crash dumps go to it (c1t0d0s1)"],
    }


def test_a_slice_that_is_in_use_is_said_once() -> None:
    table = {"c0d0": capture("opensolaris-ec2", "prtvtoc-c0d0")}
    swap = capture("openindiana-151a4", "swap").replace("/dev/zvol/dsk/rpool1/swap", "/dev/dsk/c0d0s1")
    machine = replace(NOTHING, prtvtoc=table, busy=parse_busy(swap, "", ""))
    assert said(machine, "c0d0") == ["swapped to (c0d0s1)", "mounted at / (c0d0s0)"]


@pytest.mark.parametrize("path", ["/dev/dsk/c0d1s0", "/devices/xpvd/xdf@1:c"])
def test_a_disk_is_in_the_pool_that_names_one_of_its_nodes(path: str) -> None:
    links = parse_links(capture("opensolaris-ec2", "ls-dsk"))
    assert links["c0d0"] == ("/dev/dsk/c0d0s2", "/devices/xpvd/xdf@0:c")
    text = capture("smartos-hgst", "diskinfo").splitlines()[0].replace("c0t5000CCA02203E181d0", "c0d1")
    parts = {"c0d1": ("/dev/dsk/c0d1s0", *links["c0d1"])}
    found = devices_of(replace(NOTHING, diskinfo=text, links=parts))
    (device,) = with_pools(found, [Pool("tank", (Vdev(VdevRole.DATA, "disk", (path,)),))])
    assert [str(use) for use in device.used_by] == ["in pool tank"]


def test_memory_is_read_from_the_head_of_prtconf() -> None:
    assert parse_memory(capture("solaris-x86-scsi", "prtconf")) == 4096 << 20
    assert parse_memory("prtconf: devinfo facility not available") is None


def test_two_hundred_disks_are_all_read() -> None:
    row = capture("smartos-hgst", "diskinfo").splitlines()[0]
    table, fdisk = capture("opensolaris-ec2", "prtvtoc-c0d1"), capture("openindiana-151a4", "fdisk-c3t0d0")
    names = [f"c{at}t5000CCA02203E181d0" for at in range(200)]
    listed = "".join(f"{row.replace('c0t5000CCA02203E181d0', name)}\n" for name in names)
    each = "".join(f"@@ fdisk {name}\n{fdisk}@@ prtvtoc {name}\n{table}@@ on /dev/rdsk/{name}s0\n" for name in names)
    found = devices_of(machine_of(sections(f"@@ diskinfo\n{listed}{each}@@ end\n")))
    assert [device.name for device in found] == names
    assert all(device.used_by == () for device in found)

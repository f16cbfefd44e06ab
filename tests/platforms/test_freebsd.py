"""FreeBSD's disks and what uses them, from what real machines printed."""

import pytest
from captures import capture

from zmysql.errors import ZmysqlError
from zmysql.layout.inventory import with_pools
from zmysql.platforms.device import Device, MediaClass, UseKind
from zmysql.platforms.freebsd import devices_of, parse_transports, unexplained
from zmysql.platforms.geom import parse_tree
from zmysql.platforms.probe import Contents, parse_contents
from zmysql.zfs.model import Pool, Vdev, VdevRole


def devices(machine: str, contents: dict[str, Contents] | None = None, mount: str = "") -> dict[str, Device]:
    found = devices_of(parse_tree(capture(machine, "geom")), mount=mount, contents=contents)
    return {device.name: device for device in found}


def uses(device: Device) -> list[str]:
    return [str(use) for use in device.used_by]


def test_a_disk_has_class_size_sectors_and_names() -> None:
    (device,) = devices("freebsd-geli-zfs").values()
    assert (device.name, device.path, device.media) == ("ada0", "/dev/ada0", MediaClass.SSD)
    assert device.size_bytes == 512110190592
    assert (device.logical_sector_bytes, device.physical_sector_bytes) == (512, 4096)
    assert (device.model, device.serial, device.wwn) == (
        "Samsung SSD 850 PRO 512GB",
        "S250NXAG959927J",
        "50025388400c2138",
    )
    assert device.stable_path == "/dev/ada0"  # this machine has the labels by serial number switched off


def test_the_class_comes_from_the_driver_and_the_rotation_rate() -> None:
    assert {name: one.media for name, one in devices("freebsd-nvme-swap").items()} == {
        "ada0": MediaClass.SSD,
        "nvd0": MediaClass.NVME,
        "nvd1": MediaClass.NVME,
    }
    (unknown,) = devices("freebsd10.3-md").values()  # QEMU's disk says `unknown`; its CD drive is left out
    assert unknown.media is MediaClass.HDD


def test_an_encrypted_pool_and_swap_are_seen_through_their_layers() -> None:
    (device,) = devices("freebsd-geli-zfs").values()
    assert uses(device) == [
        "held by eli ada0p3.eli",
        "in a pool (ada0p3.eli)",
        "held by eli ada0p2.eli",
        "swapped to (ada0p2.eli)",
        "partition ada0p1 (freebsd-boot)",
    ]
    (in_pool,) = with_pools([device], [Pool("zroot", (Vdev(VdevRole.DATA, "disk", ("/dev/ada0p3.eli",)),))])
    assert uses(in_pool) == [
        "in pool zroot",
        "held by eli ada0p3.eli",
        "held by eli ada0p2.eli",
        "swapped to (ada0p2.eli)",
    ]


def test_mounts_and_swap_are_seen_through_labels() -> None:
    found = devices("freebsd-nvme-swap", mount="/dev/gpt-partition-2 on /data (ufs, local)\n")
    assert uses(found["ada0"]) == ["mounted (gpt-partition-1)"]
    assert uses(found["nvd1"]) == ["mounted at /data (gpt-partition-2)", "swapped to (gpt-partition-5)"]
    assert uses(found["nvd0"]) == [
        "partition nvd0p4 (freebsd-boot)",
        "partition nvd0p3 (freebsd-swap)",
        "mounted (gpt-partition-3)",
        "msdosfs EFI (nvd0p1)",
    ]
    (virtual,) = devices("freebsd10.3-md").values()
    assert uses(virtual) == [
        "swapped to (label/swap0)",
        "labelled label/swap0 by glabel (ada0s1b)",
        "mounted (ufsid/5745adc5aff0029d)",
    ]


def test_a_mount_is_read_as_mount_prints_it() -> None:
    text = capture("freebsd-nvme-swap", "geom").replace("gpt-partition-1", "mirror/gm0s1d")
    (device, *_) = devices_of(parse_tree(text), mount=capture("freebsd-mirror", "mount"))
    assert uses(device) == ["mounted at / (mirror/gm0s1d)"]


def test_only_what_nothing_has_open_is_probed_and_no_disk_with_partitions() -> None:
    assert unexplained(parse_tree(capture("freebsd-nvme-swap", "geom"))) == ("nvd0p4", "nvd0p3", "nvd0p1")
    assert unexplained(parse_tree(capture("freebsd-geli-zfs", "geom"))) == ("ada0p1",)


def test_a_label_of_a_pool_is_found_wherever_it_is() -> None:
    """zdb(8) is OpenZFS's own and prints the same on Linux, where these were taken."""
    assert parse_contents(capture("debian13-zfs2.3-labels", "zdb-sdg")) == Contents(None, is_zfs=False, pool=None)
    stale = parse_contents(capture("debian13-zfs2.3-labels", "zdb-sda1"))
    assert stale == Contents(None, is_zfs=True, pool="tank")
    device = devices("freebsd-nvme-swap", {"nvd0p3": stale})["nvd0"]
    (label,) = (use for use in device.used_by if use.kind is UseKind.LABEL)
    assert (str(label), label.pool) == ("label of pool tank, not imported (nvd0p3)", "tank")
    assert "`zpool labelclear -f /dev/nvd0p3` and `gpart destroy -F nvd0`" in label.way_out


def without_class(geom: str, kind: str) -> str:
    before, _, rest = geom.partition(f"<name>{kind}</name>")
    _, _, after = rest.partition("</class>")
    return before + f"<name>{kind}</name></class>" + after


def test_a_disk_without_anything_on_it_is_free_and_one_that_is_open_is_not() -> None:
    geom = capture("freebsd-geli-zfs", "geom")
    bare = without_class(geom, "PART")
    (device,) = devices_of(parse_tree(bare))
    assert uses(device) == ["something in the kernel has it open"]
    (device,) = devices_of(parse_tree(bare.replace("r2w2e4", "r0w0e0")))
    assert device.used_by == ()
    # The device node of the disk, opened by a program: the consumer of class DEV counts.
    opened = bare.replace("<name>ada0</name>\n      <rank>2</rank>\n\t<consumer", "<name>ada0</name>\n\t<consumer")
    at = opened.index('<consumer id="0xfffff8000398ba80">')
    (device,) = devices_of(parse_tree(opened[:at] + opened[at:].replace("r0w0e0", "r1w0e0", 1)))
    assert uses(device) == ["a program has /dev/ada0 open"]


def test_transports_come_from_the_bus() -> None:
    transports = parse_transports(capture("truenas-arcmsr", "camcontrol"))
    assert transports == {f"da{at}": "arcmsr" for at in range(15)}
    at_usb = capture("truenas-arcmsr", "camcontrol").replace("arcmsr0", "umass-sim0")
    assert parse_transports(at_usb)["da14"] == "usb"


def test_what_is_no_xml_is_a_clear_error() -> None:
    with pytest.raises(ZmysqlError, match=r"kern\.geom\.confxml"):
        parse_tree("sysctl: unknown oid")


def many(geom: str, count: int) -> str:
    copies = (geom.replace("ada0", f"ada{at}").replace("0xfffff8", f"0x{at:03}ff8") for at in range(count))
    return f"<mesh>{''.join(copy.strip().removeprefix('<mesh>').removesuffix('</mesh>') for copy in copies)}</mesh>"


def test_two_hundred_disks_are_all_read() -> None:
    text = many(capture("freebsd-geli-zfs", "geom"), 200)
    found = devices_of(parse_tree(text))
    assert len(found) == 200
    assert [device.name for device in found[:3]] == ["ada0", "ada1", "ada2"]
    assert all(len(device.used_by) == 5 for device in found)

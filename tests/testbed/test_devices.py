"""The table of device models, and how disks are declared."""

import pytest

from zmysql.errors import UsageError
from zmysql.testbed.devices import MODELS, Bus, DeviceModel, parse_disks


def test_a_spec_with_a_count_gives_as_many_disks_in_order() -> None:
    disks = parse_disks("one", ("hdd-15k:4G*4", "ssd:1G*2", "ssd:2G"))
    assert [(disk.model.name, disk.size_bytes) for disk in disks] == [
        *[("hdd-15k", 4 << 30)] * 4,
        *[("ssd", 1 << 30)] * 2,
        ("ssd", 2 << 30),
    ]


def test_every_disk_has_an_identity_of_its_own_also_across_testbeds() -> None:
    disks = [*parse_disks("one", ("ssd:1G*8",)), *parse_disks("two", ("ssd:1G*8",))]
    assert len({disk.serial for disk in disks}) == len(disks)
    assert len({disk.wwn for disk in disks}) == len(disks)


def test_identities_stay_from_one_boot_to_the_next() -> None:
    assert parse_disks("one", ("ssd:1G",)) == parse_disks("one", ("ssd:1G",))


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_a_model_fits_the_fields_of_scsi(model: DeviceModel) -> None:
    (disk,) = parse_disks("one", (f"{model.name}:1G",))
    assert len(disk.model.vendor) <= 8
    assert len(disk.model.product) <= 16
    assert (disk.wwn is None) is (model.bus is Bus.NVME)
    if disk.wwn is not None:
        assert disk.wwn >> 60 == 5  # an NAA 5 name, 64 bits long
        assert f"{disk.wwn:016x}"[1:7] == disk.model.oui


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("hdd-15k", "MODEL:SIZE"),
        ("hdd-15:4G", "did you mean hdd-15k?"),
        ("floppy:4G", "there are hdd-15k"),
        ("ssd:4Q", "'4Q' is no size"),
        ("ssd:1M", "under 64M"),
        ("ssd:1G*0x", "MODEL:SIZE"),
        ("ssd:1G*129", "129 scsi disks"),
        ("nvme:1G*17", "17 nvme disks"),
    ],
)
def test_a_bad_spec_is_refused_with_the_way_out(spec: str, named: str) -> None:
    with pytest.raises(UsageError, match=named.replace("?", r"\?")):
        parse_disks("one", (spec,))

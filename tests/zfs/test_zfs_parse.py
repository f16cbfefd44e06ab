"""What zpool(8) and zfs(8) of OpenZFS 2.3 printed, as values."""

from captures import capture, pool

from zmysql.zfs.model import Vdev, VdevRole
from zmysql.zfs.parse import parse_get, parse_status


def test_status_gives_vdevs_with_their_roles() -> None:
    (tank,) = parse_status(capture("debian13-zfs2.3-hybrid", "zpool-status"))
    assert (tank.name, tank.state) == ("tank", "ONLINE")
    assert tank.vdevs == (
        Vdev(VdevRole.DATA, "mirror", ("/dev/sda1", "/dev/sdb1")),
        Vdev(VdevRole.DATA, "mirror", ("/dev/sdc1", "/dev/sdd1")),
        Vdev(VdevRole.DATA, "mirror", ("/dev/sde1", "/dev/sdf1")),
        Vdev(VdevRole.LOG, "mirror", ("/dev/sdg1", "/dev/sdh1")),
        Vdev(VdevRole.CACHE, "disk", ("/dev/nvme0n1p1",)),
    )


def test_status_gives_raidz_special_and_spares() -> None:
    (wide,) = parse_status(capture("debian13-zfs2.3-special", "zpool-status"))
    assert wide.vdevs == (
        Vdev(VdevRole.DATA, "raidz1", ("/dev/sda1", "/dev/sdb1", "/dev/sdc1")),
        Vdev(VdevRole.SPECIAL, "mirror", ("/dev/sde1", "/dev/sdf1")),
        Vdev(VdevRole.CACHE, "disk", ("/dev/sdg1",)),
        Vdev(VdevRole.SPARE, "disk", ("/dev/sdd1",)),
    )


def test_several_pools_and_none() -> None:
    both = capture("debian13-zfs2.3-hybrid", "zpool-status") + capture("debian13-zfs2.3-busy", "zpool-status")
    assert [len(found.vdevs) for found in parse_status(both)] == [5, 1]
    assert parse_status(capture("debian13-zfs2.3-destroyed", "zpool-status")) == ()


def test_a_pool_may_be_called_cache() -> None:
    said = capture("debian13-zfs2.3-busy", "zpool-status").replace("tank", "cache")
    assert parse_status(said)[0].vdevs == (Vdev(VdevRole.DATA, "disk", ("/dev/sdd1",)),)


def test_get_leaves_out_what_is_not_set() -> None:
    found = parse_get(capture("debian13-zfs2.3-hybrid", "zfs-get"))
    assert found["tank/mysql/data"]["recordsize"] == "16384"
    assert "origin" not in found["tank"]
    assert all(value != "-" for values in found.values() for value in values.values())


def test_a_user_property_may_have_tabs_and_newlines_in_it() -> None:
    said = capture("debian13-zfs2.3-hybrid", "zfs-get").replace(
        "tank\tatime\toff\tlocal\n", "tank\tatime\toff\tlocal\ntank\torg:note\ta\tb\nc\tlocal\n", 1
    )
    assert parse_get(said)["tank"]["atime"] == "off"
    assert parse_get(said)["tank"]["recordsize"] == "131072"


def test_a_pool_has_its_guid_and_its_root_first() -> None:
    tank = pool("debian13-zfs2.3-hybrid")
    assert tank.guid is not None
    assert tank.guid.isdigit()
    assert tank.datasets[0].name == "tank"
    assert tank.property_of_root("zmysql:template") == "hybrid"
    assert tank.properties["ashift"] == "12"

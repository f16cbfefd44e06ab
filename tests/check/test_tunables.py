"""How a parameter of the ZFS module is set on each system."""

from __future__ import annotations

from zmysql.check.tunables import set_parameter, where


def test_a_parameter_is_set_now_and_for_the_next_boot() -> None:
    assert set_parameter("linux", "zfs_arc_max", 1 << 30)[0] == (
        ("sh", "-c", "echo 1073741824 > /sys/module/zfs/parameters/zfs_arc_max"),
        ("sh", "-c", "echo options zfs zfs_arc_max=1073741824 >> /etc/modprobe.d/zfs.conf"),
    )
    assert set_parameter("freebsd", "l2arc_write_max", 1) == (
        (
            ("sysctl", "vfs.zfs.l2arc.write_max=1"),
            ("sh", "-c", "echo vfs.zfs.l2arc.write_max=1 >> /etc/sysctl.conf"),
        ),
        None,
    )
    assert set_parameter("illumos", "zfs_arc_max", 1) == (
        (("sh", "-c", "echo set zfs:zfs_arc_max = 1 >> /etc/system.d/zfs"),),
        "reboot",
    )


def test_where_a_parameter_was_seen_is_said_in_the_systems_words() -> None:
    assert where("linux", "zfs_arc_max") == "/sys/module/zfs/parameters/zfs_arc_max"
    assert where("freebsd", "zfs_arc_max") == "sysctl vfs.zfs.arc.max"

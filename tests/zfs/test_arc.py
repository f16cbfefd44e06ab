"""How much memory the ARC takes when nobody caps it."""

import pytest

from zmysql.zfs.arc import default_arc_max_bytes
from zmysql.zfs.capability import Zfs

GIB = 1 << 30


@pytest.mark.parametrize(
    ("zfs", "memory_gib", "arc_gib"),
    [
        (Zfs("linux", (2, 1, 11)), 16, 8),
        (Zfs("linux", (2, 2, 8)), 16, 8),
        (Zfs("linux", (2, 3, 0)), 16, 15),
        (Zfs("linux", (2, 4)), 2, 1.25),
        (Zfs("linux", None), 16, 8),
        (Zfs("freebsd", (2, 2, 0)), 16, 15),
        (Zfs("freebsd", (2, 2, 0)), 2, 1.25),
        (Zfs("freebsd", None), 0.5, 0.3125),
        (Zfs("illumos", None), 2, 1.5),
        (Zfs("illumos", None), 16, 15),
    ],
)
def test_the_default_of_each_system_and_version(zfs: Zfs, memory_gib: float, arc_gib: float) -> None:
    assert default_arc_max_bytes(int(memory_gib * GIB), zfs) == arc_gib * GIB

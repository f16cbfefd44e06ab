"""What a ZFS lacks."""

import pytest
from captures import capture

from zmysql.zfs.capability import _PROPERTIES, Lack, Zfs, lacks, lacks_command, parse_version
from zmysql.zfs.properties import type_of_dataset_property, type_of_pool_property

ILLUMOS = Zfs("illumos", None)


def openzfs(*version: int) -> Zfs:
    return Zfs("linux", version)


@pytest.mark.parametrize(
    ("name", "value", "first"),
    [
        ("compression", "zstd", (2, 0)),
        ("compression", "zstd-3", (2, 0)),
        ("compression", "zstd-fast", (2, 0)),
        ("direct", "disabled", (2, 3)),
        ("redundant_metadata", "none", (2, 2)),
        ("redundant_metadata", "some", (2, 2)),
        ("recordsize", "2M", (2, 2)),
        ("special_small_blocks", "32K", (0, 8)),
        ("special_small_blocks", "256K", (2, 0)),
        ("special_small_blocks", "1M", (2, 0)),
        ("special_small_blocks", "2M", (2, 3)),
        ("special_small_blocks", "96K", (2, 4)),
        ("compatibility", "openzfs-2.1-linux", (2, 1)),
        ("autotrim", "on", (0, 8)),
    ],
)
def test_what_came_with_a_version_is_there_from_it_on_and_not_before(
    name: str, value: str, first: tuple[int, ...]
) -> None:
    *major, minor = first
    before = (*major, minor - 1, 9) if minor else (major[0] - 2, 8, 6)
    for at_least in (first, (*first, 1), (3, 0)):
        assert lacks(openzfs(*at_least), name, value) is None
    lack = lacks(openzfs(*before), name, value)
    assert lack is not None
    assert f"came with OpenZFS {first[0]}.{first[1]}, and this is {before[0]}.{before[1]}" in lack.reason


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("compression", "lz4"),
        ("redundant_metadata", "most"),
        ("recordsize", "1M"),
        ("special_small_blocks", "0"),
        ("special_small_blocks", "128K"),
        ("xattr", "on"),
        ("autotrim", "on"),
        ("dnodesize", "auto"),
        ("logbias", "latency"),
        ("ashift", "12"),
        ("quota", "none"),
    ],
)
def test_what_all_have_is_lacking_nowhere(name: str, value: str) -> None:
    assert [lacks(zfs, name, value) for zfs in (ILLUMOS, openzfs(0, 8), openzfs(2, 4))] == [None, None, None]


@pytest.mark.parametrize(
    ("name", "value", "refuse"),
    [
        ("compression", "zstd", True),
        ("recordsize", "2M", True),
        ("special_small_blocks", "256K", True),
        ("compatibility", "openzfs-2.1-linux", True),
        ("compatibility", "off", False),
        ("direct", "disabled", False),
        ("redundant_metadata", "none", False),
        ("xattr", "sa", False),
    ],
)
def test_illumos_refuses_what_changes_how_data_is_stored_and_goes_without_the_rest(
    name: str, value: str, *, refuse: bool
) -> None:
    lack = lacks(ILLUMOS, name, value)
    assert lack is not None
    assert lack.reason.startswith("illumos has no ")
    assert lack.refuse is refuse


def test_nothing_is_held_against_a_version_that_is_not_known() -> None:
    assert lacks(Zfs("linux", None), "compression", "zstd") is None


def test_commands_have_versions_too() -> None:
    assert lacks_command(openzfs(2, 4, 0), "zfs rewrite") is None
    assert lacks_command(openzfs(2, 3, 4), "zfs rewrite") is None
    assert lacks_command(openzfs(2, 3, 3), "zfs rewrite") == Lack(
        "`zfs rewrite` came with OpenZFS 2.3.4, and this is 2.3.3", refuse=True
    )
    assert lacks_command(ILLUMOS, "zpool status -j") is not None


def test_every_row_is_about_a_property_that_a_template_may_set() -> None:
    assert {row.name for row in _PROPERTIES} <= {*type_of_dataset_property, *type_of_pool_property}


def test_the_version_is_the_older_of_tools_and_kernel() -> None:
    about = capture("debian13-zfs2.3-blank", "about")
    debian = "".join(line.removeprefix("zfs: ") for line in about.splitlines(keepends=True) if line.startswith("zfs: "))
    assert parse_version(debian) == (2, 3, 9)
    freebsd = capture("freebsd14.3", "zfs-version")
    assert parse_version(freebsd) == (2, 2, 7)
    assert parse_version(freebsd.replace("zfs-2.2.7", "zfs-2.3.4")) == (2, 2, 7)
    assert parse_version("unrecognized command 'version'") is None

"""Tunables: each platform's defaults, and what may be set."""

from __future__ import annotations

from dataclasses import fields

import pytest

from zmysql.errors import UsageError
from zmysql.locality.parameters import PLATFORMS, Parameters, parameters_for, platform_of, with_settings


@pytest.mark.parametrize(
    ("system", "zfs", "platform"),
    [
        ("Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64", "2.1.11-1", "openzfs-2.2.6"),
        ("Linux", "2.2.6", "openzfs-2.2.6"),
        ("Linux", "2.2.7-1~bpo12+1", "openzfs-2.4"),
        ("Debian GNU/Linux 13 (trixie), Linux 6.12.1 x86_64", "2.3.9-1", "openzfs-2.4"),
        ("FreeBSD 14.3", "zfs-2.4.4-FreeBSD_g1", "openzfs-2.4"),
        ("Linux", "2.4.99-412_gabc", "openzfs-master"),
        ("Linux", "master", "openzfs-master"),
        ("OmniOS r151054, SunOS 5.11 i86pc", None, "illumos"),
        ("illumos", "2.3.9", "illumos"),
        (None, None, "openzfs-2.4"),
        ("Linux", "unknown", "openzfs-2.4"),
    ],
)
def test_a_system_has_the_defaults_of_its_platform(system: str | None, zfs: str | None, platform: str) -> None:
    assert platform_of(system, zfs) == platform


@pytest.mark.parametrize(
    ("platform", "write_max", "boost", "headroom"),
    [
        ("illumos", 8, 8, 2),
        ("openzfs-2.2.6", 8, 8, 2),
        ("openzfs-2.4", 32, 32, 8),
        ("openzfs-master", 64, 0, 8),
    ],
)
def test_the_l2arc_is_fed_as_each_platform_does(platform: str, write_max: int, boost: int, headroom: int) -> None:
    system, zfs = {
        "illumos": ("illumos", None),
        "openzfs-2.2.6": ("Linux", "2.2.6"),
        "openzfs-2.4": ("Linux", "2.4.4"),
        "openzfs-master": ("Linux", "master"),
    }[platform]
    found = parameters_for(system, zfs)
    assert (found.l2arc_write_max >> 20, found.l2arc_write_boost >> 20) == (write_max, boost)
    assert (found.l2arc_headroom, found.l2arc_prefetch_reads) == (headroom, platform != "illumos")


def test_platforms_differ_in_what_there_is() -> None:
    names = {field.name for field in fields(Parameters)}
    assert all(names >= differs.keys() for differs in PLATFORMS.values())


def test_settings_are_taken_under_their_names() -> None:
    settings = ("l2arc_write_max=8M", "l2arc_noprefetch=0", "compressratio=1.9", "primarycache=metadata")
    found = with_settings(Parameters(), settings)
    assert (found.l2arc_write_max, found.l2arc_noprefetch) == (8 << 20, False)
    assert (found.compressratio, found.data_in_arc, found.metadata_in_arc) == (1.9, False, True)
    assert (found.data_in_l2arc, found.metadata_in_l2arc) == (False, True)
    assert Parameters(secondarycache="none").metadata_in_l2arc is False


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("l2arc_write_mx=1", "no such parameter, did you mean l2arc_write_max"),
        ("l2arc_write_max", "has no value"),
        ("l2arc_write_max=fast", "is no size"),
        ("l2arc_write_max=0", "from 1 to"),
        ("l2arc_write_max=8E", "from 1 to"),
        ("l2arc_noprefetch=yes", "write 1 or 0"),
        ("dbuf_cache_shift=64", "from 0 to 63"),
        ("zfs_multilist_num_sublists=0", "from 1 to 1024"),
        ("zfs_arc_min_prefetch_ms=1T", "from 0 to 1000000000"),
        ("compressratio=0.5", "from 1 to"),
        ("compressratio=nan", "from 1 to"),
        ("compressratio=much", "it is a ratio"),
        ("secondarycache=some", "one of all, metadata, none"),
        ("blkptr_bytes=65536", None),
        ("indirect_bytes=16M", None),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(setting: str, said: str | None) -> None:
    if said is None:
        assert with_settings(Parameters(), [setting]) != Parameters()
    else:
        with pytest.raises(UsageError, match=said):
            with_settings(Parameters(), [setting])


def test_an_indirect_block_holds_two_pointers_at_least() -> None:
    with pytest.raises(UsageError, match="must hold two pointers"):
        with_settings(Parameters(), ["indirect_bytes=512", "blkptr_bytes=512"])

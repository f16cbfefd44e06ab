"""Which class of files belongs where, by what was measured."""

from __future__ import annotations

import pytest

from zmysql.locality.names import Kind
from zmysql.locality.placement import CLASSIC, Access, Device, Placed, Use, place

MB = 1 << 20


def placed(*uses: Use) -> dict[Kind, Placed]:
    return {one.kind: one for one in place(uses)}


def test_a_class_is_the_sum_of_its_files() -> None:
    found = placed(
        Use(Kind.TABLE, written=False, operations=100, random=90, transferred_bytes=MB),
        Use(Kind.FULLTEXT, written=False, operations=10, random=10, transferred_bytes=MB),
        Use(Kind.TABLE, written=True, operations=90, random=0, transferred_bytes=2 * MB),
        Use(Kind.REDO, written=True, operations=7, random=1, transferred_bytes=4 * MB),
    )
    assert list(found) == [Kind.REDO, Kind.TABLE] or list(found) == [Kind.TABLE, Kind.REDO]
    table = found[Kind.TABLE]
    assert (table.reads, table.writes, table.read_bytes, table.written_bytes) == (110, 90, 2 * MB, 2 * MB)
    assert table.random_share == 0.5
    assert table.share == 0.5
    assert table.device is Device.SSD
    assert found[Kind.REDO].device is Device.HDD_AND_LOG


def test_a_scan_goes_to_hdds_and_differs_from_matsunobu() -> None:
    table = placed(Use(Kind.TABLE, written=False, operations=1000, random=13, transferred_bytes=MB))[Kind.TABLE]
    assert table.device is Device.HDD
    assert table.agrees is False
    assert "99 %" in table.reason


@pytest.mark.parametrize("kind", [Kind.UNDO, Kind.TEMPORARY, Kind.SYSTEM, Kind.OTHER])
def test_what_is_small_is_worth_no_device(kind: Kind) -> None:
    found = placed(
        Use(Kind.TABLE, written=False, operations=1, random=1, transferred_bytes=1000 * MB),
        Use(kind, written=True, operations=50, random=50, transferred_bytes=MB),
    )[kind]
    assert (found.device, found.agrees) == (Device.ANY, None)


def test_logs_that_commits_wait_for_get_a_log_device_however_small() -> None:
    for kind in (Kind.REDO, Kind.BINLOG, Kind.RELAY):
        found = placed(
            Use(Kind.TABLE, written=False, operations=1, random=1, transferred_bytes=1000 * MB),
            Use(kind, written=True, operations=5, random=1, transferred_bytes=1),
        )[kind]
        assert found.device is Device.HDD_AND_LOG
        assert found.agrees is (True if kind in CLASSIC else None)


def test_the_doublewrite_buffer_needn_t_be_there() -> None:
    found = placed(Use(Kind.DOUBLEWRITE, written=True, operations=5, random=5, transferred_bytes=MB))[Kind.DOUBLEWRITE]
    assert found.device is Device.HDD
    assert "innodb_doublewrite=OFF" in found.reason


def test_the_article_s_classes() -> None:
    """Section 1.3: table files are random; logs, doublewrite and the system tablespace go to HDDs."""
    assert CLASSIC[Kind.TABLE].access is Access.RANDOM
    assert {kind for kind, one in CLASSIC.items() if one.device is Device.SSD} == {Kind.TABLE}


def test_nothing_is_nothing() -> None:
    assert place([]) == ()
    found = placed(Use(Kind.UNDO, written=False, operations=0, random=0, transferred_bytes=0))[Kind.UNDO]
    assert (found.random_share, found.share, found.device) == (None, 0.0, Device.ANY)

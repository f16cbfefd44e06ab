"""Parsers of what the machines said, on three systems."""

from __future__ import annotations

from datetime import datetime

import pytest
from captures import capture

from zmysql.check.source import (
    parse_age,
    parse_ashifts,
    parse_date,
    parse_parameters,
    parse_places,
    parse_rates,
    parse_sizes,
    parse_span,
    parse_statistics,
    parse_swap,
    sections,
)
from zmysql.errors import ZmysqlError

SOUND, FAULTY = "debian13-zfs2.3-serving", "debian13-zfs2.3-faulty"


def section(machine: str, name: str) -> str:
    return sections(capture(machine, "machine"))[name]


def test_an_answer_that_breaks_off_is_refused() -> None:
    said = capture(SOUND, "machine")
    with pytest.raises(ZmysqlError, match="in the middle of an answer"):
        sections(said[: len(said) // 2])
    with pytest.raises(ZmysqlError, match="in the middle of an answer"):
        sections("")


def test_dates_are_those_of_ctime() -> None:
    scan = "scrub repaired 0B in 00:00:00 with 0 errors on Fri Nov 20 10:28:13 2026"
    assert parse_date(scan) == datetime(2026, 11, 20, 10, 28, 13)  # noqa: DTZ001 - as printed
    assert parse_date("100% trimmed, completed at Sun Nov  1 01:02:03 2026") == datetime(2026, 11, 1, 1, 2, 3)  # noqa: DTZ001
    assert parse_date("untrimmed") is None
    assert parse_date(section(SOUND, "date")) is not None


@pytest.mark.parametrize(
    ("text", "age_s"),
    [("      02:27", 147), ("   01:02:27", 3747), ("   3-01:02:27", 262_947), ("", 0)],
)
def test_the_age_of_a_process_is_what_ps_prints(text: str, age_s: int) -> None:
    assert parse_age(text) == age_s


def test_parameters_have_the_names_of_linux_everywhere() -> None:
    linux = parse_parameters(section(SOUND, "parameters"))
    assert linux["l2arc_write_max"] == 32 << 20
    assert linux["l2arc_noprefetch"] == 1
    assert len(linux) > 300
    freebsd = parse_parameters(capture("freebsd12-openzfs", "parameters"))
    assert freebsd["l2arc_write_max"] == 8 << 20
    assert freebsd["zfs_arc_max"] == 0


def test_statistics_are_read_from_each_kind_of_kstat() -> None:
    linux = parse_statistics(section(SOUND, "arcstats"))
    assert linux["c_max"] > linux["c_min"] > 0
    assert parse_statistics(capture("freebsd12-openzfs", "arcstats"))["arc_meta_limit"] == 3_207_865_344
    illumos = parse_statistics(capture("illumos-2015", "arcstats"))
    assert illumos["c_max"] == 10_150_301_696
    assert "class" not in illumos


def test_swap_on_volumes_is_told_by_the_names_of_the_volumes() -> None:
    assert parse_swap(section(FAULTY, "swap"), section(FAULTY, "zvols")) == ("tank/swap",)
    assert parse_swap(capture("openindiana-151a4", "swap"), "") == ("rpool1/swap",)
    assert parse_swap(section(SOUND, "swap"), section(SOUND, "zvols")) == ()


def test_ashift_is_each_vdevs_own() -> None:
    found = parse_ashifts(section(SOUND, "zdb"))
    assert set(found["tank"].values()) == {12}
    assert len(found["tank"]) == 6  # a cache isn't in the configuration
    assert all(path.startswith("/dev/disk/by-id/") for path in found["tank"])


def test_places_are_datasets_or_other_file_systems() -> None:
    found = parse_places(sections(capture(FAULTY, "files"))["places"])
    assert found["/tank/mysql/data"] == ("tank/mysql/data", "/tank/mysql/data")
    assert found["/tank/mysql/data/ibdata1"] == ("tank/mysql/data", "/tank/mysql/data")
    assert found["/tmp"] == ("tmpfs", "/tmp")
    assert parse_places("/nowhere\t\n") == {}


def test_rates_and_sizes_are_of_each_vdev_and_disk() -> None:
    rates, sizes = parse_rates(section(SOUND, "iostat tank")), parse_sizes(section(SOUND, "list tank"))
    disks = [name for name in sizes if name.startswith("/dev/")]
    assert len(disks) == 7
    assert all(rates[name] > 0 for name in disks)
    assert sizes["mirror-0"] < sizes[disks[0]]


def test_the_span_of_a_kstat_is_in_its_first_line() -> None:
    span = parse_span(section(SOUND, "import tank"))
    assert span is not None
    assert 0 < span < 24 * 3600
    assert parse_span("") is None

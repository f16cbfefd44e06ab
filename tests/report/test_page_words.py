"""Numbers as a person reads them."""

from __future__ import annotations

import pytest

from zmysql.report.page import words


@pytest.mark.parametrize(
    ("size_bytes", "said"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (3.25 * (1 << 30), "3.25 GiB"),
        (64 << 20, "64 MiB"),
        (1 << 63, "8 EiB"),
    ],
)
def test_sizes_have_three_digits_and_their_unit(size_bytes: float, said: str) -> None:
    assert words.size(size_bytes).replace("\xa0", " ") == said


@pytest.mark.parametrize(
    ("ratio", "said"),
    [(0, "0 %"), (1e-9, "< 0.1 %"), (0.0005, "0.1 %"), (0.614, "61.4 %"), (0.9996, "> 99.9 %"), (1, "100 %")],
)
def test_a_ratio_is_never_rounded_to_all_or_nothing(ratio: float, said: str) -> None:
    assert words.percent(ratio).replace("\xa0", " ") == said


@pytest.mark.parametrize(
    ("time_ns", "said"),
    [
        *((0, "0 s"), (0.4, "0.4 ns"), (263_000, "263 µs"), (7e6, "7 ms"), (60e9, "60 s"), (240e9, "4 min")),
        *((5400e9, "90 min"), (4 * 3600e9, "4 h"), (10 * 86_400e9, "10 days")),
    ],
)
def test_times_are_in_the_unit_that_fits(time_ns: float, said: str) -> None:
    assert words.time(time_ns).replace("\xa0", " ") == said

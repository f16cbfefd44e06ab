"""`--prices FILE`: what it changes, and each way in which it can be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zmysql.errors import UsageError
from zmysql.locality.catalogue import load_catalogue
from zmysql.locality.devices import Media, ReadLatency

if TYPE_CHECKING:
    from pathlib import Path

NEW = """
[devices.mine]
media = "ssd"
latency_us = 90
iops = 1e5
bandwidth_mb_per_second = 1000
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_bare_number_changes_one_figure(tmp_path: Path) -> None:
    before = load_catalogue()
    after = load_catalogue(
        written(tmp_path, "[devices.ssd-sata-read]\nprice_per_gb = 0.19\n[memory]\nprice_per_gib=0\n")
    )
    changed = after.devices["ssd-sata-read"]
    assert changed.price_per_gb == 0.19
    assert changed.sources["price_per_gb"].text == str(tmp_path / "prices.toml")
    assert changed.latency == before.devices["ssd-sata-read"].latency
    assert after.memory.price_per_gib == 0
    assert after.memory.module_bytes == before.memory.module_bytes
    unchanged = {name: one for name, one in after.devices.items() if name != changed.name}
    assert unchanged == {name: one for name, one in before.devices.items() if name != changed.name}


def test_a_device_of_ones_own(tmp_path: Path) -> None:
    found = load_catalogue(written(tmp_path, NEW)).devices["mine"]
    assert found.media is Media.SSD
    assert found.latency == ReadLatency(90e3, 90e3)
    assert (found.price_per_gb, found.capacity_bytes, found.drive_writes_per_day) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[devices.ssd-sata-read]\nprice_pre_gb = 1",
            "line 2: unknown key devices.ssd-sata-read.price_pre_gb, did you mean price_per_gb?",
        ),
        ("[devise]\n", "line 1: unknown key devise, did you mean devices?"),
        ("\n[memory]\nprice_per_gib = -1", "line 3: memory.price_per_gib is -1: it is 0 or more"),
        ("[memory]\nmodule_gib = 0", "line 2: memory.module_gib is 0: it is above 0"),
        ("[memory]\nmodule_gib = nan", "line 2: memory.module_gib is nan"),
        ("[memory]\nmodule_gib = true", "line 2: memory.module_gib is a number"),
        ("[devices.x25-e]\niops = { valu = 3 }", "line 2: unknown key devices.x25-e.iops.valu, did you mean value?"),
        ("[devices.x25-e]\niops = { year = 3 }", "line 2: devices.x25-e.iops.value is missing"),
        ("[devices.x25-e]\niops = { value = 3, year = 'x' }", "line 2: devices.x25-e.iops.year is a whole number"),
        ("[devices.x25-e]\niops = { value = 3, source = 7 }", "line 2: devices.x25-e.iops.source is text"),
        ("[devices.x25-e]\nmedia = 'sdd'", "line 2: devices.x25-e.media is 'sdd', did you mean ssd?"),
        ("[devices.x25-e]\nmedia = 3", "line 2: devices.x25-e.media is text in quotes"),
        ("[devices.new]\nmedia = 'ssd'", "line 1: devices.new.latency_us is missing: the catalogue has no device new"),
        ("[devices.'A b']\n", "line 1: 'A b' is no name for a device"),
        ("devices = 3", "line 1: devices is a table: write [devices]"),
        ("[devices", "Expected"),
        ("x = " + "9" * 5000, "digits"),
        ("[devices.x25-e]\niops = 1e999", "line 2: devices.x25-e.iops is inf"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_catalogue(written(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "prices.toml"))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    huge = tmp_path / "huge"
    huge.write_bytes(b"#" * (300 << 10))
    for path, said in ((tmp_path / "no", "No such file"), (tmp_path, "directory"), (binary, "UTF-8"), (huge, "256K")):
        with pytest.raises(UsageError, match=said):
            load_catalogue(path)


@given(st.text(alphabet="[]devicsmory.=_x25-e'\"{}\n ,1", max_size=60))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = written(tmp_path_factory.mktemp("prices"), text)
    try:
        said = str(load_catalogue(path).memory.price_per_gib)
    except UsageError as error:
        said = str(error)
    assert "\n" not in said

"""The templates that ship, and how templates are found: by name, and a person's own by path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from zmysql.errors import UsageError
from zmysql.layout.model import DATASETS
from zmysql.layout.template import load_template, parse_template, template_names
from zmysql.platforms.device import MediaClass
from zmysql.units import parse_size
from zmysql.zfs.model import VdevRole

if TYPE_CHECKING:
    from pathlib import Path

    from zmysql.layout.model import Template

SHIPPED = {name: load_template(name) for name in template_names()}
every_template = pytest.mark.parametrize("template", SHIPPED.values(), ids=SHIPPED)


def test_these_ship() -> None:
    assert template_names() == (
        "all-hdd",
        "all-ssd",
        "hdd-data-ssd-log",
        "hdd-l2arc",
        "hybrid",
        "nvme-mirror",
        "raidz",
        "special",
        "ssd-data-hdd-log",
        "ssd-data-ssd-log",
    )


@every_template
def test_each_says_what_it_is_when_to_use_it_and_from_where(template: Template) -> None:
    assert len(template.description) <= 100
    assert template.when
    assert any(article in " ".join(template.sources) for article in ("Suresh", "AnandTech", "Matsunobu", "Bianchi"))
    assert any("OpenZFS" in source for source in template.sources)
    assert template.text.startswith(f"# zmysql template: see `zmysql templates {template.name}`\n")
    assert max(map(len, template.text.splitlines())) <= 120


@every_template
def test_every_setting_is_explained(template: Template) -> None:
    """A DBA learns from the file: each setting has a comment in its block, so that none stands alone."""
    settings_on = template.text[template.text.index("\n[pool]\n") :]
    for block in (block.splitlines() for block in settings_on.split("\n\n")):
        settings = [line for line in block if " = " in line and not line.startswith("#")]
        assert not settings or any(line.startswith("#") for line in block), settings


@every_template
def test_redo_and_binlog_have_datasets_as_every_layout_needs(template: Template) -> None:
    assert {"data", "redo", "binlog", "relay", "tmp", "logs"} <= {
        name for pool in template.pools for name in pool.datasets
    }


@every_template
def test_nothing_that_holds_data_is_without_redundancy(template: Template) -> None:
    for pool in template.pools:
        for role in pool.roles:
            assert (role.kind == "disk") == (role.role is VdevRole.CACHE)


@every_template
def test_what_is_in_a_pool_fits_its_vdevs(template: Template) -> None:
    """The contradictions that articles warn of: a cache that is fed nothing, a log device that is passed by."""
    for pool in template.pools:
        roles = {role.role for role in pool.roles}
        for name, own in pool.datasets.items():
            properties = {**pool.root_properties, **own}
            if VdevRole.CACHE in roles:
                assert properties["primarycache"] == "all"
                assert properties["secondarycache"] == ("all" if name in {"data", "undo"} else "none")
                assert name != "data" or properties["direct"] == "disabled"
            if name in {"redo", "binlog", "data"}:
                assert properties["logbias"] == "latency"
                assert properties["sync"] == "standard"
            assert ("special_small_blocks" in properties) <= (VdevRole.SPECIAL in roles)
            assert parse_size(properties["recordsize"]) >= 16 << 10


def test_special_puts_tables_on_ssd_wholly_with_the_redundancy_of_the_rest() -> None:
    (pool,) = SHIPPED["special"].pools
    data, special = pool.roles
    assert (special.kind, special.width) == (data.kind, data.width)
    for name in ("data", "undo"):
        properties = pool.datasets[name]
        assert parse_size(properties["special_small_blocks"]) >= parse_size(properties["recordsize"])


def test_layouts_of_two_pools_keep_redo_from_tables() -> None:
    two = {name: template.pools for name, template in SHIPPED.items() if len(template.pools) > 1}
    assert list(two) == ["hdd-data-ssd-log", "ssd-data-hdd-log", "ssd-data-ssd-log"]
    for first, second in two.values():
        assert (first.name_of_pool("tank"), second.name_of_pool("tank")) == ("tank", "tank-log")
        assert "data" in first.datasets
        # Doublewrite may not be off here, so it has its place too.
        assert {"redo", "binlog", "doublewrite"} <= set(second.datasets)


def test_hybrid_is_what_it_says() -> None:
    (pool,) = SHIPPED["hybrid"].pools
    assert pool.key is None
    assert [(role.role, role.kind, role.width) for role in pool.roles] == [
        (VdevRole.DATA, "mirror", 2),
        (VdevRole.LOG, "mirror", 2),
        (VdevRole.CACHE, "disk", 1),
    ]
    assert pool.roles[0].classes == (MediaClass.HDD,)
    assert pool.datasets["data"]["recordsize"] == "16K"


def test_what_raidz_says_of_space_is_what_zfs_allocates() -> None:
    """vdev_raidz_asize() of OpenZFS, on the numbers in the template's comments."""
    (pool,) = SHIPPED["raidz"].pools
    (role,) = pool.roles
    assert (role.kind, role.width) == ("raidz2", 6)

    def takes(record: str, ashift: int = 12) -> int:
        sectors = -(-parse_size(record) >> ashift)
        sectors += 2 * -(-sectors // (role.width - 2))
        return -(-sectors // 3) * 3 << ashift

    for record, size in {"16K": "24K", "12K": "24K", "8K": "24K", "64K": "96K", "40K": "72K", "32K": "48K"}.items():
        assert takes(record) == parse_size(size)
    assert takes("16K", ashift=13) == parse_size("48K")
    assert takes("128K") == 2 * takes("64K")


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no template 'hybird', did you mean hybrid\\?; there are all-hdd, "):
        load_template("hybird")


def test_a_template_of_a_persons_own_goes_by_its_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "my own.toml"
    own.write_text(SHIPPED["hybrid"].text)
    monkeypatch.chdir(tmp_path)
    for name in ("my own.toml", "./my own.toml", f"../{tmp_path.name}/my own.toml", str(own)):
        template = load_template(name)
        assert template.name == str(own)
        assert template.pools == SHIPPED["hybrid"].pools


def test_the_name_of_a_link_stays_what_it_is(tmp_path: Path) -> None:
    """What it points to may change; the person meant the link."""
    (tmp_path / "v1.toml").write_text(SHIPPED["all-hdd"].text)
    (tmp_path / "current.toml").symlink_to("v1.toml")
    assert load_template(str(tmp_path / "current.toml")).name == str(tmp_path / "current.toml")


def test_line_ends_and_marks_of_other_systems_are_read_all_the_same(tmp_path: Path) -> None:
    own = tmp_path / "dos.toml"
    own.write_bytes(b"\xef\xbb\xbf" + SHIPPED["hybrid"].text.replace("\n", "\r\n").encode())
    assert load_template(str(own)).pools == SHIPPED["hybrid"].pools
    own.write_bytes(own.read_bytes().replace(b'"lz4"', b'"lz5"'))
    line = SHIPPED["hybrid"].text[: SHIPPED["hybrid"].text.index('"lz4"')].count("\n") + 1
    with pytest.raises(UsageError, match=f"dos.toml, line {line}: properties.compression is 'lz5'"):
        load_template(str(own))


def refused(path: object) -> str:
    with pytest.raises(UsageError) as error:
        load_template(str(path))
    said = str(error.value)
    assert said.isprintable()
    return said


def test_files_that_are_no_templates_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(bytes(range(256)))
    (tmp_path / "empty.toml").write_bytes(b"")
    (tmp_path / "huge.toml").write_bytes(b"#" * (1 << 20))
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "two\nlines.toml").write_text(SHIPPED["hybrid"].text)
    for name, said in {
        "none.toml": "none.toml: No such file or directory",
        "binary.toml": "binary.toml: it is no text in UTF-8 (byte 129)",
        "empty.toml": "empty.toml: description is missing",
        "huge.toml": "huge.toml: it has more than 256K, which no template needs",
        "folder.toml": "folder.toml: it is a directory",
        "loop.toml": "loop.toml: Too many levels of symbolic links",
        "pipe.toml": "pipe.toml: it is no regular file",
        "two\nlines.toml": "': the path has characters that no terminal shows; rename it",
        "empty.toml/x": "empty.toml/x: Not a directory",
        "n" * 300 + ".toml": ".toml: File name too long",
    }.items():
        assert refused(tmp_path / name).endswith(said)
    assert refused("/proc/self/mem").endswith("Input/output error")
    assert refused("/dev/zero").endswith("it is no regular file")
    assert refused("nul\0.toml").endswith("rename it")
    assert refused("\udcff.toml").endswith("rename it")


def test_the_same_text_gives_the_same_template() -> None:
    for name, template in SHIPPED.items():
        assert parse_template(name, template.text) == template
        assert set(template.pools[0].datasets) <= set(DATASETS)

"""Templates are checked strictly, and each wrong word is named with the right one."""

import pytest

from zmysql.errors import UsageError
from zmysql.layout.template import load_template, parse_template, template_names
from zmysql.platforms.device import MediaClass
from zmysql.zfs.model import VdevRole

HYBRID = load_template("hybrid").text


def test_all_that_ship_are_valid_and_say_when_to_use_them() -> None:
    assert template_names() == ("all-hdd", "hybrid")
    for name in template_names():
        template = load_template(name)
        assert template.description
        assert template.when
        assert template.sources


def test_hybrid_is_what_it_says() -> None:
    pool = load_template("hybrid").pool
    assert [(role.role, role.kind, role.width) for role in pool.roles] == [
        (VdevRole.DATA, "mirror", 2),
        (VdevRole.LOG, "mirror", 2),
        (VdevRole.CACHE, "disk", 1),
    ]
    assert pool.roles[0].classes == (MediaClass.HDD,)
    assert {name: properties["recordsize"] for name, properties in pool.datasets.items()} == {
        "data": "16K",
        "redo": "128K",
        "binlog": "128K",
        "tmp": "128K",
    }


def test_every_setting_of_a_template_is_explained() -> None:
    """A DBA learns from the file: each property has a comment above it, or shares one with the property above."""
    for name in template_names():
        lines = load_template(name).text.splitlines()
        for at, line in enumerate(lines):
            if " = " in line and not line.startswith("#"):
                assert lines[at - 1].strip(), f"{name}: {line} stands alone"


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("description =", "descripton =", "unknown key descripton, did you mean description?"),
        ("[vdevs.cache]", "[vdevs.cash]", "unknown key vdevs.cash, did you mean cache?"),
        ("prefer =", "prefers =", "unknown key vdevs.data.prefers, did you mean prefer?"),
        ("[datasets.redo]", "[datasets.redolog]", "unknown key datasets.redolog, did you mean redo?"),
        ('compression = "lz4"', 'compresion = "lz4"', "unknown key properties.compresion, did you mean compression?"),
        ('ashift = "12"', 'ashift = "99"', "pool.ashift is '99': it may be 9"),
        ('ashift = "12"', "ashift = 12", "pool.ashift is 12: it is text"),
        ('recordsize = "16K"', 'recordsize = "17K"', "it is a power of two from 512 to 16M"),
        ('recordsize = "16K"', 'recordsize = "many"', "it is a power of two from 512 to 16M"),
        ('logbias = "latency"', 'logbias = "quick"', "it may be latency, throughput"),
        ('kind = "mirror"', 'kind = "miror"', "did you mean mirror?"),
        ('class = ["hdd"]', 'class = ["tape"]', "one of hdd, ssd, nvme"),
        ('class = ["hdd"]', "class = []", "vdevs.data.class is a list of words, and not empty"),
        ("width = 2", "width = 1", "width is 1: a disk has width 1, a mirror 2 or more"),
        ("min = 1", "min = 0", "min is 0: it is at least 1"),
        ("min = 1", "min = true", "min is True: it is a whole number"),
        ('description = "', 'description = "\n', "Illegal character"),
        ("[datasets.tmp]", "[datasets.data.tmp]", "datasets.tmp is missing"),
    ],
)
def test_a_wrong_key_or_value_is_named(right: str, wrong: str, said: str) -> None:
    assert right in HYBRID
    with pytest.raises(UsageError) as error:
        parse_template("mine", HYBRID.replace(right, wrong, 1))
    assert said in str(error.value)
    assert str(error.value).startswith("template mine: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("missing", ["[datasets.tmp]", "[vdevs.data]", "[pool]"])
def test_a_missing_part_is_named(missing: str) -> None:
    head, _, rest = HYBRID.partition(missing)
    without = head + rest.partition("\n[")[1] + rest.partition("\n[")[2]
    with pytest.raises(UsageError, match=missing.strip("[]").split(".")[0]):
        parse_template("mine", without)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean hybrid"):
        load_template("hybird")
    with pytest.raises(UsageError, match="there is no template"):
        load_template("../../etc/passwd")

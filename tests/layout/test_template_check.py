"""Templates are checked strictly: each wrong word is named with its line and the right one."""

import pytest

from zmysql.errors import UsageError
from zmysql.layout.template import load_template, parse_template

HYBRID = load_template("hybrid").text
TWO_POOLS = load_template("ssd-data-hdd-log").text


def said_of(text: str, *settings: str) -> str:
    with pytest.raises(UsageError) as error:
        parse_template("mine", text, settings)
    said = str(error.value)
    assert said.isprintable()
    return said


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("description =", "descripton =", "unknown key descripton, did you mean description?"),
        ("[vdevs.cache]", "[vdevs.cash]", "unknown key vdevs.cash, did you mean cache?"),
        ("prefer =", "prefers =", "unknown key vdevs.data.prefers, did you mean prefer?"),
        ("[datasets.redo]", "[datasets.redolog]", "unknown key datasets.redolog, did you mean redo?"),
        ('compression = "lz4"', 'compresion = "lz4"', "unknown key properties.compresion, did you mean compression?"),
        ('atime = "off"', '"a\\nb" = "off"', "unknown key properties.'a\\nb'; known are atime, "),
        ('ashift = "12"', 'ashift = "99"', "pool.ashift is '99': it may be 9"),
        ('ashift = "12"', "ashift = 12", "pool.ashift is 12: it is text, in quotes"),
        ('recordsize = "16K"', 'recordsize = "17K"', "'17K': it is a power of two from 512 to 16M"),
        ('recordsize = "16K"', 'recordsize = "many"', "'many': it is a power of two from 512 to 16M"),
        ('recordsize = "16K"', 'recordsize = "\\u0661K"', "it is a power of two from 512 to 16M"),
        ('quota = "10G"', 'quota = "-1"', "datasets.logs.quota is '-1': it is none, or a size from 1 to 4E"),
        ('logbias = "latency"', 'logbias = "latincy"', "it may be latency, throughput, did you mean latency?"),
        ('direct = "disabled"', 'direct = "off"', "it may be standard, always, disabled"),
        ('kind = "mirror"', 'kind = "miror"', "vdevs.data.kind is 'miror', did you mean mirror?; it is one of disk, "),
        ('kind = "mirror"', 'kind = "raidz2"', "vdevs.data.width is 2: a raidz2 has width 4 or more"),
        ('kind = "disk"', 'kind = "mirror"', "vdevs.cache.kind is 'mirror'; it is one of disk"),
        ('class = ["hdd"]', 'class = ["tape"]', "vdevs.data.class.0 is 'tape'; it is one of hdd, ssd, nvme"),
        ('class = ["hdd"]', "class = []", "vdevs.data.class is a list of words, and not empty"),
        ('class = ["hdd"]', 'class = "hdd"', "vdevs.data.class is 'hdd': it is a list"),
        ('class = ["hdd"]', "class = [1, [2]]", "vdevs.data.class is a list of words, and not empty"),
        ("width = 2", "width = 1", "vdevs.data.width is 1: a mirror has width 2 or more"),
        ("width = 2", "width = 0x" + "f" * 5000, "vdevs.data.width is a huge number: it is from 1 to 255"),
        ("width = 2", "width = 2.0", "vdevs.data.width is '2.0': it is a whole number"),
        ("width = 1", "width = 2", "vdevs.cache.width is 2: a disk has width 1"),
        ("min = 1", "min = 0", "vdevs.data.min is 0: it is from 1 to 1000"),
        ("min = 1", "min = true", "vdevs.data.min is true: it is a whole number"),
        ("fill = 1", "fill = 0", "vdevs.log.fill is 0: it is from 1 to 1000"),
        ("min = 1\n# The log", "min = 2\n# The log", "vdevs.log.fill is 1: it is at least min, 2"),
        ("[datasets.data]", "[[datasets.data]]", "datasets.data is a list: it is a table"),
        (
            "[datasets.data]",
            "[pools.Log]\n[datasets.data]",
            "pools.Log is no key for a pool: write a lower-case letter",
        ),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_line(right: str, wrong: str, said: str) -> None:
    assert right in HYBRID
    text = HYBRID.replace(right, wrong, 1)
    message = said_of(text)
    assert said in message
    prefix, line, _ = message.split(":")[0].partition(", line ")
    assert prefix == "template mine"
    assert line
    # The line that is named has the last key of the path, or its value.
    named = text.splitlines()[int(message.split(":")[0].rsplit(" ", 1)[1]) - 1]
    first_wrong = wrong.splitlines()[0]
    assert first_wrong in named or "fill" in named or "width" in named


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('description = "', 'description = "\n', "template mine: Illegal character '\\n' (at line 2, column 16)"),
        ("[vdevs.cache]", "[vdevs.cache", "template mine: Expected ']' at the end of a table declaration (at line "),
        ("[vdevs.cache]", "[vdevs.log]", "template mine: Cannot declare ('vdevs', 'log') twice (at line "),
        ("width = 2", "width = " + "9" * 5000, "template mine: Exceeds the limit"),
        ("sources = [", "sources = " + "[" * 5000, "template mine: it is nested too deeply"),
    ],
)
def test_what_is_no_toml_is_said_as_tomllib_says_it(right: str, wrong: str, said: str) -> None:
    assert said_of(HYBRID.replace(right, wrong, 1)).startswith(said)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[pool]", "template mine: pool is missing"),
        ("[properties]", "template mine: properties is missing"),
        ("[vdevs.data]", "vdevs has no data: a pool needs data vdevs"),
        ("[datasets.data]", "datasets has no data: a layout needs a dataset for the tables"),
    ],
)
def test_a_missing_part_is_named(table: str, said: str) -> None:
    head, _, rest = HYBRID.partition(f"\n{table}\n")
    assert said in said_of(head + "\n[" + rest.partition("\n[")[2])


def test_a_missing_key_is_named_with_the_line_of_its_table() -> None:
    text = HYBRID.replace('prefer = "smallest"\n', "")
    line = text.splitlines().index("[vdevs.log]") + 1
    assert said_of(text) == f"template mine, line {line}: vdevs.log.prefer is missing"


def test_a_dataset_in_two_pools_is_refused() -> None:
    text = TWO_POOLS.replace("[pools.log.datasets.doublewrite]", "[pools.log.datasets.undo]")
    line = text.splitlines().index("[pools.log.datasets.undo]") + 1
    expected = (
        f"template mine, line {line}: pools.log.datasets.undo is in another pool too: mysqld has one place for each"
    )
    assert said_of(text) == expected


def test_the_other_pools_are_checked_as_strictly() -> None:
    wrong = TWO_POOLS.replace("[pools.log.vdevs.data]", "[pools.log.vdevs.dta]")
    assert "unknown key pools.log.vdevs.dta, did you mean data?" in said_of(wrong)
    wrong = TWO_POOLS.replace("[pools.log.pool]", "[pools.log.sources]\nx = 1\n[pools.log.pool]")
    assert "unknown key pools.log.sources" in said_of(wrong)
    assert "pools is 'none': it is a table" in said_of('pools = "none"\n' + HYBRID)
    assert "pools.log.vdevs is missing" in said_of(HYBRID + "[pools.log]\n")


def test_a_description_fits_a_line_of_the_list() -> None:
    assert "description is one line of at most 100 characters" in said_of(HYBRID.replace("mirrored HDD", "x" * 101, 1))
    assert "description is one line" in said_of(HYBRID.replace("mirrored HDD", "mirrored\\nHDD", 1))


def test_sizes_are_written_in_one_way() -> None:
    text = HYBRID.replace('recordsize = "16K"', 'recordsize = "16384"').replace('quota = "10G"', 'quota = "10240 MiB"')
    assert parse_template("mine", text).pools == parse_template("mine", HYBRID).pools

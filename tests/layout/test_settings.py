"""--set KEY=VALUE: overrides of a template's parameters, as strictly checked as the template."""

import pytest

from zmysql.errors import UsageError
from zmysql.layout.template import load_template, parse_template, template_names
from zmysql.platforms.device import MediaClass


def refused(template: str, *settings: str) -> str:
    with pytest.raises(UsageError) as error:
        load_template(template, settings)
    said = str(error.value)
    assert said.isprintable()
    return said


def test_a_dataset_is_found_in_its_pool() -> None:
    first, second = load_template("ssd-data-hdd-log", ["data.recordsize=32K", "redo.compression=off"]).pools
    assert first.datasets["data"]["recordsize"] == "32K"
    assert second.datasets["redo"] == {"recordsize": "128K", "compression": "off"}
    assert first.overridden == {"datasets.data.recordsize", "pools.log.datasets.redo.compression"}
    assert second.overridden == {"datasets.redo.compression"}


def test_all_that_is_in_a_template_can_be_set() -> None:
    settings = [
        "pool.ashift=13",
        "properties.compression=zstd-3",
        "vdevs.data.kind=raidz1",
        "vdevs.data.width=5",
        "vdevs.data.min=2",
        "vdevs.data.fill=3",
        "vdevs.data.prefer=smallest",
        "vdevs.data.class=hdd,nvme",
        "pools.log.vdevs.data.width=3",
        "pools.log.properties.atime=on",
    ]
    first, second = load_template("ssd-data-hdd-log", settings).pools
    (role,) = first.roles
    assert (role.kind, role.width, role.min_vdevs, role.fill_vdevs, role.prefer) == ("raidz1", 5, 2, 3, "smallest")
    assert role.classes == (MediaClass.HDD, MediaClass.NVME)
    assert (first.properties["ashift"], second.properties["ashift"]) == ("13", "12")
    assert (first.root_properties["compression"], second.root_properties["compression"]) == ("zstd-3", "lz4")
    assert (second.roles[0].width, second.root_properties["atime"]) == (3, "on")


def test_sureshs_own_stripe_is_two_settings_as_its_template_says() -> None:
    settings = ["vdevs.data.kind=disk", "vdevs.data.width=1"]
    template = load_template("hdd-l2arc", settings)
    data = template.pools[0].roles[0]
    assert (data.kind, data.width) == ("disk", 1)
    assert all(f"--set {setting}" in template.when for setting in settings)


@pytest.mark.parametrize("name", template_names())
def test_every_setting_that_a_template_names_can_be_made(name: str) -> None:
    """In the texts they stand as on the command line, alone or several in a line."""
    text = load_template(name).text.replace("`", " ")
    for line in text.splitlines():
        settings = [
            word.rstrip(",.:")
            for before, word in zip(line.split(), line.split()[1:], strict=False)
            if before == "--set"
        ]
        assert load_template(name, settings).settings == tuple(sorted(settings))


def test_what_was_set_is_remembered_in_one_way() -> None:
    """The pool remembers it in a property, in which a blank parts one from the next."""
    written = [
        "vdevs.data.width = 3",
        "datasets.data.recordsize=32768",
        "logs.quota=1.5 GiB",
        "vdevs.cache.class=ssd, nvme",
    ]
    template = load_template("hybrid", written)
    expected = ("data.recordsize=32K", "logs.quota=1.5G", "vdevs.cache.class=ssd,nvme", "vdevs.data.width=3")
    assert template.settings == expected
    again = load_template("hybrid", " ".join(template.settings).split())
    assert again == template
    two = load_template("ssd-data-hdd-log", ["redo.recordsize=65536", "pools.log.pool.ashift=13"])
    assert two.settings == ("redo.recordsize=64K", "pools.log.pool.ashift=13")
    assert load_template("ssd-data-hdd-log", reversed(two.settings)) == two


def test_without_settings_nothing_is_remembered() -> None:
    assert load_template("hybrid").settings == ()
    assert load_template("hybrid").pools[0].overridden == frozenset()


def test_a_setting_that_is_said_twice_is_one_unless_they_differ() -> None:
    assert load_template("hybrid", ["data.recordsize=32K"] * 2).settings == ("data.recordsize=32K",)
    said = refused("hybrid", "data.recordsize=32K", "datasets.data.recordsize=64K")
    assert said == "--set datasets.data.recordsize=64K: 'datasets.data.recordsize' is set twice; leave one of them out"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("", "--set '': write KEY=VALUE, such as data.recordsize=32K"),
        ("data.recordsize", "--set 'data.recordsize': write KEY=VALUE"),
        ("=", "--set =: no template has ''; write DATASET.PROPERTY or TABLE.KEY"),
        ("dta.recordsize=32K", "--set dta.recordsize=32K: no template has 'dta', did you mean data?; write"),
        ("description=x", "no template has 'description'"),
        ("data=32K", "--set data=32K: data is a whole table; set one key of it, such as data.recordsize"),
        ("datasets=x", "datasets is a whole table; set one key of it, such as datasets.data.recordsize"),
        ("vdevs=x", "such as vdevs.data.width"),
        ("pools=x", "such as pools.log.pool.ashift"),
        (
            "data.recordsise=32K",
            "--set data.recordsise=32K: unknown key datasets.data.recordsise, did you mean recordsize?",
        ),
        (
            "data.recordsize=33K",
            "--set data.recordsize=33K: datasets.data.recordsize is '33K': it is a power of two from",
        ),
        ("data.recordsize.x=1", "--set data.recordsize.x=1: 'recordsize' is no table, so it has no keys"),
        ("data.recordsize=", "datasets.data.recordsize is '': it is a power of two"),
        ("datasets.data=32K", "--set datasets.data=32K: datasets.data is '32K': it is a table"),
        ("undo.recordsize=32K", "the template has no dataset undo; datasets.undo.PROPERTY would add it"),
        ("pools.log.pool.ashift=13", "the template has no pool 'log'; it has one pool only"),
        ("pool.ashift=8", "--set pool.ashift=8: pool.ashift is '8': it may be 9, 10, "),
        ("vdevs.data.width=1", "--set vdevs.data.width=1: vdevs.data.width is 1: a mirror has width 2 or more"),
        ("vdevs.data.kind=disk", "--set vdevs.data.kind=disk: vdevs.data.width is 2: a disk has width 1"),
        ("vdevs.data.width=many", "vdevs.data.width is 'many': it is a whole number"),
        ("vdevs.data.width=-2", "vdevs.data.width is '-2': it is a whole number"),
        ("vdevs.data.width=9999999", "vdevs.data.width is '9999999': it is a whole number"),
        ("vdevs.data.width=٣", "it is a whole number"),
        ("vdevs.data.width=300", "vdevs.data.width is 300: it is from 1 to 255"),
        ("vdevs.log.min=2", "--set vdevs.log.min=2: vdevs.log.fill is 1: it is at least min, 2"),
        ("vdevs.data.class=hdd,tape", "--set vdevs.data.class=hdd,tape: vdevs.data.class.1 is 'tape'"),
        ("vdevs.data.class=", "vdevs.data.class.0 is ''"),
        ("vdevs.special.kind=mirror", "--set vdevs.special.kind=mirror: vdevs.special.width is missing"),
        ("vdevs.cash.width=1", "--set vdevs.cash.width=1: unknown key vdevs.cash, did you mean cache?"),
        ("data.quota=1G\nx", "--set 'data.quota=1G\\nx': datasets.data.quota is '1G\\nx': it is none, or a size"),
        ("data.\x1b[2J=1", "--set 'data.\\x1b[2J=1': unknown key datasets.data.'\\x1b[2J'"),
        ("pool.compatibility=a b", "--set pool.compatibility=a b: pool.compatibility is 'a b': it is off, legacy, or"),
    ],
)
def test_a_wrong_setting_is_named_itself(setting: str, said: str) -> None:
    assert said in refused("hybrid", setting)


def test_a_wrong_pool_is_answered_with_the_nearest() -> None:
    said = refused("ssd-data-hdd-log", "pools.lag.pool.ashift=13")
    assert said.endswith("the template has no pool 'lag', did you mean log?; there are log")


def test_what_is_wrong_in_the_file_is_not_blamed_on_a_setting() -> None:
    text = load_template("hybrid").text.replace('compression = "lz4"', 'compression = "lz5"')
    with pytest.raises(UsageError, match=r"^template mine, line [0-9]+: properties.compression is 'lz5'"):
        parse_template("mine", text, ["data.recordsize=32K"])


def test_a_setting_mends_what_is_wrong_in_the_file() -> None:
    text = load_template("hybrid").text.replace('compression = "lz4"', 'compression = "lz5"')
    assert parse_template("mine", text, ["properties.compression=lz4"]).pools[0].root_properties["compression"] == "lz4"


def test_a_dataset_can_be_added() -> None:
    template = load_template("hybrid", ["datasets.undo.recordsize=16K"])
    assert template.pools[0].datasets["undo"] == {"recordsize": "16K"}
    assert template.settings == ("datasets.undo.recordsize=16K",)
    assert load_template("hybrid", template.settings) == template

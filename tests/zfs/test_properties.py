"""What properties may be, against what a real ZFS made of each value: capture-properties.sh, on OpenZFS 2.3."""

import pytest
from captures import capture

from zmysql.units import parse_size
from zmysql.zfs.properties import Choice, Size, type_of_dataset_property, type_of_pool_property

TYPES = {"zfs": type_of_dataset_property, "zpool": type_of_pool_property}
# kind, property, the value that was set, what was read then; ! where ZFS refused
SEEN = [tuple(line.split("\t")) for line in capture("debian13-zfs2.3-many", "properties").splitlines()]
TAKEN = [one for one in SEEN if one[3] != "!"]


@pytest.mark.parametrize(("kind", "name", "value", "read"), TAKEN)
def test_what_zfs_takes_is_no_problem_and_reads_as_itself(kind: str, name: str, value: str, read: str) -> None:
    of_property = TYPES[kind][name]
    assert of_property.problem(value) is None
    assert of_property.reads_as(value, read)
    assert of_property.reads_as(of_property.normal(value), read)
    assert of_property.problem(of_property.normal(value)) is None


def test_another_value_reads_otherwise() -> None:
    """Of all that was set, only what is the same reads as the same."""
    for kind, name, value, _ in TAKEN:
        same = [read for k, n, _, read in TAKEN if (k, n) == (kind, name) and TYPES[kind][name].reads_as(value, read)]
        own = next(read for k, n, v, read in TAKEN if (k, n, v) == (kind, name, value))
        allowed = {own} | ({"on", "sa"} if name == "xattr" else set())
        assert set(same) <= allowed, (name, value)
        assert not TYPES[kind][name].reads_as(value, None)
        assert not TYPES[kind][name].reads_as(value, "what no ZFS prints")


def test_every_word_that_a_template_may_have_was_tried_and_taken() -> None:
    for kind, types in TYPES.items():
        for name, of_property in types.items():
            tried = {value for k, n, value, _ in TAKEN if (k, n) == (kind, name)}
            assert tried, name
            if isinstance(of_property, Choice):
                assert tried == set(of_property.words)


def test_zfs_refused_nothing_but_what_depends_on_the_machine() -> None:
    """A quota under what is used, and a feature set that no file describes."""
    assert {one[1:3] for one in SEEN if one not in TAKEN} == {
        ("quota", "1"),
        ("refquota", "1"),
        ("compatibility", "nonesuch"),
    }


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("recordsize", "24K", "is a power of two from 512 to 16M"),
        ("recordsize", "256", "is a power of two"),
        ("recordsize", "32M", "is a power of two"),
        ("recordsize", "none", "is a power of two"),
        ("recordsize", "9" * 5000, "is a power of two"),
        ("recordsize", "", "is a power of two"),
        ("special_small_blocks", "24K", "is 0, or a power of two from 512 to 16M"),
        ("special_small_blocks", "0K", "is 0, or"),
        ("quota", "0", "is none, or a size from 1 to 4E"),
        ("quota", "99E", "is none, or a size"),
        ("quota", "10G\n", None),
        ("compression", "lz5", "did you mean lz4?"),
        ("compression", "on\n", "may be lz4"),
        ("direct", "on", "may be standard, always, disabled"),
        ("sync", "Standard", "did you mean standard?"),
    ],
)
def test_a_wrong_value_is_told_what_is_right(name: str, value: str, said: str | None) -> None:
    problem = type_of_dataset_property[name].problem(value)
    if said is None:
        # Blanks around a size do no harm: it is written anew.
        assert problem is None
        assert type_of_dataset_property[name].normal(value).isprintable()
    else:
        assert said in str(problem)


@pytest.mark.parametrize("value", ["", "a b", "../x", "/etc/passwd", "a,", "x" * 65, "a\nb", "-o"])
def test_what_can_be_no_feature_set_is_refused(value: str) -> None:
    assert type_of_pool_property["compatibility"].problem(value) is not None


@pytest.mark.parametrize(
    ("value", "normal"),
    [
        ("16384", "16K"),
        ("16k", "16K"),
        ("16 KiB", "16K"),
        ("0.5M", "512K"),
        ("1536M", "1.5G"),
        ("1073741825", "1073741825"),
        ("none", "none"),
        ("1023", "1023"),
    ],
)
def test_a_size_has_one_spelling_that_means_the_same(value: str, normal: str) -> None:
    size = Size(1, 1 << 62, power_of_two=False, none="none")
    assert size.normal(value) == normal
    assert size.normal(normal) == normal
    assert value == "none" or parse_size(normal) == parse_size(value)

"""Every template on real disks: the pool that is read back is what the file says, and the second run has nothing to do.

What is wanted is read from the TOML here once more, without zmysql's own reader of templates.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from blank import blank
from running import zmysql

from zmysql.layout.template import load_template, template_names
from zmysql.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zmysql.host import Completed
    from zmysql.testbed.vm import Guest

SIZES = ("recordsize", "special_small_blocks", "quota", "refquota", "reservation", "refreservation")
# What `zpool status -j` calls the vdevs that aren't data.
SECTIONS = {"log": "logs", "cache": "l2cache", "special": "special", "spare": "spares", "dedup": "dedup"}


@pytest.fixture(scope="module")
def bare(guest: Guest) -> Iterator[Guest]:
    """Give the guest, and leave its disks free at the end."""
    yield guest
    blank(guest)


@pytest.fixture(scope="module")
def media(guest: Guest) -> dict[str, str]:
    """Give the class of each disk that is free at first."""
    blank(guest)
    listed = json.loads(zmysql("devices", "-j", "--host", f"testbed:{guest.testbed.name}").stdout)["devices"]
    return {one["name"]: one["class"] for one in listed if not one["used_by"]}


def pools_of(template: str) -> dict[str, Mapping[str, Any]]:
    """Give the pools of a template as its file has them, by the names that they get in a layout `tank`."""
    content = tomllib.loads(load_template(template).text)
    return {"tank": content, **{f"tank-{key}": pool for key, pool in content.get("pools", {}).items()}}


def named_disks(template: str, media: Mapping[str, str]) -> list[str]:
    """Name as many disks as each role needs at least: more would only take longer."""
    free, words = sorted(media, key=lambda name: (len(name), name)), list[str]()
    for pool, wanted in pools_of(template).items():
        of = pool.removeprefix("tank").removeprefix("-")
        for role, spec in wanted["vdevs"].items():
            fitting = [name for name in free if media[name] in spec["class"]][: spec["width"] * spec["min"]]
            free = [name for name in free if name not in fitting]
            words += [word for name in fitting for word in (f"--{role}", f"{of}:{name}" if of else name)]
    return words


def create(guest: Guest, template: str, disks: Sequence[str]) -> Completed:
    return zmysql("create-pool", "tank", "-t", template, *disks, "-y", "--host", f"testbed:{guest.testbed.name}")


def value(name: str, text: str) -> object:
    """Give a property's value, sizes in bytes: in the file they are as an admin writes them."""
    return parse_size(text) if name in SIZES and text not in {"none", "0"} else text


def read_properties(guest: Guest, pool: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for line in guest.run(("zfs", "get", "-Hrp", "-o", "name,property,value", "all", pool)).stdout.splitlines():
        name, prop, text = line.split("\t")
        found.setdefault(name, {})[prop] = text
    return found


def check_datasets(guest: Guest, pool: str, wanted: Mapping[str, Any]) -> None:
    found = read_properties(guest, pool)
    assert set(found) == {pool, f"{pool}/mysql", *(f"{pool}/mysql/{key}" for key in wanted["datasets"])}
    for key, own in {"": {}, **wanted["datasets"]}.items():
        name = f"{pool}/mysql/{key}" if key else pool
        for prop, text in {**wanted["properties"], **own}.items():
            read = found[name][prop]
            # OpenZFS 2.3 prints `on` for sa, which is what it made of `on`.
            assert value(prop, text) == value(prop, read) or (prop, text, read) == ("xattr", "sa", "on"), (name, prop)
    for key in wanted["datasets"]:
        assert found[f"{pool}/mysql/{key}"]["mountpoint"] == f"/{pool}/mysql/{key}"
    directories = [f"/{pool}/mysql/{key}" for key in wanted["datasets"]]
    owners = guest.run(("stat", "-c", "%U:%G %a", *directories)).stdout.splitlines()
    assert owners == ["mysql:mysql 750"] * len(directories)


def check_vdevs(guest: Guest, pool: str, wanted: Mapping[str, Any], media: Mapping[str, str]) -> None:
    status = json.loads(guest.run(("zpool", "status", "-jP", pool)).stdout)["pools"][pool]
    assert status["state"] == "ONLINE"
    by_role = {"data": status["vdevs"][pool]["vdevs"], **{role: status.get(at, {}) for role, at in SECTIONS.items()}}
    disk_of = disks_by_id(guest)
    for role, vdevs in by_role.items():
        if role not in wanted["vdevs"]:
            assert not vdevs, (role, vdevs)
            continue
        spec = wanted["vdevs"][role]
        assert len(vdevs) >= spec["min"]
        for vdev in vdevs.values():
            leaves = list(vdev["vdevs"]) if "vdevs" in vdev else [vdev["name"]]
            kind = vdev["name"].rsplit("-", 1)[0] if "vdevs" in vdev else "disk"
            assert (kind, len(leaves)) == (spec["kind"], spec["width"])
            assert {media[disk_of[leaf]] for leaf in leaves} <= set(spec["class"]), (role, leaves)


def disks_by_id(guest: Guest) -> dict[str, str]:
    """Give the disk of each stable name: sda also for its partition sda1, nvme0n1 for nvme0n1p1."""
    listed = guest.run(("find", "/dev/disk/by-id", "-type", "l", "-printf", r"%p %l\n")).stdout.splitlines()
    nodes = {link: target.rsplit("/", 1)[1] for link, target in map(str.split, listed)}
    return {link: re.sub(r"(?<=^sd[a-z])1$|p1$", "", node) for link, node in nodes.items()}


@pytest.mark.parametrize("template", template_names())
def test_the_pool_is_what_the_file_says_and_again_there_is_nothing_to_do(
    bare: Guest, media: dict[str, str], template: str
) -> None:
    disks = named_disks(template, media)
    blank(bare)
    done = create(bare, template, disks)
    assert done.exit_status == 0, done
    for pool, wanted in pools_of(template).items():
        got = bare.run(("zpool", "get", "-Hpo", "property,value", "all", pool)).stdout.splitlines()
        properties = dict(line.split("\t") for line in got)
        assert wanted["pool"].items() <= properties.items()
        check_vdevs(bare, pool, wanted, media)
        check_datasets(bare, pool, wanted)
    guids = bare.run(("zpool", "get", "-H", "guid")).stdout
    again = create(bare, template, disks)
    assert (again.exit_status, again.stdout) == (0, f"tank is as {template} wants it: nothing is to be done\n")
    assert bare.run(("zpool", "get", "-H", "guid")).stdout == guids
    audited = zmysql("check", "tank", "-H", "--host", f"testbed:{bare.testbed.name}")
    assert (audited.exit_status, audited.stdout) == (0, ""), "a fresh pool has no findings"

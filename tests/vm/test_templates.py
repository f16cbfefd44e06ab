"""Every template on real disks: the pool that is read back is what the file says, and the second run has nothing to do.

What is wanted is read from the TOML here once more, without zmysql's own reader of templates.
"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from blank import blank
from running import zmysql

from zmysql.layout.template import load_template, template_names
from zmysql.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


def pools_of(template: str) -> dict[str, Mapping[str, Any]]:
    """Give the pools of a template as its file has them, by the names that they get in a layout `tank`."""
    content = tomllib.loads(load_template(template).text)
    return {"tank": content, **{f"tank-{key}": pool for key, pool in content.get("pools", {}).items()}}


def create(guest: Guest, template: str) -> Completed:
    return zmysql("create-pool", "tank", "-t", template, "-y", "--host", f"testbed:{guest.testbed.name}")


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
        owner = guest.run(("stat", "-c", "%U:%G %a", f"/{pool}/mysql/{key}")).stdout.strip()
        assert owner == "mysql:mysql 750"


def check_vdevs(guest: Guest, pool: str, wanted: Mapping[str, Any]) -> None:
    status = json.loads(guest.run(("zpool", "status", "-jP", pool)).stdout)["pools"][pool]
    assert status["state"] == "ONLINE"
    by_role = {"data": status["vdevs"][pool]["vdevs"], **{role: status.get(at, {}) for role, at in SECTIONS.items()}}
    media = {one["name"]: one["class"] for one in json.loads(devices(guest))["devices"]}
    links = dict(line.split() for line in guest.run(("sh", "-c", LINKS)).stdout.splitlines())
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
            assert all(leaf.startswith("/dev/disk/by-id/") for leaf in leaves)
            assert {media[links[leaf.rsplit("/", 1)[1]]] for leaf in leaves} <= set(spec["class"]), (role, leaves)


LINKS = (
    'cd /dev/disk/by-id && for link in *; do echo "$link $(lsblk -nro PKNAME "$link" | tail -n 1)"; done | awk NF==2'
)


def devices(guest: Guest) -> str:
    return zmysql("devices", "-j", "--host", f"testbed:{guest.testbed.name}").stdout


@pytest.mark.parametrize("template", template_names())
def test_the_pool_is_what_the_file_says_and_again_there_is_nothing_to_do(bare: Guest, template: str) -> None:
    blank(bare)
    done = create(bare, template)
    assert done.exit_status == 0, done
    for pool, wanted in pools_of(template).items():
        got = bare.run(("zpool", "get", "-Hpo", "property,value", "all", pool)).stdout.splitlines()
        properties = dict(line.split("\t") for line in got)
        assert wanted["pool"].items() <= properties.items()
        check_vdevs(bare, pool, wanted)
        check_datasets(bare, pool, wanted)
    guids = bare.run(("zpool", "get", "-H", "guid")).stdout
    again = create(bare, template)
    assert (again.exit_status, again.stdout) == (0, f"tank is as {template} wants it: nothing is to be done\n")
    assert bare.run(("zpool", "get", "-H", "guid")).stdout == guids

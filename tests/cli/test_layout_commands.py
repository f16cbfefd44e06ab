"""The commands as a person meets them on a machine where nothing may be created."""

import json
from collections.abc import Sequence

import pytest
from running import refusal, zmysql

from zmysql.host import Local
from zmysql.layout.inventory import read_inventory
from zmysql.layout.template import template_names
from zmysql.zfs.read import ZfsMissing


class Without(Local):
    """This machine, with a PATH in which there is nothing."""

    def command(self, argv: Sequence[str]) -> list[str]:
        return ["/usr/bin/env", "PATH=/nonexistent", *argv]


def test_templates_are_listed_and_shown() -> None:
    listed = zmysql("templates")
    assert listed.exit_status == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()[1:-2]] == list(template_names())
    in_fields = zmysql("templates", "-H").stdout.splitlines()
    assert [line.split("\t")[0] for line in in_fields] == list(template_names())
    shown = zmysql("templates", "hybrid")
    assert shown.stdout.startswith("# zmysql template")
    assert "recordsize" in shown.stdout


def test_devices_are_listed_also_without_zfs() -> None:
    done = zmysql("devices", "-j")
    assert done.exit_status == 0
    content = json.loads(done.stdout)
    assert content["output_version"] == {"command": "zmysql devices", "vers_major": 0, "vers_minor": 1}
    for device in content["devices"]:
        assert {"name", "class", "size_bytes", "sector_bytes", "serial", "model", "by_id", "used_by"} <= set(device)
        assert device["class"] in {"hdd", "ssd", "nvme"}
        assert set(device["sector_bytes"]) == {"logical", "physical"}


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("templates", "hybird"), "there is no template 'hybird', did you mean hybrid?; there are all-hdd, all-ssd,"),
        (("create-pool", "tank", "-t", "nix"), "there is no template 'nix'; there are all-hdd, all-ssd,"),
        (("create-pool", "log", "-t", "hybrid"), "'log' is reserved by ZFS"),
        (("create-pool", "a/b", "-t", "hybrid"), "'a/b' is no pool name"),
        (("create-pool", "a\nb", "-t", "hybrid"), "'a\\nb' is no pool name"),
        (("create-pool", "tank"), "Missing option '-t'"),
        (("create-pool", "tank", "-t", "hybrid", "--set", "data.recordsiez=16K"), "data.recordsiez"),
        (("create-pool", "tank", "-t", "hybrid", "--force"), "No such option"),
        (("devices", "--host", "nix"), "--host 'nix': write ssh://[user@]machine[:port], or testbed:NAME"),
        (("devices", "--host", "ssh://-oProxyCommand=true"), "write ssh://[user@]machine[:port]"),
        (("devices", "--host", "ssh://a b"), "write ssh://[user@]machine[:port]"),
        (("devices", "--host", "ssh://a;b"), "write ssh://[user@]machine[:port]"),
        (("devices", "--host", "testbed:a/b"), "use letters, digits, - and _ only"),
        (
            ("mycnf", "tank", "--server", "mysql-5.0", "--memory", "2G"),
            "unknown server 'mysql-5.0'; known are mysql-9.7",
        ),
        (("mycnf", "tank", "--server", "mysql-9.7", "--memory", "lots"), "'lots' is no size"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(argv: tuple[str, ...], said: str) -> None:
    assert said in refusal(*argv)
    assert zmysql(*argv).exit_status == 2


def test_without_zfs_the_line_says_what_to_install() -> None:
    with pytest.raises(ZfsMissing, match="no zpool on this machine: install OpenZFS"):
        read_inventory(Without())

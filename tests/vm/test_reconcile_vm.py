"""`create-pool --reconcile` on a real pool, and another machine over an ssh connection that all commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from blank import blank
from running import zmysql

from zmysql.host import Local, Ssh
from zmysql.layout.inventory import read_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zmysql.host import Completed
    from zmysql.testbed.vm import Guest

HDDS = ("--data", "sda", "--data", "sdb")
SSDS = ("--log", "sdg", "--log", "sdh", "--cache", "sdi")


@pytest.fixture(scope="module")
def bare(guest: Guest) -> Iterator[Guest]:
    """Give the guest with free disks, and leave them so."""
    blank(guest)
    yield guest
    blank(guest)


def create(guest: Guest, template: str, *options: str) -> Completed:
    return zmysql("create-pool", "tank", "-t", template, *options, "--host", f"testbed:{guest.testbed.name}")


def value(guest: Guest, name: str, dataset: str) -> str:
    return guest.run(("zfs", "get", "-Hpo", "value", name, dataset)).stdout.strip()


def test_a_running_pool_gets_a_log_and_a_cache_and_becomes_another_template(bare: Guest) -> None:
    assert create(bare, "all-hdd", *HDDS, "-y").exit_status == 0
    refused = create(bare, "hybrid", "-y")
    assert (refused.exit_status, refused.stdout) == (1, "")
    assert "tank: zmysql:template is all-hdd, wanted hybrid" in refused.stderr
    done = create(bare, "hybrid", *HDDS, *SSDS, "--reconcile", "-y")
    assert (done.exit_status, done.stdout) == (0, "tank is changed from hybrid and was read back: all is as wanted\n")
    status = bare.run(("zpool", "status", "-LP", "tank")).stdout
    assert [part in status for part in ("logs", "/dev/sdg1", "/dev/sdh1", "cache", "/dev/sdi1")] == [True] * 5
    assert create(bare, "hybrid").stdout == "tank is as hybrid wants it: nothing is to be done\n"


def test_what_drifted_is_changed_back_and_nothing_is_taken_away(bare: Guest) -> None:
    drift = """
        zfs set recordsize=32K tank/mysql/data; zfs set compression=off tank/mysql; zfs destroy tank/mysql/tmp
        zpool set autotrim=off tank; zpool remove tank /dev/disk/by-id/*; zpool add tank spare sdc; zfs create tank/home
    """
    cache = bare.run(("zpool", "status", "-P", "tank")).stdout.partition("cache\n")[2].split()[0]
    bare.run(("sh", "-euc", drift.replace("/dev/disk/by-id/*", cache)))
    told = create(bare, "hybrid", "-y")
    assert (told.exit_status, told.stdout) == (1, "")
    assert "--reconcile changes what can be changed" in told.stderr
    assert value(bare, "recordsize", "tank/mysql/data") == "32768"
    planned = create(bare, "hybrid", "--reconcile", "-n", "-H")
    shown = planned.stdout.splitlines()
    assert "tank\tzfs set recordsize=16K tank/mysql/data" in shown, planned
    done = create(bare, "hybrid", "--reconcile", "-y")
    # The spare is no part of the template: it is named, and stays.
    assert done.exit_status == 1
    assert "tank: spare vdev is disk sdc, wanted none: it is left alone" in done.stderr
    assert value(bare, "recordsize", "tank/mysql/data") == "16384"
    assert value(bare, "compression", "tank/mysql") == "lz4"
    assert value(bare, "logbias", "tank/mysql/tmp") == "throughput"
    assert bare.run(("stat", "-c", "%U %a", "/tank/mysql/tmp")).stdout == "mysql 750\n"
    assert bare.run(("zpool", "get", "-Ho", "value", "autotrim", "tank")).stdout == "on\n"
    status = bare.run(("zpool", "status", "-LP", "tank")).stdout
    assert "cache\n" in status
    assert "/dev/sdc" in status
    assert value(bare, "mounted", "tank/home") == "yes"
    again = create(bare, "hybrid", "--reconcile", "-y")
    assert again.exit_status == 1
    assert again.stderr.count("\n") == 2


def test_all_commands_to_another_machine_share_one_connection(bare: Guest) -> None:
    """As `--host ssh://…` does it; the testbed's own key and port stand for an admin's ssh_config."""
    own = [word for word in bare.options if not word.startswith(("ControlPath=", "BatchMode", "ConnectTimeout"))]
    options = [word for at, word in enumerate(own) if word != "-o" or (at + 1 < len(own) and own[at + 1] != "-o")]
    host = Ssh(bare.name, options=options, share=True)
    sockets = Path(next(word for word in host.options if word.startswith("ControlPath="))[len("ControlPath=") :]).parent
    there = set(sockets.iterdir())
    assert {device.name for device in read_inventory(host).devices} == {
        device.name for device in read_inventory(bare).devices
    }
    (socket,) = set(sockets.iterdir()) - there
    assert sockets.stat().st_mode & 0o077 == 0
    Local().run(("ssh", "-o", f"ControlPath={socket}", "-O", "exit", bare.name))

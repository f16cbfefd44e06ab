"""create-pool on real disks: created, refused, read back and undone; test_faults.py kills it and cuts the power."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from blank import blank
from running import zmysql

from zmysql.errors import ZmysqlError
from zmysql.host import Completed, Host, Local
from zmysql.layout.apply import apply
from zmysql.layout.inventory import read_inventory, read_site
from zmysql.layout.model import Plan
from zmysql.layout.plan import CREATING, make_plan
from zmysql.layout.template import load_template
from zmysql.zfs.read import STATE_MARK, read_guid, read_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zmysql.testbed.vm import Guest

pytestmark = pytest.mark.usefixtures("installed")
HDDS = ("sda", "sdb", "sdc", "sdd", "sde", "sdf")
# What hybrid takes unasked: the smallest pair as log, the largest as cache. Two small SSDs and a large one are left.
LOGS, CACHE = ("nvme0n1", "nvme1n1"), "sdi"
SSDS = (*LOGS, CACHE)
CREATE = ("zmysql", "create-pool", "tank", "-t", "hybrid")


class Meddling(Local):
    """The guest, where something else happens just before one command: another program is never far."""

    name = "the guest"

    def __init__(self, guest: Host, before: tuple[str, ...], meddle: Callable[[], object]) -> None:
        self.guest, self.before, self.meddle = guest, before, meddle

    def command(self, argv: Sequence[str]) -> list[str]:
        return self.guest.command(argv)

    def run(
        self, argv: Sequence[str], *, stdin: str | None = None, check: bool = True, timeout: float | None = None
    ) -> Completed:
        if tuple(argv)[: len(self.before)] == self.before:
            self.meddle()
        return super().run(argv, stdin=stdin, check=check, timeout=timeout)


@pytest.fixture
def disks(guest: Guest, tidy: None) -> Guest:  # noqa: ARG001 - it acts at the end
    """Give the guest with all its disks free. This ends the pool of `tank`, whose tests come before."""
    blank(guest)
    return guest


@pytest.fixture(scope="module")
def tidy(guest: Guest) -> Iterator[None]:
    """Leave the disks free for the tests of other modules."""
    yield
    blank(guest)


@pytest.fixture(scope="module")
def tank(guest: Guest, tidy: None) -> Guest:  # noqa: ARG001 - it acts at the end
    """Give the guest with a pool tank made from hybrid by `zmysql create-pool`, for tests that leave it as it is."""
    blank(guest)
    guest.run((*CREATE, "-y"))
    return guest


def run(guest: Guest, *argv: str) -> Completed:
    """Run a command in the guest; zmysql runs here, with the guest as its host, since Python takes seconds there."""
    if argv[0] == "zmysql":
        return zmysql(*argv[1:], "--host", f"testbed:{guest.testbed.name}")
    return guest.run(argv, check=False)


def free_disks(host: Host) -> set[str]:
    host.run(("udevadm", "settle"))
    return {device.name for device in read_inventory(host).devices if not device.used_by}


def plan_for(host: Host, template: str = "hybrid") -> Plan:
    wanted = load_template(template)
    made = make_plan("tank", wanted, wanted.pools[0], read_inventory(host), {}, read_site(host, "tank"))
    assert isinstance(made, Plan), made
    return made


def properties(host: Host, *names: str) -> dict[str, dict[str, str]]:
    listed = host.run(("zfs", "get", "-Hrp", "-o", "name,property,value", ",".join(names), "tank")).stdout
    found: dict[str, dict[str, str]] = {}
    for line in listed.splitlines():
        name, prop, value = line.split("\t")
        found.setdefault(name, {})[prop] = value
    return found


# A pool that is there


def test_devices_show_what_the_disks_are_and_that_they_are_in_the_pool(tank: Guest) -> None:
    listed = json.loads(run(tank, "zmysql", "devices", "-j").stdout)["devices"]
    found = {device["name"]: device for device in listed}
    classes = dict.fromkeys(HDDS, "hdd") | dict.fromkeys(LOGS, "nvme") | {CACHE: "ssd"}
    assert {name: found[name]["class"] for name in classes} == classes
    assert {tuple(found[name]["used_by"]) for name in (*HDDS, *SSDS)} == {("in pool tank",)}
    assert all(found[name]["by_id"].startswith("/dev/disk/by-id/") and found[name]["serial"] for name in (*HDDS, *SSDS))
    assert [use for device in listed for use in device["used_by"] if use.startswith("mounted at /")]


def test_the_pool_has_the_vdevs_of_the_template_by_stable_names(tank: Guest) -> None:
    status = json.loads(run(tank, "zpool", "status", "-jP").stdout)["pools"]["tank"]
    assert status["state"] == "ONLINE"
    mirrors = [vdev for vdev in status["vdevs"]["tank"]["vdevs"].values() if vdev["vdev_type"] == "mirror"]
    assert [len(mirror["vdevs"]) for mirror in mirrors] == [2, 2, 2]
    assert [vdev["vdev_type"] for vdev in status["logs"].values()] == ["mirror"]
    assert len(status["l2cache"]) == 1
    text = run(tank, "zpool", "status", "-P").stdout
    assert text.count("/dev/disk/by-id/") == len(HDDS) + len(SSDS)


def test_the_datasets_have_the_properties_of_the_template(tank: Guest) -> None:
    found = properties(tank, "recordsize", "primarycache", "secondarycache", "logbias", "compression", "atime", "sync")
    everywhere = {"primarycache": "all", "compression": "lz4", "atime": "off", "sync": "standard"}
    datasets = ("data", "redo", "binlog", "relay", "tmp", "logs")
    assert set(found) == {"tank", "tank/mysql", *(f"tank/mysql/{name}" for name in datasets)}
    assert all(everywhere.items() <= of_one.items() for of_one in found.values())
    assert (
        found["tank/mysql/data"].items()
        >= {"recordsize": "16384", "logbias": "latency", "secondarycache": "all"}.items()
    )
    for name in ("redo", "binlog"):
        assert found[f"tank/mysql/{name}"].items() >= {"recordsize": "131072", "logbias": "latency"}.items()
        assert found[f"tank/mysql/{name}"]["secondarycache"] == "none"
    assert found["tank/mysql/tmp"].items() >= {"recordsize": "131072", "logbias": "throughput"}.items()
    assert run(tank, "zpool", "get", "-Hpo", "value", "ashift,autotrim", "tank").stdout.split() == ["12", "on"]


def test_the_directories_are_mounted_and_belong_to_mysql(tank: Guest) -> None:
    for name in ("data", "redo", "binlog", "tmp"):
        assert run(tank, "findmnt", "-no", "FSTYPE", f"/tank/mysql/{name}").stdout.strip() == "zfs"
        assert run(tank, "stat", "-c", "%U:%G %a", f"/tank/mysql/{name}").stdout.strip() == "mysql:mysql 750"


def test_again_there_is_nothing_to_do(tank: Guest) -> None:
    before = read_guid(tank, "tank")
    done = run(tank, *CREATE)
    assert (done.exit_status, done.stdout) == (0, "tank is as hybrid wants it: nothing is to be done\n")
    content = json.loads(run(tank, *CREATE, "-j").stdout)
    assert (content["nothing_to_do"], content["done"], content["plan"], content["differences"]) == (True, False, [], [])
    assert {role: len(paths) for role, paths in content["roles"].items()} == {"data": 6, "log": 2, "cache": 1}
    named = (
        *(word for name in HDDS for word in ("--data", name)),
        *(word for name in reversed(LOGS) for word in ("--log", name)),
        *("--cache", f"/dev/{CACHE}"),
    )
    assert run(tank, *CREATE, *named).exit_status == 0
    assert read_guid(tank, "tank") == before


def test_a_pool_that_differs_is_listed_and_left_as_it_is(tank: Guest) -> None:
    tank.run(("zfs", "set", "recordsize=32K", "tank/mysql/data"))
    try:
        (difference,) = json.loads(run(tank, *CREATE, "-y", "-j").stdout)["differences"]
        assert difference == {"of": "tank/mysql/data", "what": "recordsize", "wanted": "16K", "actual": "32768"}
        assert properties(tank, "recordsize")["tank/mysql/data"]["recordsize"] == "32768"
    finally:
        tank.run(("zfs", "set", "recordsize=16K", "tank/mysql/data"))
    done = run(tank, "zmysql", "create-pool", "tank", "-t", "all-hdd", "-y")
    assert (done.exit_status, done.stdout) == (1, "")
    assert "\n  tank: zmysql:template is hybrid, wanted all-hdd\n" in done.stderr


def test_disks_of_a_pool_are_refused_for_another(tank: Guest) -> None:
    done = run(tank, "zmysql", "create-pool", "other", "-t", "all-hdd", "--data", "sda", "--data", "sdb", "-y")
    assert (done.exit_status, done.stdout) == (1, "")
    assert "sda: is in use (in pool tank); name another disk" in done.stderr


def test_mysqld_takes_the_my_cnf(tank: Guest) -> None:
    done = run(tank, "zmysql", "mycnf", "tank", "--server", "mysql-9.7", "--memory", "512M")
    # Debian's server wants this directory of its package mysql-common, whatever its my.cnf says.
    tank.run(("install", "-d", "-o", "mysql", "/var/lib/mysql-files"))
    tank.run(("tee", "/tmp/my.cnf"), stdin=done.stdout)
    checked = run(tank, "mysqld", "--defaults-file=/tmp/my.cnf", "--validate-config")
    assert (checked.exit_status, checked.stderr) == (0, "")
    assert "innodb_flush_method = fsync" in done.stdout
    assert "innodb_doublewrite = OFF" in done.stdout
    missing = run(tank, "zmysql", "mycnf", "nix", "--server", "mysql-9.7", "--memory", "512M")
    assert missing.exit_status == 1
    assert missing.stderr.startswith("zmysql: there is no imported pool nix")


# Before a pool is there


def test_a_dry_run_shows_the_commands_and_does_nothing_also_without_root(disks: Guest) -> None:
    before = free_disks(disks)
    shown = run(disks, *CREATE, "-n")
    assert shown.exit_status == 0
    commands = [line for line in shown.stdout.splitlines() if not line.startswith("#")]
    assert commands[0].startswith("zpool create -o ashift=12")
    assert commands[-1] == "zfs set zmysql:state=complete tank"
    as_nobody = run(disks, "setpriv", "--reuid=nobody", *CREATE, "-n")
    assert as_nobody.stdout == shown.stdout
    refused = run(disks, "setpriv", "--reuid=nobody", *CREATE, "-y")
    assert (refused.exit_status, refused.stdout) == (1, "")
    assert refused.stderr == "zmysql: creating a pool needs root: use sudo, or look at the plan with -n\n"
    assert free_disks(disks) == before
    assert read_pool(disks, "tank") is None


def test_without_a_terminal_nobody_can_be_asked(disks: Guest) -> None:
    done = run(disks, *CREATE)
    assert (done.exit_status, done.stdout) == (2, "")
    assert done.stderr == "zmysql: there is no terminal to ask on: say -y to run the plan, or -n to see it\n"


SEEDS = {
    "sda": ("mkfs.ext4 -qF /dev/sda && mkdir -p /mnt/zmysql && mount /dev/sda /mnt/zmysql", "mounted at /mnt/zmysql"),
    "sdb": ("mkfs.ext4 -qF /dev/sdb", "ext4"),
    "sdc": ("printf 'label: gpt\\n,1G\\n' | sfdisk -q /dev/sdc", "partition sdc1"),
    "sdd": ("zpool create -f gone sdd && zpool export gone", "label of pool gone, not imported (sdd1)"),
    "sde": ("mkswap -q /dev/sde && swapon /dev/sde", "swapped to"),
    "sdf": ("echo 0 100000 linear /dev/sdf 0 | dmsetup create held", "held by dm held"),
    CACHE: (f"zpool create -f here {CACHE}", "in pool here"),
}


def test_each_disk_in_use_is_refused_for_what_uses_it(disks: Guest) -> None:
    for seed, _ in SEEDS.values():
        disks.run(("sh", "-ec", seed))
    disks.run(("udevadm", "settle"))
    before = disks.run(("lsblk", "-J", "-o", "NAME,FSTYPE,UUID,PARTUUID,MOUNTPOINTS")).stdout
    options = [word for name in HDDS for word in ("--data", name)]
    options += [*(word for name in LOGS for word in ("--log", name)), "--cache", CACHE]
    done = run(disks, *CREATE, *options, "-y", "-j")
    assert done.exit_status == 1
    refusals = json.loads(done.stdout)["refusals"]
    said = {refusal["about"]: refusal["why"] for refusal in refusals}
    for name, (_, use) in SEEDS.items():
        assert said.get(name, "").startswith(f"is in use ({use}"), (name, said)
    assert done.stderr.count("\n") == len(refusals)
    # Without names nothing of it is taken either.
    assert run(disks, *CREATE, "-y").exit_status == 1
    assert disks.run(("lsblk", "-J", "-o", "NAME,FSTYPE,UUID,PARTUUID,MOUNTPOINTS")).stdout == before


def test_one_disk_under_two_names_and_disks_that_are_not_there_are_refused(disks: Guest) -> None:
    by_id = read_inventory(disks).devices[0].stable_path
    assert by_id.startswith("/dev/disk/by-id/")
    options = [word for name in ("sda", by_id, "sda", "sdq") for word in ("--data", name)]
    done = run(disks, "zmysql", "create-pool", "tank", "-t", "all-hdd", *options, "-y")
    assert (done.exit_status, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"zmysql: {by_id}: the disk sda is named as sda too, for data; name each disk once",
        "zmysql: sda: the disk sda is named twice, for data; name each disk once",
        "zmysql: sdq: there is no such disk; see `zmysql devices`",
    ]
    assert free_disks(disks) >= {*HDDS, *SSDS}


def test_a_pool_that_somebody_else_made_is_left_alone(disks: Guest) -> None:
    disks.run(("zpool", "create", "-f", "tank", CACHE))
    guid = read_guid(disks, "tank")
    done = run(disks, *CREATE, "-y")
    assert (done.exit_status, done.stdout) == (1, "")
    assert "tank: this pool exists and zmysql didn't make it" in done.stderr
    assert read_guid(disks, "tank") == guid


# While a pool is made


def test_a_disk_that_changed_after_the_plan_is_not_touched(disks: Guest) -> None:
    plan = plan_for(disks)
    disks.run(("mkswap", "-q", "/dev/sdc"))
    disks.run(("udevadm", "settle"))
    with pytest.raises(ZmysqlError, match=r"sdc changed since the plan was made \(now used: swap\): run again"):
        apply(disks, plan, lambda _: None)
    assert free_disks(disks) >= {*HDDS, *SSDS} - {"sdc"}


def test_a_step_that_fails_undoes_the_pool_and_frees_its_disks(disks: Guest) -> None:
    """A dataset that is suddenly there makes `zfs create` fail, as would a full disk or a bad property."""
    redo = "tank/mysql/redo"
    meddling = Meddling(disks, ("zfs", "create", "-o", "recordsize=128K"), lambda: run(disks, "zfs", "create", redo))
    with pytest.raises(
        ZmysqlError, match="the pool tank, which this run created, is destroyed again, and its disks are"
    ):
        apply(meddling, plan_for(disks), lambda _: None)
    assert read_pool(disks, "tank") is None
    assert free_disks(disks) >= {*HDDS, *SSDS}
    assert run(disks, "ls", "-d", "/tank").exit_status != 0


def test_a_create_that_fails_frees_the_disks_that_it_partitioned(disks: Guest) -> None:
    """Something takes hold of one disk between the last look and `zpool create`."""
    meddling = Meddling(
        disks,
        ("zpool", "create"),
        lambda: disks.run(("dmsetup", "create", "held", "--table", f"0 100000 linear /dev/{CACHE} 0")),
    )
    with pytest.raises(ZmysqlError, match=rf"`zpool create tank` failed: .*{CACHE}"):
        apply(meddling, plan_for(disks), lambda _: None)
    assert read_pool(disks, "tank") is None
    assert free_disks(disks) >= {*HDDS, *SSDS} - {CACHE}


def test_only_the_pool_with_the_guid_of_this_run_is_destroyed(disks: Guest) -> None:
    """The pool is replaced by another of the same name before the step that fails."""

    def replace_pool() -> None:
        disks.run(("zpool", "destroy", "tank"))
        disks.run(("zpool", "create", "-f", "-O", f"{STATE_MARK}={CREATING}", "tank", CACHE))

    meddling = Meddling(disks, ("zfs", "create"), replace_pool)
    with pytest.raises(ZmysqlError, match="the pool tank isn't the one that this run created, so it is left alone"):
        apply(meddling, plan_for(disks, "all-hdd"), lambda _: None)
    left = read_pool(disks, "tank")
    assert left is not None
    assert len(left.vdevs) == 1


def test_a_pool_that_another_run_took_over_is_left_to_it(disks: Guest) -> None:
    def take_over() -> Completed:
        return disks.run((*CREATE[:-1], "all-hdd", "-y"))

    meddling = Meddling(disks, ("zfs", "create", "-o", "recordsize=16K"), take_over)
    with pytest.raises(
        ZmysqlError, match="another create-pool has taken over the pool tank, so it is left to that one"
    ):
        apply(meddling, plan_for(disks, "all-hdd"), lambda _: None)
    assert run(disks, *CREATE[:-1], "all-hdd").exit_status == 0

"""The testbed itself: its disks, exit statuses, and what remains of it after kill -9, a crash and `down`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zmysql.host import Completed, Local
from zmysql.testbed import processes
from zmysql.testbed.devices import Bus, parse_disks
from zmysql.testbed.vm import Guest, Testbed

if TYPE_CHECKING:
    from collections.abc import Iterator

ZMYSQL = str(Path(sys.executable).with_name("zmysql"))


def zmysql(*argv: str) -> Completed:
    """Run the console script of this checkout."""
    return Local().run([ZMYSQL, "testbed", *argv], check=False)


def test_the_guest_sees_the_disks_as_they_are_declared(testbed: Testbed, guest: Guest) -> None:
    state = testbed.state()
    assert state is not None
    columns = "NAME,ROTA,SIZE,SERIAL,WWN,VENDOR,MODEL"
    listed = json.loads(guest.run(["lsblk", "--json", "--bytes", "--nodeps", "--output", columns]).stdout)
    # lsblk lists them in the order of a folder, which isn't that of their names.
    seen = sorted(
        (disk for disk in listed["blockdevices"] if disk["name"].startswith(("sd", "nvme"))),
        key=lambda disk: (disk["name"].startswith("nvme"), disk["name"]),
    )
    for disk, wanted in zip(seen, parse_disks(testbed.name, state.spec.disks), strict=True):
        assert disk["name"].startswith("sd") is (wanted.model.bus is Bus.SCSI)
        assert disk["rota"] is (wanted.model.rotation_rate > 1)
        assert disk["size"] == wanted.size_bytes
        assert disk["serial"] == wanted.serial
        assert wanted.wwn is None or disk["wwn"] == f"{wanted.wwn:#x}"
        assert (disk["vendor"] or "").strip() == wanted.model.vendor
        assert disk["model"] == wanted.model.product


def test_the_disks_behave_as_their_models_say(guest: Guest) -> None:
    """Read 16K at random, one at a time: an HDD of 15000 rpm gives 100 to 400 a second, an SSD over four times that."""
    rate = {}
    for device in ("/dev/sda", "/dev/sdg"):
        fio = ["fio", "--name=probe", f"--filename={device}", "--rw=randread", "--bs=16k", "--direct=1", "--readonly"]
        done = guest.run([*fio, "--time_based", "--runtime=4", "--output-format=json"])
        rate[device] = json.loads(done.stdout)["jobs"][0]["read"]["iops"]
    assert 80 < rate["/dev/sda"] < 400, rate
    assert rate["/dev/sdg"] > 4 * rate["/dev/sda"], rate


def test_run_gives_the_exit_status_and_the_output(testbed: Testbed) -> None:
    done = zmysql("run", "--name", testbed.name, "--", "sh", "-c", "echo out; echo 'a  b' >&2; exit 7")
    assert (done.exit_status, done.stdout, done.stderr) == (7, "out\n", "a  b\n")


def test_up_again_has_nothing_to_do_and_another_spec_is_refused(testbed: Testbed) -> None:
    state = testbed.state()
    assert state is not None
    disks = [word for spec in state.spec.disks for word in ("--disk", spec)]
    again = zmysql("up", "--name", testbed.name, *disks, "--memory", str(state.spec.memory_bytes))
    assert again.exit_status == 0
    assert "nothing to do" in again.stderr
    other = zmysql("up", "--name", testbed.name, "--disk", "ssd:1G")
    assert other.exit_status == 1
    assert f"zmysql testbed down --name {testbed.name}" in other.stderr


def test_the_image_holds_what_the_recipe_wants(guest: Guest) -> None:
    assert guest.run(["zfs", "version"]).stdout.startswith("zfs-2.")
    assert "9." in guest.run(["mysqld", "--version"]).stdout
    assert guest.run(["dtrace", "-V"]).stdout.startswith("dtrace: D 2.")
    guest.run(["test", "-e", "/sys/kernel/btf/zfs"])
    guest.run(["python3", "-c", "import libzfs_core"])
    for program in ("bpftrace", "sysbench"):
        assert guest.has(program)
    assert "Ver 11.8." in guest.run(["mariadbd-11.8", "--version"]).stdout
    assert "Ver 10.11." in guest.run(["mariadbd-10.11", "--version"]).stdout


@pytest.fixture
def second(testbed: Testbed) -> Iterator[Testbed]:
    """Give the name of a second testbed, to run beside the session's."""
    bed = Testbed(f"{testbed.name}-second")
    bed.down()
    yield bed
    bed.down()


def test_kill_9_a_power_cut_a_crash_and_down_leave_nothing_but_what_was_synced(
    testbed: Testbed, second: Testbed
) -> None:
    small = ("--name", second.name, "--disk", "ssd:1G", "--memory", "1G")
    killed_at = (0.5, 3.0, 12.0)
    for moment in killed_at:
        with Local().start([ZMYSQL, "testbed", "up", *small]):
            time.sleep(moment)
        assert zmysql("status").exit_status == 0
    assert zmysql("run", "--name", second.name, "true").exit_status == 1

    up = zmysql("up", *small)  # repairs what the killed ones left
    assert up.exit_status == 0, up.stderr
    assert sum(name.startswith("qemu") for _, name in processes.owned(second.folder)) == 1
    assert zmysql("run", "--name", second.name, "--", "uname").stdout == "Linux\n"
    assert zmysql("run", "--name", testbed.name, "--", "uname").stdout == "Linux\n"  # side by side

    keep = (
        "echo 600 > /sys/module/zfs/parameters/zfs_txg_timeout; zpool create -f kept sda; "
        "echo synced > /kept/synced; zpool sync kept; echo unsynced > /kept/unsynced; zpool get -Ho value guid kept"
    )
    guid = zmysql("run", "--name", second.name, "--", "sh", "-ec", keep).stdout
    assert zmysql("reset", "--name", second.name).exit_status == 0
    # The guest's own disk is again as in the image, so nobody there knows of the pool.
    back = "zpool list -H; zpool import -a; zpool get -Ho value guid kept; cat /kept/*"
    assert zmysql("run", "--name", second.name, "--", "sh", "-c", back).stdout == f"{guid}synced\n"

    crash = zmysql("run", "--name", second.name, "--", "sh", "-c", "echo c > /proc/sysrq-trigger")
    assert crash.exit_status == 1
    assert "crashed" in crash.stderr
    assert "Kernel panic - not syncing: sysrq triggered crash" in crash.stderr

    assert zmysql("down", "--name", second.name).exit_status == 0
    assert list(processes.owned(second.folder)) == []
    assert not second.folder.exists()
    assert not second.folder.with_suffix(".lock").exists()

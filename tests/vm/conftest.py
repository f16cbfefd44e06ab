"""One guest for the session, or for each worker of pytest-xdist: booted once, on the first test that wants it."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zmysql.host import Local
from zmysql.testbed.image import locked
from zmysql.testbed.vm import Guest, Testbed

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
# Enough for each template: sda to sdf, sdg and sdh, sdi and sdj, nvme0n1 and nvme1n1. One HDD seeks as HDDs do; that
# all did would cost minutes.
DISKS = ("hdd-15k:4G", "hdd-instant:4G*5", "ssd:1G*2", "ssd:2G*2", "nvme:1G*2")
MEMORY_BYTES = 3 << 30
# A developer's own testbed, which stays up between runs: ZMYSQL_TESTBED=mine. CI has none.
KEPT = os.environ.get("ZMYSQL_TESTBED")
WORKER = os.environ.get("PYTEST_XDIST_WORKER")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all that is in this folder, so that `-m 'not vm'` leaves it out, and run it first.

    These take minutes a file; what takes seconds comes last, so that the workers end together.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.vm)
    items.sort(key=lambda item: item.get_closest_marker("vm") is None)


def say(step: str) -> None:
    """Print a step of the set-up where pytest shows it."""
    print(step, file=sys.stderr)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build zmysql's wheel from this checkout, once for all workers."""
    own = tmp_path_factory.getbasetemp()
    out = (own.parent if WORKER else own) / "wheel"
    with locked(out.with_suffix(".lock")):
        if not (out / "done").exists():
            pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
            Local().run([*pip, "--wheel-dir", str(out), str(ROOT)])
            (out / "done").touch()
    return next(out.glob("zmysql-*.whl"))


@pytest.fixture(scope="session")
def testbed() -> Iterator[Testbed]:
    """Give a testbed with the disks above."""
    bed = Testbed("-".join(filter(None, (KEPT or "pytest", WORKER))))
    # Two sessions would take each other's guest away.
    with locked(bed.folder.with_suffix(".session"), lambda: say(f"waiting for a session that has {bed.name}")):
        if not KEPT:
            bed.down()
        if not bed.is_up():
            bed.up(say, DISKS, memory_bytes=MEMORY_BYTES)
        yield bed
        if not KEPT:
            bed.down()


@pytest.fixture(scope="session")
def guest(testbed: Testbed) -> Guest:
    """Give the guest as a host, as root. What it has on other disks than the declared is gone after a power cut."""
    return testbed.host()


@pytest.fixture(scope="module")
def installed(guest: Guest, wheel: Path) -> Guest:
    """Give the guest with zmysql installed in it from a wheel, as a user would."""
    mark = f"/run/zmysql-{hashlib.sha256(wheel.read_bytes()).hexdigest()[:16]}"
    if guest.run(["test", "-e", mark], check=False).exit_status != 0:
        guest.install(wheel)
        guest.run(["touch", mark])
    return guest

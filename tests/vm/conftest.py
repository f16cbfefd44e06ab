"""One guest for the whole session: booted once, with zmysql installed in it from a wheel, as a user would."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zmysql.host import Local
from zmysql.testbed.vm import Guest, Testbed

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
# A developer who runs the tests again and again keeps the guest up between runs; CI never does.
KEEP = bool(os.environ.get("ZMYSQL_KEEP_TESTBED"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all that is in this folder, so that `-m 'not vm'` leaves it out."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.vm)


def say(step: str) -> None:
    """Print a step of the set-up where pytest shows it."""
    print(step, file=sys.stderr)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build zmysql's wheel from this checkout."""
    out = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    Local().run([*pip, "--wheel-dir", str(out), str(ROOT)])
    return next(out.glob("zmysql-*.whl"))


@pytest.fixture(scope="session")
def testbed(wheel: Path) -> Iterator[Testbed]:
    """Give a testbed with four HDDs of 4G, two SSDs of 1G and one of 2G, and zmysql installed."""
    bed = Testbed("pytest")
    if not KEEP:
        bed.down()
    bed.up(say)
    bed.host().install(wheel)
    yield bed
    if not KEEP:
        bed.down()


@pytest.fixture(scope="session")
def guest(testbed: Testbed) -> Guest:
    """Give the guest as a host, as root."""
    return testbed.host()

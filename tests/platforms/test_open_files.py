"""Who has files open on a file system."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from captures import capture

from zmysql.host import Local
from zmysql.platforms.open_files import LINUX, Opener, parse_openers, read_openers
from zmysql.platforms.system import system_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_process_that_has_a_file_open_or_stands_there() -> None:
    (found,) = parse_openers(capture("debian13-zfs2.3-snapshots", "openers"))
    assert found == Opener(1358, "sleep", "/tank/mysql/data")
    assert str(found) == "sleep (process 1358) uses /tank/mysql/data"


def test_nobody() -> None:
    assert parse_openers("") == ()
    assert read_openers(Local(), LINUX, ()) == ()


def test_this_process_uses_the_file_system_on_which_its_file_is(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w"):
        found = system_of(Local()).open_by(Local(), [str(tmp_path)])
    assert os.getpid() in {one.pid for one in found}
    assert {one.mountpoint for one in found} == {str(tmp_path)}

"""The image's key, and the lock that builders share."""

from dataclasses import replace
from pathlib import Path

import pytest

from zmysql.host import Local
from zmysql.testbed import recipe
from zmysql.testbed.image import built, cache_dir, locked
from zmysql.testbed.recipe import DEBIAN_13, Pin, Server


def test_every_word_of_the_recipe_is_in_the_key() -> None:
    others = [
        replace(DEBIAN_13, suite="forky"),
        replace(DEBIAN_13, packages=DEBIAN_13.packages[1:]),
        replace(DEBIAN_13, pins=(*DEBIAN_13.pins, Pin("hello", "sid", ""))),
        replace(DEBIAN_13, servers=(*DEBIAN_13.servers, Server("hello-1", "sid", "1.", ("hello",)))),
    ]
    assert len({DEBIAN_13.key(), *(other.key() for other in others)}) == 5


def test_each_other_suite_is_one_to_read_and_the_guests_own_is_none_of_them() -> None:
    assert DEBIAN_13.other_suites == ("bookworm", "forky", "sid")


def test_the_script_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = DEBIAN_13.key()
    text = recipe.script_text()
    monkeypatch.setattr(recipe, "script_text", lambda: text + "\n# another word")
    assert DEBIAN_13.key() != before


def test_an_image_without_its_manifest_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = cache_dir() / "images" / DEBIAN_13.key()
    folder.mkdir(parents=True)
    (folder / "root.img").touch()
    assert built() is None


def test_the_lock_is_held_against_other_processes_and_ends_with_its_holder(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    take = ["flock", "--nonblock", str(lock), "true"]
    with locked(lock):
        assert Local().run(take, check=False).exit_status == 1
    assert Local().run(take, check=False).exit_status == 0


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_anew(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with locked(lock):
        lock.unlink()
        with locked(lock):  # another's: the removed file guards nothing
            assert lock.exists()

"""What an installation holds, with Rust and without."""

from __future__ import annotations

import configparser
import gzip
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from zmysql.host import Local
from zmysql.trace.format import Header, header_text

ROOT = Path(__file__).parents[1]
FOLDERS = ("zmysql", "dscripts", "templates", "engine/src")
FILES = ("setup.cfg", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md", "engine/Cargo.toml")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Give a copy of what is built from, so that building leaves nothing in the tree."""
    copy = tmp_path / "source"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for file in FILES:
        if (ROOT / file).exists():
            shutil.copy(ROOT / file, copy / file)
    return copy


def test_setup_cfg_lists_the_packages_of_the_tree() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = config["options"]["packages"].split()
    tree = [".".join(init.parent.relative_to(ROOT).parts) for init in ROOT.glob("zmysql/**/__init__.py")]
    tree += [f"zmysql.{folder}" for folder in ("dscripts", "templates") if (ROOT / folder / "__init__.py").exists()]
    assert sorted(listed) == sorted(tree)


def test_a_machine_without_rust_installs_all_but_the_engine(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    for variable in ("CARGO", "RUSTC"):
        monkeypatch.delenv(variable, raising=False)
    target = tmp_path / "site"
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check"]
    Local().run([sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)])
    assert not list(target.glob("**/*.so"))
    assert (target / "zmysql/templates/hybrid.toml").exists()
    assert (target / "zmysql/dscripts/blkaccess.d").exists()
    assert (target / "zmysql/dscripts/probes/freebsd.toml").exists()
    assert (target / "zmysql/dscripts/examples/blkaccess.txt").exists()
    assert {path.suffix for path in (target / "zmysql/report/page").iterdir()} >= {".html", ".css", ".js"}

    trace = tmp_path / "a.trace"
    trace.write_bytes(gzip.compress((header_text(Header(complete=True)) + "1 2 3 0 4 512 -\n").encode()))
    # The installation that is under test here must not see the one that runs the tests.
    program = f"import sys; sys.path.insert(0, {str(target)!r}); from zmysql.cli.main import main; main()"
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    done = Local().run([sys.executable, "-c", program, "locality", "report", str(trace)], check=False)
    assert done.exit_status == 1
    assert done.stderr.startswith("zmysql: the engine isn't built here")
    assert done.stderr.count("\n") == 1


def test_the_source_distribution_carries_the_engine(source: Path, tmp_path: Path) -> None:
    (source / "engine/target/release").mkdir(parents=True)
    (source / "engine/target/release/leftover.rs").touch()
    chdir = f"import os; os.chdir({str(source)!r})"
    program = f"{chdir}; from setuptools import build_meta; build_meta.build_sdist({str(tmp_path)!r})"
    Local().run([sys.executable, "-c", program])
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {str(path.relative_to(ROOT)) for path in ROOT.glob("engine/src/*.rs")}
    assert wanted | {"engine/Cargo.toml", "templates/hybrid.toml", "dscripts/blkaccess.d"} <= names
    assert not any(name.startswith("engine/target") for name in names)

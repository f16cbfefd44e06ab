"""libCacheSim's own C tools: the fastest public peer of the engine, built from what PyPI has under its name.

Its build takes the allocator of gperftools where it finds it, which makes it faster; so that is installed too.
"""

from __future__ import annotations

import hashlib
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from zmysql.errors import ZmysqlError
from zmysql.host import Local
from zmysql.testbed.image import cache_dir, locked

VERSION = "0.3.5"
SDIST_SHA256 = "a1512046ab45bc0e5f0a81e5673cd02209477ffeefcb17a05fa714a06371abfb"
PACKAGES = ("cmake", "g++", "pkg-config", "libglib2.0-dev", "libzstd-dev", "libgoogle-perftools-dev")
OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DENABLE_TESTS=OFF")
PROGRAMS = ("cachesim", "mrcProfiler", "distUtil", "traceAnalyzer")
INSTALL = Path(__file__).parents[1] / "install-packages.sh"


@dataclass(frozen=True, slots=True)
class Tools:
    """The built programs."""

    cachesim: Path
    mrc_profiler: Path
    dist_util: Path
    trace_analyzer: Path


def tools() -> Tools:
    """Give the programs, built if the cache doesn't have them: a minute or two.

    Raises ZmysqlError where a package is missing, or PyPI can't be reached or has something else under this version.
    """
    recipe = hashlib.sha256(repr((SDIST_SHA256, PACKAGES, OPTIONS, PROGRAMS)).encode()).hexdigest()
    path = cache_dir() / "bench" / f"libcachesim-{VERSION}-{recipe[:12]}"
    with locked(path.with_name(path.name + ".lock")):
        if not path.exists():
            _build(path)
    return Tools(*(path / program for program in PROGRAMS))


def _build(path: Path) -> None:
    print(f"  building libCacheSim {VERSION}", file=sys.stderr)
    local = Local()
    local.run(("sh", str(INSTALL), *PACKAGES))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with tarfile.open(_sdist(folder)) as archive:
            archive.extractall(folder, filter="data")
        source, build = folder / f"libcachesim-{VERSION}" / "src" / "libCacheSim", folder / "build"
        local.run(("cmake", "-S", str(source), "-B", str(build), *OPTIONS))
        local.run(("cmake", "--build", str(build), "--parallel", "--target", *PROGRAMS))
        # Moved into its place when it is whole, so that a build that was stopped leaves nothing that looks like one.
        whole = path.with_name(path.name + ".building")
        local.run(("rm", "-rf", str(whole)))
        whole.mkdir(parents=True)
        local.run(("cp", *(str(build / "bin" / program) for program in PROGRAMS), str(whole)))
        whole.rename(path)


def _sdist(folder: Path) -> Path:
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check")
    Local().run((*pip, "--no-deps", "--no-binary", ":all:", "--dest", str(folder), f"libcachesim=={VERSION}"))
    path = folder / f"libcachesim-{VERSION}.tar.gz"
    if hashlib.sha256(path.read_bytes()).hexdigest() != SDIST_SHA256:
        raise ZmysqlError(f"PyPI's libcachesim {VERSION} isn't the file that this was written for: see {__file__}")
    return path

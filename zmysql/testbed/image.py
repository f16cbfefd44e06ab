"""Building the guest's image, once per recipe, in the user's cache."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from zmysql.errors import ZmysqlError
from zmysql.host import Local
from zmysql.testbed import processes
from zmysql.testbed.recipe import DEBIAN_13, Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

NEEDED = {  # program: Debian package
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "ssh-keygen": "openssh-client",
    "apt-get": "apt",
}
PRIORITY = {"forky": 100}  # ahead of sid, which has what isn't in forky yet
LOW_PRIORITY = 50
CLEAN_TRIES = 5
FREE_BYTES_NEEDED = 6 << 30


@dataclass(frozen=True, slots=True)
class Image:
    """A built image: root.img, vmlinuz, initrd, nbdkit/, key (the ssh key that opens it), manifest.json."""

    path: Path

    @property
    def substitutions(self) -> list[str]:
        """What stood in for a pin that couldn't be satisfied, as "wanted=candidate fallback…"."""
        found: list[str] = json.loads((self.path / "manifest.json").read_text())["substituted"]
        return found


def cache_dir() -> Path:
    """Give zmysql's folder in the XDG cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zmysql"


def image_path(recipe: Recipe = DEBIAN_13) -> Path:
    """Give the folder where the recipe's image is, or will be."""
    return cache_dir() / "images" / recipe.key()


def built(recipe: Recipe = DEBIAN_13) -> Image | None:
    """Give the image if it has been built."""
    path = image_path(recipe)
    return Image(path) if (path / "manifest.json").exists() else None


def build(say: Callable[[str], None], recipe: Recipe = DEBIAN_13) -> Image:
    """Build the image unless the cache has it; `say` is told each step.

    Two builders wait for each other. What a killed build left is removed first.
    Raises ZmysqlError when a program, the mirror or disk space is missing, or a step fails.
    """
    path = image_path(recipe)
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_suffix(".lock"), lambda: say("waiting for another build")):
        if image := built(recipe):
            return image
        _check_host(path)
        building = path.with_suffix(".building")
        _clean(building)
        building.mkdir()
        try:
            _bootstrap(recipe, building, say)
            building.rename(path)
        except BaseException:
            if (building / "log").exists():
                shutil.copy(building / "log", path.with_suffix(".log"))
            _clean(building)
            raise
        path.with_suffix(".log").unlink(missing_ok=True)
        return Image(path)


@contextmanager
def locked(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold an advisory lock on a file; the kernel drops it with the process, however that ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting is not None:
                    waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists() and path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                yield
                return
            # Whoever held it removed the file as they ended, so this lock guards nothing: take the new file's.


def check_programs(who: str, needed: Mapping[str, str]) -> None:
    """Raise ZmysqlError with what to install unless the programs are here; `needed` gives each one's Debian package."""
    local = Local()
    missing = sorted({package for program, package in needed.items() if not local.has(program)})
    if missing:
        raise ZmysqlError(f"{who} needs {', '.join(missing)}: apt-get install {' '.join(missing)}")


def _check_host(path: Path) -> None:
    check_programs("building the testbed's image", NEEDED)
    free = shutil.disk_usage(path.parent).free
    if free < FREE_BYTES_NEEDED:
        raise ZmysqlError(
            f"building the testbed's image takes 6G in {path.parent}, which has {free >> 20}M free: "
            "make room, or set XDG_CACHE_HOME to a larger file system"
        )


def _clean(building: Path) -> None:
    # mmdebstrap runs in a mount namespace of its own: once its processes are gone, so are its mounts.
    processes.end(building)
    # A killed build without root leaves files of its namespace's users, who may still be writing for a moment.
    for seconds in range(CLEAN_TRIES):
        shutil.rmtree(building, ignore_errors=True)
        if not building.exists():
            return
        time.sleep(seconds)
        Local().run(["mmdebstrap", "--unshare-helper", "rm", "-rf", str(building)], check=False)
    raise ZmysqlError(f"{building} can't be removed: remove it as root, then run again")


def mirror() -> str:
    """Give the Debian mirror that this machine's apt uses, or ZMYSQL_DEBIAN_MIRROR."""
    if named := os.environ.get("ZMYSQL_DEBIAN_MIRROR"):
        return named
    form = "$(ORIGIN) $(REPO_URI) $(COMPONENT)"
    listed = Local().run(["apt-get", "indextargets", "--format", form, "Created-By: Packages"], check=False).stdout
    for line in listed.splitlines():
        origin, uri, component = line.split(" ")
        if origin == "Debian" and component == "main" and "security" not in uri:
            return uri.rstrip("/")
    raise ZmysqlError(
        "apt here knows no Debian mirror: run apt-get update, or set ZMYSQL_DEBIAN_MIRROR to the URL of one"
    )


def _sources(recipe: Recipe) -> str:
    at = mirror()
    # A mirror that lags keeps an expired Release of the moving suites; it is signed all the same.
    lines = [f"deb {at} {recipe.suite} main contrib"]
    lines += [f"deb [check-valid-until=no] {at} {suite} main" for suite in recipe.other_suites]
    return "\n".join(lines) + "\n"


def _preferences(recipe: Recipe) -> str:
    """Give the text for apt_preferences(5) that takes nothing unasked from the other suites."""
    return "\n".join(
        f"Package: *\nPin: release n={suite}\nPin-Priority: {PRIORITY.get(suite, LOW_PRIORITY)}\n"
        for suite in recipe.other_suites
    )


def _bootstrap(recipe: Recipe, out: Path, say: Callable[[str], None]) -> None:
    local = Local()
    # In mmdebstrap's user namespace root is a subordinate user, who must be able to write here.
    out.chmod(0o777)
    (out / "nbdkit").mkdir()
    (out / "nbdkit").chmod(0o777)
    temporary = out / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    local.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "zmysql-testbed", "-f", str(out / "key")])
    (out / "preferences").write_text(_preferences(recipe))
    (out / "sources.list").write_text(_sources(recipe))
    script = out / "customize.sh"
    script.write_text(resources.files("zmysql.testbed").joinpath("customize.sh").read_text(encoding="utf-8"))
    script.chmod(0o755)
    no_services = 'mkdir -p "$1/usr/sbin" && printf "#!/bin/sh\\nexit 101\\n" >"$1/usr/sbin/policy-rc.d"'
    argv = [
        "mmdebstrap",
        "--verbose",
        "--variant=minbase",
        "--format=null",
        "--include=" + ",".join(recipe.packages),
        "--setup-hook=upload " + str(out / "preferences") + " /etc/apt/preferences.d/zmysql",
        "--setup-hook=" + no_services + ' && chmod 755 "$1/usr/sbin/policy-rc.d"',
        f'--customize-hook={script} "$1" {out}',
        recipe.suite,
        "/dev/null",
        str(out / "sources.list"),
    ]
    env = {
        processes.MARK: str(out),
        "TMPDIR": str(temporary),
        "WANTED": "\n".join(pin.line() for pin in recipe.pins),
        "SERVERS": "\n".join(server.line() for server in recipe.servers),
    }
    substituted = _follow(argv, env, out / "log", say)
    shutil.rmtree(temporary, ignore_errors=True)
    _take_over(out)
    manifest = {"recipe": recipe.key(), "suite": recipe.suite, "substituted": substituted}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


_STEPS = {  # what mmdebstrap and dpkg say: what a person is told
    "I: running apt-get update": "reading the package lists",
    "I: downloading packages": "downloading Debian",
    "I: extracting archives": "unpacking Debian",
    "I: installing essential": "installing Debian",
    "I: installing remaining": "installing the kernel, sysbench and the tools",
    "Building initial module": "compiling zfs.ko (some minutes)",
    "Building module(s)": "compiling zfs.ko (some minutes)",
}


def _follow(argv: list[str], env: dict[str, str], log: Path, say: Callable[[str], None]) -> list[str]:
    """Run the build, tell its steps, and give the substitutions; all it prints goes to the log."""
    substituted = []
    said = ""
    with Local().start(argv, merge_stderr=True, env=env) as process, log.open("wb") as out:
        for raw in process.lines():
            out.write(raw)
            line = raw.decode(errors="replace").strip()
            step = next((told for begin, told in _STEPS.items() if line.startswith(begin)), "")
            if line.startswith("STEP "):
                step = line.removeprefix("STEP ")
            if line.startswith("SUBSTITUTED "):
                substituted.append(line.removeprefix("SUBSTITUTED "))
                step = f"SUBSTITUTED: {substituted[-1]}"
            if step and step != said:
                said = step
                say(step)
        status = process.wait()
    if status != 0:
        lines = log.read_text(errors="replace").splitlines()
        # dpkg grumbles in builds that succeed, too.
        errors = [line for begin in (("E: ", "Err:"), "dpkg: ") for line in lines if line.startswith(begin)]
        why = (errors or ["see the log"])[0]
        kept = log.parent.with_suffix(".log")
        raise ZmysqlError(f"building the testbed's image failed while {said or 'starting'}: {why} (log: {kept})")
    return substituted


def _take_over(out: Path) -> None:
    """Make copies of the files that the namespace's root owns: a user can't chown, but owns the folder."""
    out.chmod(0o755)
    (out / "nbdkit").chmod(0o755)
    for path in [*out.rglob("*")]:
        if path.is_file() and path.stat().st_uid != os.getuid():
            copy = path.with_name(path.name + ".own")
            Local().run(["cp", "--sparse=always", str(path), str(copy)])
            copy.replace(path)

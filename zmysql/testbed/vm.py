"""The virtual machine: QEMU and one nbdkit a disk, as one testbed that is a Host."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

from zmysql.errors import UsageError, ZmysqlError
from zmysql.host import SSH_FAILED, Local, Ssh, checked
from zmysql.testbed import processes
from zmysql.testbed.accelerator import TCG, choose
from zmysql.testbed.devices import DEFAULT_DISKS, Bus, parse_disks
from zmysql.testbed.image import Image, build, cache_dir, check_programs, locked
from zmysql.testbed.nbd import disk_argv, wait_for_sockets
from zmysql.testbed.qemu import qemu_argv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from zmysql.host import Completed
    from zmysql.testbed.devices import Disk

# program: Debian package
NEEDED = {"qemu-system-x86_64": "qemu-system-x86", "ssh": "openssh-client", "scp": "openssh-client"}
DEFAULT_MEMORY_BYTES = 3 << 30
BOOT_PATIENCE_S = 300.0
CONSOLE_LINES = 30
_DYING = re.compile(r"Kernel panic|\bOops\b|\bBUG:|double fault|Out of memory")
CRASH_PATIENCE_S = 3.0
EXEC_PATIENCE_S = 1.0
PORT_TRIES = 3
ORDER_TRIES = 5
SOCKET = "ssh.sock"
LONGEST_SOCKET = 90  # a socket's path has 107 characters at most, and ssh adds 17 to it while it binds


@dataclass(frozen=True, slots=True)
class Spec:
    """What a testbed is made of; `up` with the same spec finds nothing to do."""

    disks: tuple[str, ...]
    memory_bytes: int
    cpus: int
    image: str


@dataclass(frozen=True, slots=True)
class State:
    """What `up` wrote down about the machine it started."""

    spec: Spec
    port: int
    accelerator: str
    up: bool


@dataclass(frozen=True, slots=True)
class Testbed:
    """A testbed by name. Its folder holds the disks, sockets, console and state; nothing of it is anywhere else."""

    __test__ = False  # its name begins like a test class of pytest's

    name: str

    def __post_init__(self) -> None:
        """Raise UsageError unless the name can be that of a folder."""
        if not self.name.replace("-", "").replace("_", "").isalnum():
            raise UsageError(f"--name {self.name!r}: use letters, digits, - and _ only")

    @property
    def folder(self) -> Path:
        """The folder of all that belongs to this testbed."""
        return cache_dir() / "testbeds" / self.name

    @property
    def console(self) -> Path:
        """What the guest wrote on its serial console."""
        return self.folder / "console.log"

    def state(self) -> State | None:
        """Give what the last `up` wrote down, or None."""
        try:
            raw = json.loads((self.folder / "state.json").read_text())
            spec = Spec(**{**raw["spec"], "disks": tuple(raw["spec"]["disks"])})
            return State(spec, raw["port"], raw["accelerator"], raw["up"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def alive(self) -> bool:
        """Tell whether this testbed's QEMU runs."""
        return any(name.startswith("qemu") for _, name in processes.owned(self.folder))

    def is_up(self) -> bool:
        """Tell whether the guest has booted, and runs."""
        state = self.state()
        return state is not None and state.up and self.alive()

    def host(self) -> Guest:
        """Give the guest as a Host.

        Raises ZmysqlError when the testbed isn't up, with the end of its console when it crashed.
        """
        state = self.state()
        if state is None or not state.up:
            raise ZmysqlError(f"testbed {self.name} isn't up: zmysql testbed up --name {self.name}")
        if not self.alive():
            raise ZmysqlError(self.crashed())
        return Guest(self, state)

    def crashed(self) -> str:
        """Give the message about a guest that ended by itself: the end of its console is the evidence."""
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        end = "\n".join(f"    {line}" for line in console_end(text)) or "    (nothing)"
        return (
            f"the guest of testbed {self.name} crashed; zmysql testbed up --name {self.name} starts a new one. "
            f"Its console ended with:\n{end}"
        )

    def up(
        self,
        say: Callable[[str], None],
        disks: tuple[str, ...] = DEFAULT_DISKS,
        *,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        cpus: int = 1,
    ) -> bool:
        """Build the image unless it is there, start the machine, wait until it answers; False when it was up already.

        `disks` are declared as for parse_disks, `say` is told each step. What a killed `up` left is removed first.
        Raises UsageError for disks that can't be, and ZmysqlError when a program is missing, a testbed of this name
        runs with another spec, or the guest doesn't come up.
        """
        parsed = parse_disks(self.name, disks)
        _check_host()
        image = build(say)
        spec = Spec(disks, memory_bytes, cpus, image.path.name)
        with self._locked():
            state = self.state()
            if state is not None and self.is_up():
                if state.spec != spec:
                    raise ZmysqlError(
                        f"testbed {self.name} is up with other disks, memory, CPUs or image: "
                        f"zmysql testbed down --name {self.name}, or take another --name"
                    )
                return False
            self._remove()
            self.folder.mkdir(parents=True)
            try:
                self._start(spec, parsed, image, say)
            except BaseException:
                processes.end(self.folder)
                raise
            return True

    def power_cut(self, say: Callable[[str], None]) -> None:
        """Take the guest's power away at once, and boot it again with the same disks; `say` is told each step.

        What the guest had only in its memory is lost. What it had sent to the disks is kept, flushed or not, so it is
        the cut of a machine whose disks have no cache of their own. Its root disk is again as in the image.
        Raises ZmysqlError when the testbed was never up, or the guest doesn't come up again.
        """
        with self._locked():
            state = self.state()
            if state is None:
                raise ZmysqlError(f"testbed {self.name} isn't up: zmysql testbed up --name {self.name}")
            say("cutting the guest's power")
            processes.kill(self.folder, ("qemu", "ssh"))
            disks = parse_disks(self.name, state.spec.disks)
            try:
                # On the port that it had, so that who holds a Guest can go on with it.
                self._boot(replace(state, up=False), disks, Image(cache_dir() / "images" / state.spec.image), say)
            except BaseException:
                processes.kill(self.folder, ("qemu", "ssh"))
                raise

    def down(self) -> bool:
        """End the machine's processes and remove its folder with the disks; give False when there was nothing."""
        if not self.folder.exists():
            return False
        with self._locked():
            self._remove()
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self.folder.with_suffix(".lock")
        with locked(lock):
            yield
            if not self.folder.exists():
                lock.unlink(missing_ok=True)

    def _remove(self) -> None:
        processes.end(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, spec: Spec, disks: Sequence[Disk], image: Image, say: Callable[[str], None]) -> None:
        say("choosing the accelerator")
        accelerator = choose(image)
        say(f"starting {len(disks)} disks")
        mark = {processes.MARK: str(self.folder)}
        for index, disk in enumerate(disks):
            with (self.folder / f"disk{index}.img").open("wb") as backing:
                backing.truncate(disk.size_bytes)
            Local().start_detached(disk_argv(image, index, disk), self.folder / f"disk{index}.log", env=mark)
        wait_for_sockets(self.folder, len(disks))
        self._boot(State(spec, _free_port(), accelerator, up=False), disks, image, say)

    def _boot(self, state: State, disks: Sequence[Disk], image: Image, say: Callable[[str], None]) -> None:
        """Start the machine on the port of `state`, or another if that is taken, and wait until it answers."""
        mark = {processes.MARK: str(self.folder)}
        log = self.folder / "qemu.log"
        how = state.accelerator + (" (no usable KVM)" if state.accelerator == TCG else "")
        # A killed ssh leaves its socket, and no other takes its place.
        (self.folder / SOCKET).unlink(missing_ok=True)
        for attempt in range(PORT_TRIES):
            self._write(state)
            log.unlink(missing_ok=True)
            size = (state.spec.cpus, state.spec.memory_bytes)
            Local().start_detached(qemu_argv(image, state.accelerator, state.port, disks, size=size), log, env=mark)
            say(f"booting the guest under {how}")
            if self._answers(state):
                guest = Guest(self, state)
                Local().start_detached(guest.master_argv(), self.folder / "ssh.log", env=mark)
                guest.order_disks(disks)
                self._write(replace(state, up=True))
                return
            said = log.read_text(errors="replace").strip()
            if "host forwarding" not in said or attempt == PORT_TRIES - 1:
                raise ZmysqlError(f"QEMU ended: {said}" if said else self.crashed())
            state = replace(state, port=_free_port())

    def _write(self, state: State) -> None:
        temporary = self.folder / "state.json.new"
        temporary.write_text(json.dumps(asdict(state), indent=2) + "\n")
        temporary.replace(self.folder / "state.json")

    def _answers(self, state: State) -> bool:
        """Wait until the guest runs a command; give False when QEMU ended instead."""
        guest = Guest(self, state)
        begun = time.monotonic()
        while time.monotonic() < begun + BOOT_PATIENCE_S:
            # A process has no environment to be known by until the kernel has finished loading it.
            if not self.alive() and time.monotonic() > begun + EXEC_PATIENCE_S:
                return False
            if Ssh.run(guest, ["true"], check=False, timeout=30).exit_status == 0:
                return True
            time.sleep(0.5)
        raise ZmysqlError(f"the guest didn't answer within {BOOT_PATIENCE_S:.0f} s. " + self.crashed())


class Guest(Ssh):
    """The guest of a testbed: root on it, over ssh through a port of the loopback interface."""

    def __init__(self, testbed: Testbed, state: State) -> None:
        """Reach the guest that `state` describes."""
        key = cache_dir() / "images" / state.spec.image / "key"
        socket_path = str(testbed.folder / SOCKET)
        super().__init__(
            "root@127.0.0.1",
            options=[
                *("-i", str(key), "-F", "none", "-o", "IdentitiesOnly=yes"),
                # The key of a machine that lives for minutes on our own loopback proves nothing.
                *("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"),
                *("-o", f"Port={state.port}"),
                *(("-o", f"ControlPath={socket_path}") if len(socket_path) <= LONGEST_SOCKET else ()),
            ],
        )
        self.testbed = testbed

    def master_argv(self) -> list[str]:
        """Give the command whose connection the others share: a handshake takes an emulated CPU a second."""
        return ["ssh", *self.options, "-o", "ControlMaster=yes", "-N", self.name]

    def run(
        self, argv: Sequence[str], *, stdin: str | None = None, check: bool = True, timeout: float | None = None
    ) -> Completed:
        """Run a command as Host.run does; a guest that crashed meanwhile is said to have, with its console."""
        done = super().run(argv, stdin=stdin, check=False, timeout=timeout)
        self._check_alive(done.exit_status)
        return checked(done) if check else done

    def call(self, argv: Sequence[str]) -> int:
        """Run a command on our own terminal, likewise."""
        status = super().call(argv)
        self._check_alive(status)
        return status

    def _check_alive(self, exit_status: int) -> None:
        # ssh may notice a moment before QEMU has ended.
        deadline = time.monotonic() + CRASH_PATIENCE_S
        while exit_status == SSH_FAILED and time.monotonic() < deadline:
            if not self.testbed.alive():
                raise ZmysqlError(self.testbed.crashed())
            time.sleep(0.1)

    def order_disks(self, disks: Sequence[Disk]) -> None:
        """Have the guest name its disks sda, sdb, … and nvme0n1, nvme1n1, … as they were declared.

        Raises ZmysqlError when it doesn't, after some tries: whoever opens a disk for a moment keeps its name taken.
        """
        script = resources.files("zmysql.testbed").joinpath("order-disks.sh").read_text(encoding="utf-8")
        wanted = [disk.serial for bus in (Bus.SCSI, Bus.NVME) for disk in disks if disk.model.bus is bus]
        named: list[str] = []
        for attempt in range(ORDER_TRIES):
            how = ("rebind",) if attempt else ()  # which takes seconds, and mostly the order is right
            named = self.run(["sh", "-s", "--", *how], stdin=script).stdout.split()
            if named == wanted:
                return
        raise ZmysqlError(f"the guest names its disks in the order {' '.join(named)}, not {' '.join(wanted)}")

    def shell(self) -> int:
        """Open a login shell on our terminal and give its exit status."""
        return Local().call(["ssh", *self.options, "-t", self.name])

    def install(self, wheel: Path) -> None:
        """Install a wheel of zmysql with pip, as a user would, into the image's virtual environment."""
        self.put(wheel, f"/tmp/{wheel.name}")  # noqa: S108 - the guest has one user
        pip = ["python3", "-m", "pip", "--python", "/opt/zmysql/bin/python", "install", "--quiet", "--no-index"]
        self.run([*pip, "--no-deps", "--force-reinstall", f"/tmp/{wheel.name}"])  # noqa: S108


def console_end(text: str) -> list[str]:
    """Give the lines of a console that tell why the machine ended: from the first of a panic on, 30 at most."""
    lines = [line for line in text.splitlines() if line.strip()]
    words = next((number for number, line in enumerate(lines) if _DYING.search(line)), None)
    return lines[-CONSOLE_LINES:] if words is None else lines[words : words + CONSOLE_LINES]


def names() -> list[str]:
    """Give the names of the testbeds that have a folder."""
    folder = cache_dir() / "testbeds"
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.exists() else []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _check_host() -> None:
    """Raise ZmysqlError unless what `up` runs is here, and can run the guest."""
    check_programs("the testbed", NEEDED)
    if os.uname().machine != "x86_64":
        raise ZmysqlError(f"the testbed's guest is for x86_64; this machine is {os.uname().machine}")

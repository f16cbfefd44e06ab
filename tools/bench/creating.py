"""What `create-pool` costs beside the commands that it runs: against a shell script of the same commands.

Both act on the same virtual machine, in turn, from blank disks. create-pool runs on this side, as for any other host,
and so looks at the disks, asks again before it acts, and reads back; the script does none of that.
"""

from __future__ import annotations

import io
import statistics
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from bench.clock import seconds
from zmysql.cli.create_pool import create_pool
from zmysql.errors import ZmysqlError
from zmysql.host import Local
from zmysql.testbed.vm import Guest, Testbed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zmysql.host import Completed

DISKS = ("hdd-15k:4G*4", "ssd:1G*2", "ssd:2G")
TEMPLATE, POOL = "hybrid", "tank"
RUNS = 5
MOST_RATIO, MOST_OWN_S = 1.3, 0.5
ZMYSQL = str(Path(sys.executable).with_name("zmysql"))


class Timed(Guest):
    """The guest, with the time that is spent waiting for it."""

    waited_s = 0.0

    def run(
        self, argv: Sequence[str], *, stdin: str | None = None, check: bool = True, timeout: float | None = None
    ) -> Completed:
        """Run a command and add its wall time."""
        begun = time.perf_counter()
        try:
            return super().run(argv, stdin=stdin, check=check, timeout=timeout)
        finally:
            self.waited_s += time.perf_counter() - begun


def blank(guest: Guest) -> None:
    """Destroy the pool and take the traces of it off its disks."""
    disks = "/dev/sd?"
    guest.run(("sh", "-ec", f"zpool destroy {POOL}; wipefs -qa {disks}1 {disks}9 {disks}; udevadm settle"))


def own_seconds(bed: Testbed) -> float:
    """Give how long create-pool works itself: all its time, without that of the commands that it waits for."""
    state = bed.state()
    if state is None:
        raise ZmysqlError(f"testbed {bed.name} isn't up")
    guest = Timed(bed, state)
    context = create_pool.make_context("create-pool", [POOL, "-t", TEMPLATE, "-y"])
    context.params["host"] = guest
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        took = seconds(lambda: create_pool.invoke(context))
    # And the start of the program, which commands don't take part in.
    return took - guest.waited_s + seconds(lambda: Local().run((ZMYSQL, "--version")))


def run() -> bool:
    """Print the medians; give whether they are within the limits."""
    bed = Testbed("bench")
    bed.down()
    bed.up(lambda step: print(f"  {step}", file=sys.stderr), DISKS)
    try:
        guest = bed.host()
        create = [ZMYSQL, "create-pool", POOL, "-t", TEMPLATE, "--host", f"testbed:{bed.name}"]
        script = Local().run([*create, "-n"]).stdout
        commands = sum(not line.startswith("#") for line in script.splitlines())
        pairs = []
        for _ in range(RUNS):
            ours = seconds(lambda: Local().run([*create, "-y"]))
            blank(guest)
            theirs = seconds(lambda: guest.run(("sh", "-es"), stdin=script))
            blank(guest)
            pairs.append((ours, theirs, own_seconds(bed)))
            blank(guest)
    finally:
        bed.down()
    ours, theirs, own = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(one / other for one, other, _ in pairs)
    print(
        f"create-pool from {TEMPLATE}, {commands} commands: {ours:.1f} s, a script of them {theirs:.1f} s; "
        f"time ratio {ratio:.2f} (limit {MOST_RATIO}); its own work {own:.2f} s (limit {MOST_OWN_S} s)"
    )
    return ratio <= MOST_RATIO and own <= MOST_OWN_S

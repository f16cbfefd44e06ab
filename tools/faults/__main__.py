"""Runs the whole matrix: each step of each template's plan, killed, and cut off from power; prints the counts.

usage: python -m faults [--seed N] [--name TESTBED] [--only kills|cuts] [--keep] [TEMPLATE…]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from typing import TYPE_CHECKING

from faults.campaign import Campaign
from faults.layouts import needed, side_by_side
from zmysql.errors import ZmysqlError
from zmysql.layout.template import template_names
from zmysql.platforms.device import MediaClass
from zmysql.testbed.vm import Testbed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faults.campaign import Counts

# How fast the disks are is of no matter here, and every template gets its own.
MODELS = {MediaClass.HDD: "hdd-instant:1G", MediaClass.SSD: "ssd:1G", MediaClass.NVME: "nvme:1G"}
FOREIGN = 3  # HDDs: a mirror, and a disk with a file system
FOREIGN_MODEL = "hdd-instant:256M"
MEMORY_BYTES = 3 << 30


def letters(number: int) -> str:
    """Give the end of a SCSI disk's name, as the kernel counts: a to z, aa, ab and so on."""
    end = chr(ord("a") + number % 26)
    return letters(number // 26 - 1) + end if number >= 26 else end  # noqa: PLR2004 - the alphabet


def campaign(bed: Testbed, templates: Sequence[str], source: random.Random) -> Campaign:
    """Boot a testbed with disks enough for the templates, and lay out nothing yet."""
    wanted = needed(templates)
    scsi = [f"sd{letters(number)}" for number in range(FOREIGN + wanted[MediaClass.HDD] + wanted[MediaClass.SSD])]
    free = {
        MediaClass.HDD: scsi[FOREIGN : FOREIGN + wanted[MediaClass.HDD]],
        MediaClass.SSD: scsi[FOREIGN + wanted[MediaClass.HDD] :],
        MediaClass.NVME: [f"nvme{number}n1" for number in range(wanted[MediaClass.NVME])],
    }
    bed.down()
    specs = (f"{FOREIGN_MODEL}*{FOREIGN}", *(f"{MODELS[media]}*{count}" for media, count in wanted.items() if count))
    ordered = sorted(specs, key=lambda spec: ("nvme" in spec, "ssd" in spec, "1G" in spec))
    bed.up(say, tuple(ordered), memory_bytes=MEMORY_BYTES)
    return Campaign(bed, side_by_side(templates, free), scsi[:FOREIGN], source)


begun = time.monotonic()


def say(text: str) -> None:
    """Print what is going on, with the seconds since the start."""
    print(f"[{time.monotonic() - begun:5.0f} s] {text}", flush=True)


def kills(made: Campaign) -> None:
    """Kill each layout's run at each of its steps."""
    for layout in made.layouts:
        while made.kill(layout, lambda _, __: True):
            pass
        made.check_foreign(layout.template)
        say(f"{layout.template}: killed {made.counts.kills} times so far, at {made.steps} steps")


def power_cuts(made: Campaign) -> None:
    """Cut the power until each layout is complete, so that each was at each of its steps at a cut."""
    while made.cut_power(lambda _, __: True):
        say(f"power cut {made.counts.boots}: {made.counts.cuts} layouts were at a step, {made.steps} steps so far")


def report(kind: str, made: Campaign) -> bool:
    """Print what was found; give whether all promises held."""
    counts: Counts = made.counts
    faults = f"{counts.kills} kills" if counts.kills else f"{counts.boots} power cuts of {counts.cuts} running layouts"
    say(
        f"{kind}: {faults} at {made.steps} steps of {len(made.layouts)} layouts; {counts.finished} converged; "
        f"pools lost: {counts.lost}; foreign pools touched: {counts.touched}; promises broken: {len(counts.broken)}"
    )
    for why, times in counts.explained.most_common():
        say(f"  {times:3} times a run explained: {why}")
    for broken in counts.broken:
        say(f"  BROKEN: {broken}")
    return not counts.broken and counts.finished == len(made.layouts)


def main() -> int:
    """Run both campaigns, each on a fresh testbed; exit status 1 when a promise didn't hold."""
    parser = argparse.ArgumentParser(prog="faults", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--name", default="faults", help="of the testbed, so that several can run beside each other")
    parser.add_argument("--only", choices=("kills", "cuts"), help="one kind of fault")
    parser.add_argument("--keep", action="store_true", help="leave the testbed up")
    parser.add_argument("templates", nargs="*", metavar="TEMPLATE", help="only these")
    given = parser.parse_args()
    source = random.Random(given.seed)  # noqa: S311 - to be repeated, not a secret
    templates, bed = given.templates or template_names(), Testbed(given.name)
    say(f"{len(templates)} templates; --seed {given.seed} has the same delays again")
    held = True
    try:
        for kind, run in (("kills", kills), ("cuts", power_cuts)):
            if given.only not in {kind, None}:
                continue
            made = campaign(bed, templates, source)
            run(made)
            made.finish()
            held &= report(kind, made)
    finally:
        if not given.keep:
            bed.down()
    return 0 if held else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ZmysqlError as error:
        print(f"zmysql: {error}", file=sys.stderr)
        sys.exit(error.exit_status)

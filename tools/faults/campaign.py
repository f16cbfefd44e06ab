"""Faults on layouts that are being made, and what must hold after each of them."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faults import foreign
from faults.run import Run

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence

    from faults.layouts import Layout
    from zmysql.testbed.vm import Testbed

    Chosen = Callable[[Layout, str], bool]

NOTHING_TO_DO = "nothing is to be done"
LONGEST_STEP_S = {True: 8.0, False: 1.2}  # about that takes a `zpool create`, and any other step
MOST_RUNS = 60


@dataclass(slots=True)
class Counts:
    """What was done and found. `broken` are the promises that didn't hold, each with the evidence."""

    kills: int = 0
    boots: int = 0
    cuts: int = 0  # layouts that were being made when the power went
    finished: int = 0  # layouts that were complete at the very end
    explained: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    touched: int = 0
    broken: list[str] = field(default_factory=list)


class Campaign:
    """Layouts on one testbed, with a pool and a file system of somebody else's beside them."""

    def __init__(
        self, bed: Testbed, layouts: Sequence[Layout], foreign_disks: Sequence[str], source: random.Random
    ) -> None:
        """Make what is somebody else's on three disks of its own; `source` says how long after a step a fault is."""
        self.bed, self.layouts = bed, layouts
        self.counts = Counts()
        self._host, self._random = bed.host(), source
        self._faulted: dict[str, set[str]] = {layout.name: set() for layout in layouts}
        self._guids: dict[str, str] = {}
        self._complete: set[str] = set()
        self._foreign_disks = foreign_disks
        foreign.make(self._host, foreign_disks)
        self._foreign = foreign.look(self._host, foreign_disks)

    @property
    def steps(self) -> int:
        """At how many different steps there was a fault."""
        return sum(map(len, self._faulted.values()))

    def kill(self, layout: Layout, chosen: Chosen) -> bool:
        """Kill a run once, at a chosen step; False when the layout is complete."""
        run = self._run_to_a_step(layout, chosen)
        if run is None:
            return False
        self._let((run,))
        run.kill()
        self.counts.kills += 1
        self._remember((run,))
        return True

    def cut_power(self, chosen: Chosen) -> bool:
        """Cut the power once, while each layout that isn't complete is at a chosen step; False when all are."""
        unfinished = [layout for layout in self.layouts if layout.name not in self._complete]
        runs = [run for layout in unfinished if (run := self._run_to_a_step(layout, chosen))]
        if not runs:
            return False
        self._remember(runs)
        self._let(runs)
        self.bed.power_cut(lambda _: None)
        for run in runs:
            run.kill()
        self.counts.boots += 1
        self.counts.cuts += len(runs)
        # As the machine's own service would at boot; what can't be imported, the next run has to explain.
        self._host.run(("zpool", "import", "-a"), check=False)
        self._remember(())
        self.check_foreign(f"power cut {self.counts.boots}")
        return True

    def finish(self) -> None:
        """Let each layout be finished in peace, and count those on which nothing is left to do."""
        self._complete.clear()
        for layout in self.layouts:
            self._run_to_a_step(layout, lambda _, __: False)
        self.counts.finished = len(self._complete)
        self.check_foreign("all of it")

    def check_foreign(self, after: str) -> None:
        """Check that what is somebody else's is as it was."""
        now = foreign.look(self._host, self._foreign_disks)
        if now != self._foreign:
            self.counts.touched += 1
            self.counts.broken.append(f"after {after} what is somebody else's was {self._foreign} and is {now}")

    def _let(self, runs: Sequence[Run]) -> None:
        """Let the runs do the steps at which they are, and wait some part of the time that these take."""
        longest = max(LONGEST_STEP_S[run.steps()[-1].startswith("zpool create ")] for run in runs)
        for run in runs:
            run.let()
        time.sleep(self._random.uniform(0, longest))

    def _run_to_a_step(self, layout: Layout, chosen: Chosen) -> Run | None:
        """Give a run that is at a chosen step at which there was no fault yet; None when the layout is complete."""
        faulted, options = self._faulted[layout.name], tuple[str, ...]()
        for _ in range(MOST_RUNS):
            run = Run(layout, self.bed.name, *options)
            step = run.until(lambda step: step not in faulted and chosen(layout, step))
            if step is not None:
                faulted.add(step)
                return run
            self._remember((run,))
            if run.exit_status == 0 and NOTHING_TO_DO in run.said:
                self._complete.add(layout.name)
                return None
            options = self._way_out(layout, run) if run.exit_status else ()
        self.counts.broken.append(f"{layout.template} doesn't converge: {run.said}")
        return None

    def _way_out(self, layout: Layout, run: Run) -> tuple[str, ...]:
        """Do what the run said would help, as a person would, and give the options for the next."""
        said = run.said
        if "runs `zpool create` for it" in said:
            time.sleep(1)
            return self._explained("a killed run's zpool create is still at work")
        if "isn't imported" in said:
            done = [self._host.run(("zpool", "import", pool), check=False) for pool in layout.pools]
            if any(one.exit_status == 0 for one in done):
                return self._explained("a pool is to be imported")
            return self._explained("labels of a pool that never was", "--allow-in-use")
        if "is in use" in said and "--allow-in-use" in said:
            return self._explained("partitions of a pool that never was", "--allow-in-use")
        if "its disks are free again" in said:
            return self._explained("a step failed and was undone")
        if not any(line.startswith("zmysql: ") for line in said.splitlines()) or "Traceback" in said:
            self.counts.broken.append(f"{layout.template} failed without a word: {said}")
        return self._explained(next(line for line in said.splitlines() if line.startswith("zmysql: ")))

    def _explained(self, why: str, *options: str) -> tuple[str, ...]:
        self.counts.explained[why] += 1
        return options

    def _remember(self, runs: Iterable[Run]) -> None:
        """Check that each pool that was there is there still, and take down those that have come to be."""
        listed = self._host.run(("zpool", "list", "-Ho", "name,guid")).stdout
        now = dict(line.split("\t") for line in listed.splitlines())
        for pool, guid in self._guids.items():
            if now.get(pool) != guid:
                self.counts.lost += 1
                self.counts.broken.append(f"the pool {pool} with GUID {guid} is gone; there are {now}")
        created = {pool for run in runs for pool in run.created()}
        self._guids = {pool: guid for pool, guid in now.items() if pool in created or pool in self._guids}

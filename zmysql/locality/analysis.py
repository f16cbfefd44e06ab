"""Asks the engine all that a verdict needs, of one trace. What the answers mean is decided elsewhere."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zmysql.locality.candidates import Served
from zmysql.locality.correction import Counted, corrected
from zmysql.locality.objects import objects
from zmysql.locality.options import Table, cases, larger_recordsizes, options
from zmysql.locality.parameters import parameters_for
from zmysql.locality.profile import profile
from zmysql.locality.reads import load
from zmysql.locality.sampling import sampling_ratio
from zmysql.locality.simulation import LARGEST_BYTES, Case, Replay, simulate
from zmysql.locality.spatial import recordsizes
from zmysql.locality.windows import working_set

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from zmysql.locality._engine import Reads
    from zmysql.locality.devices import DeviceModel
    from zmysql.locality.objects import Objects
    from zmysql.locality.options import Option
    from zmysql.locality.parameters import Parameters
    from zmysql.locality.profile import Profile
    from zmysql.locality.question import Question
    from zmysql.locality.share import Share
    from zmysql.locality.simulation import Outcome
    from zmysql.locality.spatial import Recordsizes
    from zmysql.locality.windows import WorkingSet
    from zmysql.trace.format import Header

SHORTEST_SIMULATED_NS = 10_000_000_000  # an L2ARC is fed once a second, so that less would tell of chance
_MOST_SIMULATED = 10_000_000  # reads in all cases together; beyond, a sample of the records is simulated
_LEAST_SAMPLE = 0.01
_MOST_UNSAMPLED = 40_000_000  # likewise, of larger records, which can't be sampled
L2ARC_HEADER_BYTES = 96  # sizeof (arc_buf_hdr_t) without its L1 part, OpenZFS 2.3


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the engine found, and what could be done about it.

    `served` has the cases of `options`, in whole-trace counts of the file's records, with caches that start empty;
    `warm` has some of them in a second replay of the trace, on the caches that the first one left. `outcomes` are what
    was simulated, empty where the trace is too short for it, and `simulated_share` is the share of the records in it.
    `read_bytes` are the distinct bytes that were read, real ones also of a sample. `share` is what was looked at, None
    for all of the trace; counts are then of one in so many of its records.
    """

    profile: Profile
    objects: Objects
    recordsizes: Recordsizes
    working_set: WorkingSet
    options: tuple[Option, ...]
    served: dict[Case, Served]
    warm: dict[Case, Served]
    outcomes: tuple[Outcome, ...]
    simulated_share: float
    read_bytes: int
    share: Share | None = None

    @property
    def records(self) -> int:
        """The records of the file, in the share or not."""
        return self.share.whole.references if self.share else self.profile.references


def analyse(path: Path, header: Header, question: Question, share: Share | None = None) -> Analysis:
    """Read a trace into memory, and look at it from all sides. With a share of its blocks the header is the share's.

    Raises ZmysqlError, with the file and the way out, where the trace can't be read or the engine isn't built.
    """
    arc_bytes, l2arc_bytes = question.caches.arc_bytes, question.caches.l2arc_bytes
    wanted = _wanted(question)
    reads = load(path, header, share)
    # Beside each other: the engine lets other threads run meanwhile.
    with ThreadPoolExecutor() as pool:
        both_bytes = _both(Case(None, arc_bytes, l2arc_bytes))
        of_recordsizes = pool.submit(recordsizes, reads, header, cache_bytes=both_bytes)
        of_objects = pool.submit(objects, reads, header, cache_bytes=arc_bytes)
        figures = profile(reads, header, cache_sizes(question))
        by_object, by_recordsize = of_objects.result(), of_recordsizes.result()
    read_bytes = round(figures.distinct_bytes / sampling_ratio(header))
    long_enough = figures.span_ns >= SHORTEST_SIMULATED_NS
    found = options(
        arc_bytes,
        l2arc_bytes,
        question.wishes,
        most_ram_bytes=question.rig.memory.most_bytes,
        read_bytes=read_bytes,
        recordsizes=_larger(by_recordsize, question.rig.disk) if long_enough else (),
        tables=_tables(by_object, header),
    )
    sweep = (*cases(found), wanted[-1])
    again = [case for case in sweep if case.l2arc_bytes in {0, l2arc_bytes}]
    simulated = _share(len(reads), len(sweep) + 2 * len(again))
    parameters = replace(parameters_for(header.os, header.zfs), compressratio=question.compressratio)
    counted = Counted(
        profile=figures,
        objects=by_object,
        recordsizes=by_recordsize,
        working_set=working_set(reads, header),
        outcomes=_simulated(reads, header, parameters, sweep, simulated, passes=1) if long_enough else (),
        warm=_simulated(reads, header, parameters, again, simulated, passes=2) if long_enough else (),
    )
    counted = counted if share is None else corrected(counted, share, header)
    served = {case: _of_curve(case, counted.profile, header) for case in wanted}
    return Analysis(
        profile=counted.profile,
        objects=counted.objects,
        recordsizes=counted.recordsizes,
        working_set=counted.working_set,
        options=found,
        served=served | _by_case(counted.outcomes, counted.profile),
        warm=_by_case(counted.warm, counted.profile),
        outcomes=counted.outcomes,
        simulated_share=simulated,
        read_bytes=read_bytes,
        share=share,
    )


def cache_sizes(question: Question) -> set[int]:
    """Give the sizes of LRU caches, ARC alone and with L2ARC, whose hits a verdict needs."""
    return {size for case in _wanted(question) for size in (case.arc_bytes, _both(case))}


def _wanted(question: Question) -> tuple[Case, ...]:
    """Give the cases that don't depend on the trace."""
    arc_bytes, l2arc_bytes = question.caches.arc_bytes, question.caches.l2arc_bytes
    most_ram_bytes = question.rig.memory.most_bytes
    plain = cases(options(arc_bytes, l2arc_bytes, question.wishes, most_ram_bytes=most_ram_bytes, read_bytes=1))
    return (*plain, Case(None, min(2 * arc_bytes, LARGEST_BYTES)))


def _both(case: Case) -> int:
    return case.arc_bytes + case.l2arc_bytes


def _larger(found: Recordsizes, disk: DeviceModel) -> tuple[int, ...]:
    times = {one.recordsize: one.disk_reads * disk.latency_of(one.recordsize).mean_ns for one in found.known}
    return larger_recordsizes(found.own_recordsize, times)


def _by_case(outcomes: Iterable[Outcome], figures: Profile) -> dict[Case, Served]:
    return {
        Case(one.recordsize, one.arc_bytes, one.l2arc_bytes): _of_outcome(one, figures)
        for one in outcomes
        if one.references
    }


def _tables(found: Objects, header: Header) -> tuple[Table, ...]:
    kept = sampling_ratio(header)
    return tuple(
        Table(one.objset, one.object, one.name, one.misses, round(one.distinct_bytes / kept)) for one in found.objects
    )


def _share(references: int, replays: int) -> float:
    """Give the share of the records to simulate, so that a long trace doesn't take for ever."""
    return min(1.0, max(_MOST_SIMULATED / (references * replays), _LEAST_SAMPLE))


def _simulated(
    reads: Reads,
    header: Header,
    parameters: Parameters,
    wanted: Iterable[Case],
    share: float,
    *,
    passes: int,
) -> tuple[Outcome, ...]:
    """Simulate cases with a share of the records, but larger records with all: a sample has no neighbours.

    Of a very long trace larger records aren't simulated; what `recordsizes` says of them is exact.
    """
    wanted = dict.fromkeys(wanted)
    plain = tuple(case for case in wanted if case.recordsize is None)
    larger = tuple(case for case in wanted if case.recordsize is not None)
    found = simulate(reads, header, plain, parameters, replay=Replay(sample=share, passes=passes))
    if not larger or len(reads) * len(larger) * passes > _MOST_UNSAMPLED:
        return found
    return (*found, *simulate(reads, header, larger, parameters, replay=Replay(passes=passes)))


def _of_outcome(found: Outcome, figures: Profile) -> Served:
    misses: dict[tuple[int, int], int] = {}
    for (objset, number, _), count in found.object_misses.items():
        misses[objset, number] = misses.get((objset, number), 0) + count
    return Served(
        references=found.references,
        arc_hits=found.arc_hits,
        l2arc_hits=found.l2arc_hits,
        read_bytes=found.recordsize or figures.distinct_bytes / figures.distinct_blocks,
        span_s=figures.span_ns / 1e9,
        header_bytes=found.l2arc_header_bytes,
        l2arc_written_bytes=found.l2arc_written_bytes,
        warmup_seconds=found.warmup_seconds,
        object_misses=misses,
        simulated=True,
    )


def _of_curve(case: Case, figures: Profile, header: Header) -> Served:
    """Take ARC and L2ARC as one LRU cache: what there is where a trace is too short for more."""
    served = Served(
        references=figures.references,
        arc_hits=figures.hits[case.arc_bytes],
        l2arc_hits=figures.hits[_both(case)] - figures.hits[case.arc_bytes],
        read_bytes=figures.distinct_bytes / figures.distinct_blocks,
        span_s=figures.span_ns / 1e9,
    )
    return replace(served, header_bytes=header_bytes(case.l2arc_bytes, figures, header))


def header_bytes(l2arc_bytes: int, figures: Profile, header: Header) -> int:
    """Give the ARC memory that headers take once the L2ARC is full, or holds all that was read."""
    record_bytes = figures.distinct_bytes / figures.distinct_blocks
    held_bytes = min(float(l2arc_bytes), float(figures.distinct_bytes / sampling_ratio(header)))
    return round(held_bytes / record_bytes * L2ARC_HEADER_BYTES)

"""How far a verdict can be trusted, and what speaks against it. Pure: no more drops ever make it surer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from zmysql.locality.latency import PAYS
from zmysql.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY_DROPS = 0.05  # of the records; beyond, nothing can be said
_SOME_DROPS = 0.001
MUCH_DISORDER = 0.01  # of the records; a few neighbours in the wrong order change no distance that matters
MANY_FIRST_READS = 0.2  # of the reads
_MOSTLY_FIRST_READS = 0.5
_FEW_SAMPLED_BLOCKS = 8192  # SHARDS' error with as many is 0.002 to 0.003 on average, and ten times that at one size
_LARGER = 2  # times as large as what was read
_MUCH_LARGER = 10
_CLOSE = 0.1  # of the line, above or below it
_SEVERAL_DOUBTS = 3
_MODEL_OFF = 0.05  # of the reads
_MODEL_FAR_OFF = 0.2


class Level(StrEnum):
    """How sure a verdict is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Confidence:
    """The level, and each reason in a sentence: what speaks against it, and what was really seen."""

    level: Level
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Doubts:
    """All that a verdict's trust depends on. Counts are of the records in the file; None is unknown.

    `kept` is the share of the blocks that was looked at, `error` the miss ratio's standard error, where it is known.
    `warmup_s` is infinite where the L2ARC was still filling in the end. `gain` is the chosen candidate's, or that of
    the best that can be had. `seen` says what was seen while recording, `settled_by_sight` is a verdict that rests on
    it (then it doesn't matter what a model can't tell), and `model_off` is by how much of the reads the model differs.
    """

    references: int
    first_reads: int
    complete: bool = True
    drops: int | None = 0
    imported: bool = False
    out_of_order: int = 0
    kept: float = 1.0
    sampling_assumed: bool = False
    sampled_blocks: int = 0
    error: float | None = None
    assumed: tuple[str, ...] = ()
    simulated: bool = True
    span_s: float = 0.0
    warmup_s: float | None = None
    read_bytes: int = 0
    db_bytes: int | None = None
    gain: float | None = None
    undecided: bool = False
    seen: str | None = None
    settled_by_sight: bool = False
    model_off: float | None = None

    @property
    def drop_ratio(self) -> float:
        """Records that were lost, of all there would be."""
        return (self.drops or 0) / ((self.drops or 0) + self.references)

    @property
    def first_read_ratio(self) -> float:
        """First reads in all reads."""
        return self.first_reads / self.references


def confidence(doubts: Doubts) -> Confidence:
    """Weigh them: one grave doubt makes it low, as do several small ones; what was seen is said, and outweighs none."""
    found = [*_of_recording(doubts), *_of_database(doubts)]
    if not doubts.settled_by_sight:
        found += [*_of_model(doubts), *_of_figures(doubts)]
    grave = any(is_grave for is_grave, _ in found)
    certain = Level.MEDIUM if found else Level.HIGH
    level = Level.LOW if grave or len(found) >= _SEVERAL_DOUBTS else certain
    seen = (doubts.seen,) if doubts.seen else ()
    return Confidence(level, (*seen, *(sentence for _, sentence in found)))


def _of_recording(doubts: Doubts) -> Iterator[tuple[bool, str]]:
    """Give (grave or not, sentence) of what the recording lacks."""
    if doubts.drop_ratio > MANY_DROPS:
        yield True, f"{_percent(doubts.drop_ratio)} of the records were dropped: this verdict can't be trusted."
    elif doubts.drop_ratio > _SOME_DROPS:
        yield False, f"{_percent(doubts.drop_ratio)} of the records were dropped."
    if not doubts.complete:
        yield False, "The recording was cut off, and what it dropped isn't known."
    elif doubts.drops is None and not doubts.imported:
        yield False, "What the recording dropped isn't known."
    if doubts.out_of_order > MUCH_DISORDER * doubts.references:
        yield False, "Many records are out of the order of their times."
    if doubts.sampling_assumed:
        yield False, "Whether the trace holds all blocks or a sample of them isn't known."
    if doubts.kept < 1:
        few = doubts.sampled_blocks < _FEW_SAMPLED_BLOCKS
        how_far = "" if doubts.error is None else f"; miss ratios are off by about {_percent(doubts.error)}"
        if few or doubts.error is not None:
            yield few, f"It rests on a sample, of {doubts.sampled_blocks:,} distinct records{how_far}."


def _of_model(doubts: Doubts) -> Iterator[tuple[bool, str]]:
    """Give what caches that start empty, for as long as the trace lasts, can't tell."""
    if doubts.undecided:
        yield True, "What the first reads would be in a cache that has run for days decides, and the trace can't tell."
    elif doubts.first_read_ratio > MANY_FIRST_READS:
        grave = doubts.first_read_ratio > _MOSTLY_FIRST_READS
        yield (
            grave,
            f"{_percent(doubts.first_read_ratio)} of the reads are first reads, which tell nothing of a warm cache.",
        )
    if not doubts.simulated:
        yield False, "The trace is too short to simulate an L2ARC: what is said of one is of an LRU cache."
    elif doubts.warmup_s is not None and doubts.warmup_s > doubts.span_s:
        yield False, f"In the simulation the L2ARC was still filling when the trace of {doubts.span_s:,.0f} s ended."


def _of_database(doubts: Doubts) -> Iterator[tuple[bool, str]]:
    """Give what lies beyond what was read."""
    if doubts.db_bytes is not None and doubts.db_bytes > _LARGER * doubts.read_bytes:
        read, size = format_size(doubts.read_bytes), format_size(doubts.db_bytes)
        grave = doubts.db_bytes > _MUCH_LARGER * doubts.read_bytes
        yield grave, f"{read} of the database's {size} were read: of the rest nothing is known."


def _of_figures(doubts: Doubts) -> Iterator[tuple[bool, str]]:
    """Give what was assumed, and what is too close to call."""
    if doubts.assumed:
        yield False, f"The sizes of {' and '.join(doubts.assumed)} are assumed."
    if doubts.model_off is not None and doubts.model_off > _MODEL_OFF:
        off = _percent(doubts.model_off)
        yield doubts.model_off > _MODEL_FAR_OFF, f"The simulation differs from what was seen by {off} of the reads."
    if doubts.gain is not None and abs(doubts.gain / PAYS - 1) < _CLOSE:
        yield False, f"{doubts.gain:.2f} times as fast is close to {PAYS}, from where on it pays."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"

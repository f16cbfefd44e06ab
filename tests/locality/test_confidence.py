"""How sure a verdict is: each doubt on its own, and that none ever helps."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zmysql.locality.confidence import Doubts, Level, confidence

SURE = Doubts(references=1_000_000, first_reads=100_000, span_s=3600, warmup_s=600, read_bytes=10**11, gain=3.0)
RANK = {Level.LOW: 0, Level.MEDIUM: 1, Level.HIGH: 2}


def test_nothing_against_it_is_high() -> None:
    assert confidence(SURE) == confidence(replace(SURE, db_bytes=2 * 10**11))
    assert confidence(SURE).level is Level.HIGH
    assert confidence(SURE).reasons == ()
    assert confidence(replace(SURE, seen="It was seen.")).reasons == ("It was seen.",)


@pytest.mark.parametrize(
    ("changed", "level", "said"),
    [
        ({"drops": 60_000}, Level.LOW, "5.7 % of the records were dropped: this verdict can't be trusted."),
        ({"drops": 50_000}, Level.MEDIUM, "4.8 % of the records were dropped."),
        ({"drops": 900}, Level.HIGH, None),
        ({"drops": None}, Level.MEDIUM, "dropped isn't known"),
        ({"drops": None, "imported": True}, Level.HIGH, None),
        ({"complete": False, "drops": None}, Level.MEDIUM, "cut off"),
        ({"out_of_order": 10_001}, Level.MEDIUM, "out of the order"),
        ({"kept": 0.01, "sampled_blocks": 8191}, Level.LOW, "a sample, of 8,191 distinct records."),
        ({"kept": 0.01, "sampled_blocks": 8192}, Level.HIGH, None),
        ({"kept": 0.01, "sampled_blocks": 9000, "error": 0.01}, Level.MEDIUM, "off by about 1.0 %"),
        ({"sampling_assumed": True}, Level.MEDIUM, "a sample of them isn't known"),
        ({"first_reads": 200_001}, Level.MEDIUM, "20.0 % of the reads are first reads"),
        ({"first_reads": 500_001}, Level.LOW, "50.0 % of the reads are first reads"),
        ({"undecided": True}, Level.LOW, "the trace can't tell"),
        ({"simulated": False}, Level.MEDIUM, "too short to simulate"),
        ({"warmup_s": math.inf}, Level.MEDIUM, "still filling when the trace of 3,600 s ended"),
        ({"db_bytes": 2 * 10**11 + 1}, Level.MEDIUM, "of the rest nothing is known"),
        ({"db_bytes": 10**12 + 1}, Level.LOW, "of the rest nothing is known"),
        ({"assumed": ("ARC", "L2ARC")}, Level.MEDIUM, "The sizes of ARC and L2ARC are assumed."),
        ({"gain": 1.3}, Level.MEDIUM, "1.30 times as fast is close to 1.25"),
        ({"gain": 1.15}, Level.MEDIUM, "is close to 1.25"),
        ({"gain": 1.0}, Level.HIGH, None),
        ({"model_off": 0.06}, Level.MEDIUM, "differs from what was seen by 6.0 % of the reads"),
        ({"model_off": 0.21}, Level.LOW, "differs from what was seen"),
        ({"assumed": ("ARC",), "gain": 1.3, "drops": 50_000}, Level.LOW, "close to"),  # three small ones
    ],
)
def test_each_doubt(changed: dict[str, Any], level: Level, said: str | None) -> None:
    found = confidence(replace(SURE, **changed))
    assert found.level is level
    assert said is None or any(said in reason for reason in found.reasons)
    assert (said is None) == (not found.reasons)


def test_what_was_seen_needs_no_model() -> None:
    doubtful = replace(SURE, first_reads=900_000, simulated=False, gain=1.25, model_off=0.5, settled_by_sight=True)
    assert confidence(doubtful).level is Level.HIGH
    assert confidence(replace(doubtful, drops=100_000)).level is Level.LOW


doubts = st.builds(
    Doubts,
    references=st.integers(1, 10**9),
    first_reads=st.just(0),
    complete=st.booleans(),
    drops=st.integers(0, 10**9),
    imported=st.booleans(),
    out_of_order=st.integers(0, 10**9),
    kept=st.sampled_from([1.0, 0.01]),
    sampled_blocks=st.integers(1, 10**6),
    error=st.none() | st.floats(0, 1),
    assumed=st.sampled_from([(), ("ARC",)]),
    simulated=st.booleans(),
    span_s=st.floats(0, 1e6),
    warmup_s=st.none() | st.floats(0, 1e6) | st.just(math.inf),
    read_bytes=st.integers(1, 10**15),
    db_bytes=st.none() | st.integers(1, 10**15),
    gain=st.none() | st.floats(0.1, 100),
    undecided=st.booleans(),
    settled_by_sight=st.booleans(),
    model_off=st.none() | st.floats(0, 1),
)


@given(doubts, st.integers(1, 10**9))
def test_more_drops_never_make_it_surer(one: Doubts, more: int) -> None:
    worse = replace(one, drops=(one.drops or 0) + more)
    assert RANK[confidence(worse).level] <= RANK[confidence(one).level]
    assert worse.drop_ratio <= 0.05 or confidence(worse).level is Level.LOW


@given(doubts, st.integers(1, 10**15), st.floats(0, 1))
def test_less_knowledge_never_makes_it_surer(one: Doubts, larger: int, off: float) -> None:
    for worse in (
        replace(one, db_bytes=(one.db_bytes or one.read_bytes) + larger),
        replace(one, undecided=True),
        replace(one, complete=False),
        replace(one, simulated=False) if one.warmup_s is None else one,
        replace(one, model_off=max(one.model_off or 0, off)),
        replace(one, settled_by_sight=False),
    ):
        assert RANK[confidence(worse).level] <= RANK[confidence(one).level]

"""
Minute records that an emitter could have made, and one line of them by hand.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from neuron_wire import MinuteRecord

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

MINUTE_MS = 1_800_000_000_000

PRINTABLE = st.characters(min_codepoint=0x20, max_codepoint=0x7E)
COUNTS = st.integers(0, (1 << 63) - 1)
AMOUNTS = st.floats(0, 2.0**62)
PERCENTS = st.integers(0, 10_000).map(lambda hundredths: hundredths / 100)

OPTIONAL_COUNTS = [one.name for one in dataclasses.fields(MinuteRecord) if one.type == "int | None"]
OPTIONAL_AMOUNTS = [
    one.name for one in dataclasses.fields(MinuteRecord) if one.type == "float | None"
]


def texts(longest: int) -> SearchStrategy[str]:
    """
    What may name something: printable, not blank.
    """
    return st.text(PRINTABLE, min_size=1, max_size=longest).filter(str.strip)


@st.composite
def records(draw: Any, min_cores: int = 0, max_cores: int = 140) -> MinuteRecord:
    """
    Any record of *min_cores* to *max_cores* cores, with any members absent.
    """
    cores = draw(st.integers(min_cores, max_cores))
    # A short pattern repeated: drawing a thousand letters one by one takes seconds.
    pattern = draw(st.lists(st.tuples(st.sampled_from("bau?"), PERCENTS), min_size=1, max_size=9))
    drawn = (pattern * (cores // len(pattern) + 1))[:cores]
    idle = draw(st.lists(st.integers(0, 100_000), min_size=1, max_size=5))
    optional = {name: draw(st.none() | COUNTS) for name in OPTIONAL_COUNTS}
    optional.update({name: draw(st.none() | AMOUNTS) for name in OPTIONAL_AMOUNTS})
    return MinuteRecord(
        cluster=draw(texts(255)),
        instance_id=draw(texts(128)),
        boot=draw(st.from_regex(r"[0-9a-f]{20}", fullmatch=True)),
        seq=draw(st.integers(1, (1 << 63) - 1)),
        minute_ms=draw(st.integers(0, 50_000_000)) * 60_000,
        covered_seconds=draw(st.integers(0, 6000)) / 100,
        reports=draw(COUNTS),
        core_state="".join(letter for letter, _ in drawn),
        utilization_percent=tuple(None if letter == "?" else value for letter, value in drawn),
        idle_minutes=tuple((idle * (cores // len(idle) + 1))[:cores]),
        identity_guessed=draw(st.booleans()),
        bye=draw(st.booleans()),
        instance_type=draw(st.none() | texts(128)),
        region=draw(st.none() | texts(128)),
        availability_zone=draw(st.none() | texts(128)),
        ultraserver_id=draw(st.none() | texts(128)),
        **optional,
    )


def line_of(**changes: Any) -> dict[str, Any]:
    """
    The members of a small minute line, written by hand; None takes one out.
    """
    whole = {
        "_aws": {"Timestamp": MINUTE_MS, "CloudWatchMetrics": []},
        "Schema": 1,
        "Kind": "minute",
        "Boot": "01a1fd4e75ef2470b16e",
        "Seq": 7,
        "ClusterName": "blue",
        "InstanceId": "i-0123456789abcdef0",
        "CoveredSeconds": 59.5,
        "Reports": 12,
        "NeuronCores": 4,
        "CoreState": "ba?u",
        "NeuronCoreUtilization": [97.5, 0.25, 0],
        "CoreIdleMinutes": [0, 3, 2, 60],
    }
    whole.update(changes)
    return {name: value for name, value in whole.items() if value is not None}

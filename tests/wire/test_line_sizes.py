"""How long a minute line gets, whatever happens in the minute."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
from hypothesis import given
from longest_members import LABELS
from wire_records import (
    FAILURES,
    HEALTH,
    RARE_ECC,
    RARE_HEALTH,
    everything,
    line_with_metrics,
    records,
)

from neuron_wire import encode, length
from neuron_wire.catalogue import EXECUTIONS, members_of
from neuron_wire.catalogue import HEALTH as HEALTH_MEMBERS
from neuron_wire.length import METADATA_BYTES, max_minute_bytes, split_minute

PROMISED = {32: 2_400, 64: 2_700, 128: 3_600}
SETS = [["ClusterName"], ["ClusterName", "InstanceId"]]
UNVERIFIED = "GivenUnverifiedCores"
HALF_A_DAY = 999
MONTH = 44_640
USUAL: dict[str, Any] = {"lifecycle": "on-demand", "paid": None}
"""How nearly every instance is paid; what else there is has its bytes measured."""
LAST = {"Holders", "HoldersMore", "Owners", "OwnersMore"}


def size(record):
    """Bytes of the minute line of *record* at `--metrics instance`, without lists of runtimes."""
    kept, _ = split_minute(record.members())
    bounded = {name: value for name, value in kept.items() if name not in LAST}
    return len(line_with_metrics(bounded, record.minute_ms, SETS).encode())


@pytest.mark.parametrize("health", [{}, HEALTH], ids=["no health", "health"])
@pytest.mark.parametrize("cores", [1, 32, 33, 64, 65, 128, 129, 1024])
def test_a_minute_without_rare_members_needs_no_measure(cores, health, monkeypatch):
    """
    Numbers as long as they get, after half a day of idleness: there is room, so nothing is encoded.
    """
    record = dataclasses.replace(
        everything("a" * cores, HALF_A_DAY), details={}, health=health, **USUAL
    )
    with monkeypatch.context() as unmeasured:
        unmeasured.delattr(length, "encode")
        assert (record.members(), {}) == split_minute(record.members())
    assert size(record) <= max_minute_bytes(cores)


@pytest.mark.parametrize(("cores", "promised"), PROMISED.items())
def test_nothing_stands_aside_in_an_ordinary_minute(cores, promised):
    """
    Two kinds of failure and two reasons for a drop after half a day of idleness are still one line,
    at most without the name and the versions that every other minute has.
    """
    few = dict(itertools.islice(FAILURES.items(), 2))
    dropped = {name: RARE_HEALTH[name] for name in ("DroppedSpoolFull", "SpoolRecordsOlder")}
    for letters in ("bau", "b", "a", "u"):
        record = everything((letters * cores)[:cores], HALF_A_DAY)
        record = dataclasses.replace(record, details=few, health={**HEALTH, **dropped}, **USUAL)
        assert split_minute(record.members())[1].items() <= LABELS.items(), letters
        assert size(record) <= promised, letters


@given(records())
def test_what_stands_aside_is_not_lost(record):
    """The two parts are the record's members, each in one of them, in their order."""
    record = dataclasses.replace(record, details=FAILURES, health={**HEALTH, **RARE_HEALTH})
    members = record.members()
    kept, aside = split_minute(members)
    assert members == kept | aside
    assert not kept.keys() & aside.keys()
    for part in (kept, aside):
        assert [name for name in members if name in part] == list(part)


def test_failures_stand_aside_first_and_together():
    """The runtime lines have them too; what the stack reads never goes."""
    record = everything("bau" * 13, 99)
    assert [*LABELS, UNVERIFIED, *FAILURES] == list(split_minute(record.members())[1])
    record = everything("a" * 64, MONTH)
    kept, aside = split_minute(record.members())
    assert {*LABELS, *FAILURES, *RARE_HEALTH, *RARE_ECC, UNVERIFIED} == aside.keys()
    assert {*HEALTH, "ExecutionErrors", "CoreIdleMinutes", *LAST} <= kept.keys()


@pytest.mark.parametrize(
    ("idle", "texts"), [(MONTH, {"paid": "sunk"}), (MONTH, {"lifecycle": "capacity-block"}),
                        (MONTH, {}), (HALF_A_DAY + 1, {"paid": "avoidable"})],
)  # fmt: skip
def test_what_is_long_makes_the_name_stand_aside_where_there_is_no_room(idle, texts):
    """How it is paid, or a month of idleness: what the stack reads of it stays."""
    record = dataclasses.replace(
        everything("a" * 64, idle), details={}, health=HEALTH, **{**USUAL, **texts}
    )
    kept, aside = split_minute(record.members())
    assert aside.items() <= LABELS.items()
    assert {"AccountId", "Lifecycle"} <= kept.keys()
    assert size(record) <= PROMISED[64]


def test_a_long_name_stands_aside_where_there_is_no_room():
    """A tag Name may have 256 characters; what is read of it has 128."""
    record = dataclasses.replace(everything("a" * 64, MONTH), details={}, health=HEALTH)
    kept, aside = split_minute({**record.members(), "InstanceName": "x" * 128})
    assert {**LABELS, "InstanceName": "x" * 128} == aside
    bounded = {name: value for name, value in kept.items() if name not in LAST}
    assert len(line_with_metrics(bounded, record.minute_ms, SETS)) <= PROMISED[64]
    narrow = dataclasses.replace(everything("b", MONTH), details={}, health=HEALTH)
    assert {} == split_minute({**narrow.members(), "InstanceName": "x" * 128})[1]


def test_the_worst_minute_has_every_member():
    """A rare member that is added later is in the sizes above, or this says so."""
    rare = [one.name for one in (*EXECUTIONS, *HEALTH_MEMBERS) if one.is_rare]
    assert sorted(rare) == sorted([*FAILURES, *RARE_HEALTH])
    assert set(rare) <= members_of("more").keys()


def test_the_room_for_metrics_is_what_they_take():
    """Eight metrics by cluster and by instance, less nothing."""
    record = everything("bau", 0)
    with_metrics = line_with_metrics(record.members(), record.minute_ms, SETS)
    plain = encode(record.members())
    assert METADATA_BYTES == len(with_metrics) - len(plain)


def test_the_bounds_are_those_promised():
    """At most 2,400 bytes for 32 cores, 2,700 for 64, 3,600 for 128."""
    expected = {0: 2_400, 1: 2_400, 32: 2_400, 33: 2_700, 64: 2_700, 65: 3_600, 128: 3_600}
    assert expected == {cores: max_minute_bytes(cores) for cores in expected}


@pytest.mark.parametrize("cores", [129, 256, 1024])
def test_more_cores_have_more_bytes(cores):
    """Beyond 128 each core has 14 bytes more: a letter, its utilization, its idle minutes."""
    assert 3_600 + 14 * (cores - 128) == max_minute_bytes(cores)
    assert size(everything("a" * cores, MONTH)) <= max_minute_bytes(cores)

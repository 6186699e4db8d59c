"""The numbers of a rollup are those of the reference, for any records."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aggregator.rollups.rollup import RollupInProgress
from neuron_accounts.core_time import CostRules
from neuron_accounts.prices import Prices
from neuron_wire.catalogue import ROLLUP_NUMBERS
from neuron_wire.core_members import core_ranges
from neuron_wire.holders import Holder
from neuron_wire.merging import merge_clusters, merge_records
from neuron_wire.names import MICRO
from neuron_wire.owners import Owner
from proof import reference
from proof.factories.records import MINUTE, record
from proof.rollup_differences import EPSILON
from tests.aggregator.rollups.rollup_texts import idle_owners

OF_THE_REGISTRY = {"SilentInstances", "CoveragePercent"}
OWNER_NAMES = ["ml/a-0", "ml/a-1", "slurm:1 u", "[unnamed]"]
ANY_RESERVATIONS = st.sampled_from([None, "none", "known", "unknown"])
PAID_BY_TYPE = {"inf2.xlarge": "committed"}
REFERENCE_TYPES = ["trn1.2xlarge", "trn1.2xlarge", "trn1.2xlarge", "inf2.xlarge", "trn9.huge", None]


@st.composite
def parts(draw, instance_id, most):
    """Draw one to *most* records of an instance and minute, all of one release."""
    records = []
    owners = draw(st.sampled_from([_owners, _holders, _nothing]))
    for seq in range(1, draw(st.integers(1, most)) + 1):
        state = draw(st.text("bbau?", max_size=4))
        percent = st.sampled_from([0.0, 0.01, 12.34, 20.0, 40.0, 50.0, 80.0, 100.0])
        count = st.none() | st.integers(0, 9)
        amount = st.none() | st.sampled_from([0.1, 0.2, 0.3, 1e-6])
        records.append(
            record(
                instance_id=instance_id,
                seq=seq,
                boot=draw(st.sampled_from(["a", "b"])),
                cluster=draw(st.sampled_from(["training", "training", "other"])),
                covered_seconds=draw(st.sampled_from([0.0, 5.01, 29.94, 33.3, 36.06, 60.0])),
                core_state=state,
                utilization_percent=tuple(
                    None if letter == "?" else draw(percent) for letter in state
                ),
                idle_minutes=tuple(draw(st.integers(13, 17)) for _ in state),
                instance_type=draw(st.sampled_from(REFERENCE_TYPES)),
                executions=draw(count),
                paid=draw(st.sampled_from([None, None, "committed", "avoidable"])),
                lifecycle=draw(st.sampled_from([None, "on-demand", "spot", "capacity-block"])),
                execution_errors=draw(count),
                latency_p50_mean_s=draw(amount),
                latency_p99_max_s=draw(amount),
                tera_flops=draw(amount),
                device_memory_used_bytes=draw(count),
                device_memory_total_bytes=draw(count),
                ecc_corrected_rise=draw(count),
                ecc_uncorrected_rise=draw(count),
                readings=draw(st.just({}) | st.builds(dict, HardwareFaults=st.integers(0, 9))),
                **owners(draw, state),
            )
        )
    return records


def _nothing(draw, _state):
    return {"reservations": draw(ANY_RESERVATIONS)}


def _owners(draw, state):
    """Draw owners of some cores, and cores whose owners had no room in the line."""
    given = {"reservations": draw(ANY_RESERVATIONS)}
    if not state:
        return given
    some = st.sets(st.integers(0, len(state) - 1))
    listed = []
    left_out = draw(st.just(set()) | some)
    for name in OWNER_NAMES:
        held, free = (
            {core for core in draw(some) if (state[core] == "u") is is_free}
            for is_free in (False, True)
        )
        done = draw(st.sampled_from([None, 0, 0, 0, 4]))
        quiet = draw(st.integers(14, 16)) if done == 0 or not held else None
        if held or free:
            numbers = done if held else None, quiet
            listed.append(Owner(core_ranges(held), name, None, core_ranges(free), *numbers))
            left_out -= held | free
    return {"owners": tuple(listed), "owners_more": core_ranges(left_out), **given}


def _holders(draw, state):
    """Draw holders as an older emitter reports them; each process has a pid of its own."""
    some = st.sets(st.integers(0, len(state)), min_size=1)
    listed = [
        Holder(core_ranges(draw(some)), None if name == "[unnamed]" else name, pid)
        for pid, name in enumerate(OWNER_NAMES)
        if draw(st.booleans())
    ]
    return {"holders": tuple(listed), "reservations": None}


@st.composite
def clusters(draw, most_parts=3):
    """Draw records of up to nine instances."""
    count = draw(st.integers(1, 9))
    return [draw(parts(f"i-{number}", most_parts)) for number in range(count)]


def in_progress(instances):
    """Return the sums over the records of each instance."""
    rules = CostRules(Prices({"inf2.xlarge": 0.5}), paid_by_type=PAID_BY_TYPE)
    sums = RollupInProgress("training", rules)
    for own in instances:
        sums.fold_instance(merge_records(own))
    return sums


HALF_HELD = record(
    core_state="au",
    utilization_percent=(0.0, 0.0),
    idle_minutes=(20, 20),
    instance_type="inf2.xlarge",
    owners=(Owner("0", "ml/a", None, "", 0, 20),),
    reservations="none",
    paid="avoidable",
    executions=0,
    execution_errors=0,
)
"""Two avoidable parts of the cost; random examples rarely have both."""


@given(clusters())
@example([[HALF_HELD]])
@example([[HALF_HELD, replace(HALF_HELD, cluster="other", boot="b")]])
def test_every_number_is_that_of_the_reference(instances):
    """
    Each gauge, tally, cost and owner of a cluster and of each type is the reference's.

    Instances report in one of two clusters, in both, or move from one to the other.
    """
    records = [record for own in instances for record in own]
    parts = defaultdict(list)
    for minute_record in records:
        parts[minute_record.cluster, minute_record.instance_id].append(minute_record)
    sums = defaultdict(lambda: in_progress([]))
    for (cluster, _), instance in merge_clusters(parts).items():
        sums[MINUTE, cluster].fold_instance(instance)
    prices = {**reference.REFERENCE_USD_PER_HOUR, "inf2.xlarge": Fraction("0.5")}
    expected = reference.rollups(records, usd_per_hour=prices, paid_by_type=PAID_BY_TYPE)
    assert expected.keys() == sums.keys()
    owners = reference.idle_owners(records, usd_per_hour=prices)
    types = reference.types(records)
    for key in sums:
        _compare(sums[key].finish([]), expected[key], owners[key], types[key])


def _compare(rollup, expected, owners, types):
    """Compare a rollup with the reference's numbers, rows of owners and rows of types."""
    actual = {**rollup.gauges, **rollup.tallies}
    for name in ROLLUP_NUMBERS.keys() - OF_THE_REGISTRY - {"LateRecords"}:
        assert (name in expected) == (name in actual), name
        assert expected.get(name) == pytest.approx(actual.get(name), abs=EPSILON), name
    assert expected["Records"] == rollup.records
    assert {
        name: (owner.cores, owner.unpriced, owner.instances, owner.minutes)
        for name, owner in owners.items()
    } == {
        owner.owner: (
            Fraction(owner.idle, MICRO),
            Fraction(owner.unpriced, MICRO),
            owner.instances,
            owner.minutes,
        )
        for owner in idle_owners(rollup)
    }
    for owner in idle_owners(rollup):
        cost = float(owners[owner.owner].cost * MICRO)
        assert abs(cost - (owner.cost or 0)) <= 1
    rows = {row["InstanceType"]: row for row in rollup.properties.get("Types", ())}
    assert types.keys() == rows.keys()
    for instance_type, numbers in types.items():
        row = {**numbers, "InstanceType": instance_type}
        assert row == pytest.approx(rows[instance_type], abs=EPSILON)


BUSY_HUNDREDTHS = st.lists(st.integers(1, 10_000), min_size=1, max_size=6)


@given(st.lists(BUSY_HUNDREDTHS, min_size=1, max_size=12))
def test_stragglers_are_those_of_the_reference(instances):
    """Stragglers are those of the reference, for busy instances of one type with any means."""
    records = [
        [
            record(
                instance_id=f"i-{number:02}",
                core_state="b" * len(own),
                utilization_percent=tuple(hundredths / 100 for hundredths in own),
                idle_minutes=(0,) * len(own),
            )
        ]
        for number, own in enumerate(instances)
    ]
    rollup = in_progress(records).finish([])
    (expected,) = reference.rollups([own[0] for own in records]).values()
    assert expected.get("Stragglers") == rollup.gauges.get("Stragglers")
    assert (rollup.gauges.get("Stragglers") or 0) == len(rollup.lists.get("StragglerInstances", ()))

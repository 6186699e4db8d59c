"""
Rollups are exact, whatever happens to the records on their way.

Records are delivered in any order, split and repeated in any way, each in an item of its own or in
packs. Functions are killed at any step, runs overlap, EC2 stops instances. In the end the last line
of each minute and cluster has the gauges and the types that `reference.py` computes from the
records alone, and all lines of the minute add up to its tallies.
"""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.environment import Rules
from neuron_wire.catalogue import ROLLUP_NUMBERS
from proof import reference
from proof.factories.records import MINUTE, record
from proof.rollup_differences import CHECKED_TALLIES, EPSILON
from tests.aggregator.cluster_world import (
    ONE_EACH,
    WORLD_FATES,
    WORLD_PRICES,
    ClusterWorld,
    live_through,
    minute_records,
    universes,
)

EXACT_USD_PER_HOUR = {
    **reference.REFERENCE_USD_PER_HOUR,
    **{name: Fraction(str(price)) for name, price in WORLD_PRICES.overrides.items()},
}


def compare(world: ClusterWorld, records, *, may_overstate: bool) -> None:
    """
    Check that the gauges of the last line and the sums of all tallies are the reference's numbers.

    A gauge that the reference does not have is in no line. A tally that it does not have adds up to
    0.
    """
    lines = world.rollups()
    expected = reference.rollups(records, usd_per_hour=EXACT_USD_PER_HOUR)
    types = reference.types(records)
    assert expected.keys() <= lines.keys()
    for key, numbers in expected.items():
        published = lines[key]
        last = published[-1]
        rows = {row.pop("InstanceType"): row for row in map(dict, last.get("Types", ()))}
        assert types[key].keys() == rows.keys()
        for name, own in types[key].items():
            assert own == pytest.approx(rows[name], abs=EPSILON), name
        covered_s = numbers.pop("CoveredSeconds")
        count = numbers.pop("Records")
        numbers["SilentInstances"] = 0  # no instance is silent before the fifth minute
        numbers["CoveragePercent"] = 100 * covered_s / (60 * numbers["Instances"])
        numbers["LateRecords"] = count - published[0]["Records"]
        assert count == last["Records"]
        overstated = last.get("TalliesOverstated", {})
        assert may_overstate or not overstated
        for name in ROLLUP_NUMBERS:
            if name in CHECKED_TALLIES:
                amounts = [line[name] for line in published if name in line]
                assert all(amount >= 0 for amount in amounts)
                actual = sum(amounts) - overstated.get(name, 0)
                assert numbers.get(name, 0) == pytest.approx(actual, abs=EPSILON), name
                assert bool(amounts) >= (name in numbers), name
            else:
                assert (name in numbers) == (name in last), name
                assert numbers.get(name) == pytest.approx(last.get(name), abs=EPSILON), name


@given(ONE_EACH, st.lists(WORLD_FATES, max_size=8))
def test_gauges_are_the_last_line_and_tallies_the_sum_of_all(records, fates):
    """
    With one emitter per instance, gauges and tallies are exact, whatever happens to the records.
    """
    world = live_through(records, fates)
    compare(world, records, may_overstate=False)


@given(universes(minute_records()), st.lists(WORLD_FATES, max_size=8))
def test_with_restarts_and_second_emitters_a_line_names_what_it_cannot_take_back(records, fates):
    """
    If a late record makes an amount smaller, the last line has the excess of the published sum. All
    other numbers are exact.
    """
    world = live_through(records, fates)
    compare(world, records, may_overstate=True)


@settings(max_examples=50)
@given(universes(minute_records()), st.data())
def test_order_copies_and_invocations_do_not_matter(records, data):
    """
    Records that are delivered twice, shuffled, split and packed before the minutes close give the
    same bytes as one delivery.
    """
    start_s = (MINUTE + 1) * 60
    plain = ClusterWorld(start_s)
    shuffled = ClusterWorld(start_s)
    plain.deliver(records)
    remaining = data.draw(st.permutations(records * 2))
    while remaining:
        size = data.draw(st.integers(1, len(remaining)))
        shuffled.deliver(remaining[:size], in_packs=data.draw(st.booleans()))
        remaining = remaining[size:]
    plain.settle()
    shuffled.settle()
    assert plain.printed == shuffled.printed


@settings(max_examples=50)
@given(universes(minute_records()))
def test_closing_again_prints_nothing(records):
    """
    After all minutes are published, a redelivery of all records prints no line.

    Lines without a record are not compared: if a cluster lost its last instance and got it back
    before the instance was silent, later records show that the cluster existed all along.
    """
    world = ClusterWorld((MINUTE + 1) * 60)
    world.deliver(records)
    world.settle()

    def totals():
        read = [(json.loads(text), text) for text in world.printed]
        until_ms = (MINUTE + 3) * 60_000
        return [
            text
            for line, text in read
            if line["_aws"]["Timestamp"] <= until_ms and line.get("Records") != 0
        ]

    before = totals()
    world.deliver(records)
    world.deliver(records, in_packs=True)
    world.settle()
    assert before == totals()
    assert {} == world.table.markers


@pytest.mark.parametrize("after", [False, True])
def test_a_run_killed_at_any_step_costs_nothing(after):
    """
    A run that is killed at any of its steps leaves everything to the next run, which still counts
    an instance that reported only once as silent later.
    """
    records = [record(instance_id=f"i-{number}") for number in range(3)]

    def closed(step):
        world = ClusterWorld((MINUTE + 1) * 60, Rules(silent_after_minutes=1))
        world.deliver(records)
        world.now_s += 50
        outcome = world.close(killed_at=step, after=after)
        world.settle()
        return world.rollups(), outcome

    expected, _ = closed(None)
    assert 3 == expected[MINUTE + 2, "training"][-1]["SilentInstances"]
    step = 0
    outcome = None
    while outcome is None:
        step += 1
        rollups, outcome = closed(step)
        assert expected == rollups, step
    assert step > 32 * 5

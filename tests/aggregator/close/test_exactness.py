"""
Exact from input: whatever happens to the records on their way, the rollups are right.

Records are delivered in any order, split and repeated in any way, each in an
item of its own or in packs, functions are killed at any step, runs meet each
other in the middle, EC2 stops instances. In the end the last line
of each minute and cluster has the gauges and the types, and all its lines together have the
tallies, that `reference.py` works out from the records alone.
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
    Gauges of the last line, and tallies of all lines, are the reference's, number by number.

    A gauge that the reference does not have is in no line, a tally comes to nothing.
    """
    found = world.rollups()
    expected = reference.rollups(records, usd_per_hour=EXACT_USD_PER_HOUR)
    types = reference.types(records)
    assert expected.keys() <= found.keys()
    for key, numbers in expected.items():
        published = found[key]
        last = published[-1]
        rows = {row.pop("InstanceType"): row for row in map(dict, last.get("Types", ()))}
        assert types[key].keys() == rows.keys()
        for name, own in types[key].items():
            assert own == pytest.approx(rows[name], abs=EPSILON), name
        covered_s = numbers.pop("CoveredSeconds")
        count = numbers.pop("Records")
        numbers["SilentInstances"] = 0  # nobody is before the fifth minute
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
    """With one emitter on each instance both are exact, whatever happened."""
    world = live_through(records, fates)
    compare(world, records, may_overstate=False)


@given(universes(minute_records()), st.lists(WORLD_FATES, max_size=8))
def test_with_restarts_and_second_emitters_a_line_names_what_it_cannot_take_back(records, fates):
    """
    Where a late record makes an amount smaller, the last line says by how much
    the sum is too high; apart from that everything is exact.
    """
    world = live_through(records, fates)
    compare(world, records, may_overstate=True)


@settings(max_examples=50)
@given(universes(minute_records()), st.data())
def test_order_copies_and_invocations_do_not_matter(records, data):
    """
    Delivered twice, shuffled, cut anyhow and packed or not before the minutes
    close, the records give the same bytes as delivered once in one piece.
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
    Once everything is told, a redelivery of everything, in whatever form, is told nobody.

    Left out are lines without a record: a cluster that was left and come back to
    within the minutes that are no silence was there all along, in hindsight.
    """
    world = ClusterWorld((MINUTE + 1) * 60)
    world.deliver(records)
    world.settle()

    def totals():
        read = [(json.loads(one), one) for one in world.printed]
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
    Killed at each of its steps in turn, a run leaves everything to the next one; who reported
    once is silent later on all the same.
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

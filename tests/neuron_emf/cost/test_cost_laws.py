"""What must hold of the bill of any fleet, whatever was measured and whatever AWS charges."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.settings.minutes import RUNTIME_LINES, TIERS
from neuron_emf.cost.assumptions import MODES
from neuron_emf.cost.bill import GROUPS, bill, emitter_bytes, usd
from neuron_emf.cost.estimate import estimate
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.measurements import read
from neuron_emf.cost.question import Question
from neuron_emf.cost.tariff import listed

FOUND = read()
FLEETS = st.builds(
    FleetSpec,
    instances=st.integers(1, 99_999),
    clusters=st.integers(1, 100),
    cores=st.integers(1, 127),
    types=st.integers(1, 5),
)
SETUPS = st.builds(
    Setup,
    mode=st.sampled_from(MODES),
    has_stack=st.booleans(),
    stream_shards=st.none() | st.integers(0, 20),
    retention_days=st.integers(1, 3_652),
    metrics=st.sampled_from(TIERS),
    runtime_lines=st.sampled_from(RUNTIME_LINES),
    runtimes=st.integers(0, 64),
    is_high_resolution=st.booleans(),
    period_s=st.integers(2, 15),
)
ROUNDING = 1.001
"""Straight lines between batches that were measured are not quite a function of the fleet."""


def total(fleet, setup, tariff=None):
    return usd(bill(FOUND, fleet, setup, tariff))


@given(FLEETS, SETUPS)
def test_a_bill_is_the_sum_of_its_groups(fleet, setup):
    """Each entry is in one of them, and none is negative."""
    entries = bill(FOUND, fleet, setup)
    assert sum(usd(entries, group) for group in GROUPS) == pytest.approx(usd(entries))
    assert all(entry.usd >= 0 and entry.quantity >= 0 for entry in entries)
    assert {entry.group for entry in entries} <= set(GROUPS)


@given(FLEETS, SETUPS)
def test_one_more_of_anything_never_costs_less(fleet, setup):
    """An instance, a cluster, a type, a core, a runtime, a day of retention."""
    at = total(fleet, setup)
    more = [
        (replace(fleet, instances=fleet.instances + 1), setup),
        (replace(fleet, clusters=fleet.clusters + 1), setup),
        (replace(fleet, types=fleet.types + 1), setup),
        (fleet, replace(setup, runtimes=setup.runtimes + 1)),
        (fleet, replace(setup, retention_days=setup.retention_days + 1)),
        (fleet, replace(setup, period_s=setup.period_s - 1)),
    ]
    assert [] == [other for other in more if total(*other) * ROUNDING < at]


@given(FLEETS, SETUPS)
def test_one_more_core_never_makes_a_line_shorter(fleet, setup):
    """Nor two from 100 to 101, where a line more is needed for them."""
    wider = replace(fleet, cores=fleet.cores + 1)
    assert emitter_bytes(FOUND, fleet, setup) <= emitter_bytes(FOUND, wider, setup)


@given(FLEETS, SETUPS)
def test_more_detail_never_costs_less(fleet, setup):
    """Metrics by instance and by core, lines of runtimes, and of every report."""

    def costs(**settings):
        return total(fleet, replace(setup, **settings))

    tiers = [costs(metrics=tier) for tier in ("none", "cluster", "instance", "core")]
    assert tiers == sorted(tiers)
    runtimes = [costs(runtime_lines=lines) for lines in ("none", "changes", "all")]
    assert runtimes == sorted(runtimes)
    assert costs(is_high_resolution=False) <= costs(is_high_resolution=True)
    assert costs(has_stack=False) < costs(has_stack=True)
    assert costs() < costs(tags=(("team", "search"),))


@given(FLEETS, SETUPS)
def test_twice_the_instances_write_twice_as_much(fleet, setup):
    """And keeping it twice as long costs twice as much."""
    twice = replace(fleet, instances=2 * fleet.instances)
    assert emitter_bytes(FOUND, twice, setup) == pytest.approx(
        2 * emitter_bytes(FOUND, fleet, setup)
    )
    kept = [
        next(entry.usd for entry in bill(FOUND, fleet, one) if entry.what.startswith("kept"))
        for one in (setup, replace(setup, retention_days=2 * setup.retention_days))
    ]
    assert kept[1] == pytest.approx(2 * kept[0])


@given(FLEETS, SETUPS, st.floats(0.1, 100))
def test_other_prices_change_nothing_but_the_money(fleet, setup, factor):
    """Every price times a factor is the bill times that factor, and every other way's, too."""
    prices = {
        name: replace(one, usd=None if one.usd is None else factor * one.usd)
        for name, one in listed().prices.items()
    }
    answers = [
        estimate(FOUND, Question(fleet, "trn1.32xlarge", setup, tariff, 21.5))
        for tariff in (listed(), replace(listed(), prices=prices))
    ]
    assert answers[1].usd == pytest.approx(factor * answers[0].usd)
    for one, other in zip(answers[0].ways, answers[1].ways, strict=True):
        assert (one.usd is None) == (other.usd is None)
        assert one.usd is None or other.usd == pytest.approx(factor * one.usd)
        assert answers[0].share_of(one.usd) == pytest.approx(answers[1].share_of(other.usd))


@given(FLEETS, SETUPS, st.sampled_from(sorted(listed().prices)))
def test_an_unknown_price_is_in_no_sum_and_is_named(fleet, setup, name):
    """Never 0: where it is needed the whole is unknown, and what is known is the rest."""
    price = listed().prices[name]
    tariff = replace(listed(), prices={**listed().prices, name: replace(price, usd=None)})
    answer = estimate(FOUND, Question(fleet, "trn1.32xlarge", setup, tariff, 21.5))
    whole = bill(FOUND, fleet, setup)
    needed = {entry.what for entry in whole if name in entry.prices and entry.quantity}
    assert needed == {entry.what for entry in answer.unknown}
    assert (answer.usd is None) == bool(needed)
    rest = usd(entry for entry in whole if entry.what not in needed)
    assert answer.known_usd == pytest.approx(rest)
    if needed:
        assert (None, None) == (answer.further_instance_usd, answer.share_of(100.0))


@given(FLEETS, SETUPS)
def test_what_one_more_adds_is_the_difference_of_two_bills(fleet, setup):
    """Of an instance among as many clusters, of a cluster with as many instances."""
    answer = estimate(FOUND, Question(fleet, "trn1.32xlarge", setup, listed(), None))
    further = total(replace(fleet, instances=fleet.instances + 1), setup)
    assert answer.further_instance_usd == pytest.approx(further - answer.usd, abs=1e-6)
    further = total(replace(fleet, clusters=fleet.clusters + 1), setup)
    assert answer.further_cluster_usd == pytest.approx(further - answer.usd, abs=1e-6)
    assert answer.fleet_usd is None

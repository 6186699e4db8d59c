"""Cores, idle time and money add up as in the rollups."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.figures import idle_cores
from neuron_emf.reading import Records
from neuron_emf.top.fleet import Figures, figures_of, fleet_of, total
from neuron_emf.top.holders import idle_owners
from neuron_emf.top.window import Window
from neuron_wire import parse
from neuron_wire.holders import core_indexes
from neuron_wire.merging import merge
from neuron_wire.prices import Prices
from tests.neuron_emf.reading.lines import record

FIGURES = st.builds(
    Figures,
    **{name: st.integers(0, 99) for name in ("instances", "silent", "cores", "busy", "unknown")},
    idle_minutes=st.integers(0, 999),
    held_usd=st.integers(0, 99).map(float),
    sunk_usd=st.integers(0, 99).map(float),
)
GAUGES = {
    "Instances": lambda one: one.instances,
    "SilentInstances": lambda one: one.silent,
    "DuplicateEmitters": lambda one: one.duplicates,
    "NeuronCores": lambda one: one.cores,
    "BusyCores": lambda one: one.busy,
    "AttachedIdleCores": lambda one: one.attached_idle,
    "UnattachedCores": lambda one: one.unattached,
    "UnknownCores": lambda one: one.unknown,
    "IdleCores": lambda one: one.idle_cores,
    "IdleCostPerHour": lambda one: one.usd_per_hour,
    "AvoidableCostPerHour": lambda one: one.held_usd + one.unheld_usd,
    "UnpricedCores": lambda one: one.unpriced_cores,
    "NeuronCoreUtilization": lambda one: one.utilization_percent,
    "CoveragePercent": lambda one: one.coverage_percent,
    "FlopsPercentOfBf16Peak": lambda one: one.percent_of_peak,
}


def cores(state, minutes):
    """Members of a record by the letters of its cores and for how long each was not busy."""
    return {
        "core_state": state,
        "idle_minutes": tuple(minutes[: len(state)]),
        "utilization_percent": (0.0,) * len(state),
    }


def test_every_minute_shows_what_its_rollup_says(hour):
    """
    Sixty minutes of two clusters, each as it looked at its end: the stack's figures, from the raw
    lines.
    """
    by_minute = {}
    for line in hour.lines:
        by_minute.setdefault(_minute_ms(line), []).append(line)
    rollups = {}
    for text in hour.rollups:
        rollup = json.loads(text)
        if rollup["Kind"] == "rollup":
            rollups[rollup["ClusterName"], rollup["_aws"]["Timestamp"]] = rollup
    window, compared = Window(), 0
    for minute_ms, lines in sorted(by_minute.items()):
        window.add(Records().of(lines))
        for cluster in fleet_of(window, idle_after=15).clusters:
            rollup = rollups[cluster.name, minute_ms]
            for gauge, of in GAUGES.items():
                assert rollup[gauge] == pytest.approx(of(cluster.figures), abs=1e-6), gauge
            rows = {row["Owner"]: row["Cores"] for row in rollup.get("TopIdleOwners", ())}
            assert rows == _idle_by_owner(cluster)
            compared += 1
    assert 2 * 60 == compared


@given(st.lists(FIGURES, max_size=5), st.lists(FIGURES, max_size=5))
def test_the_total_of_totals_is_the_total(some, others):
    """However the instances are put together; the longest idle core is one of theirs."""
    assert total([*some, *others]) == total([total(some), total(others)])
    assert max((one.idle_minutes for one in some), default=0) == total(some).idle_minutes


@given(
    st.text("bau?", max_size=16),
    st.lists(st.integers(0, 40), min_size=16, max_size=16),
    st.integers(1, 40),
)
def test_only_a_known_core_is_idle(state, minutes, idle_after):
    """An unknown core keeps its minutes, but nobody knows whether it is busy again."""
    found = idle_cores(record(**cores(state, minutes)), idle_after)
    expected = [
        core
        for core, letter in enumerate(state)
        if letter in {"a", "u"} and minutes[core] >= idle_after
    ]
    assert expected == found


def test_what_a_core_costs_is_its_share_of_the_instance():
    """Two of four cores of an instance at 21.50 USD."""
    figures = figures_of(merge([record()]), 15, Prices())
    assert 10.75 == figures.usd_per_hour
    assert (2, 30, 50) == (figures.idle_cores, figures.idle_minutes, figures.idle_core_minutes)
    assert 20.0 == figures_of(merge([record()]), 15, Prices({"trn1.32xlarge": 40})).usd_per_hour


@pytest.mark.parametrize("instance_type", ["trn2.48xlarge", "p5.48xlarge", None])
def test_without_a_price_there_is_no_cost(instance_type):
    """Not 0 USD: unknown, and counted apart."""
    figures = figures_of(merge([record(instance_type=instance_type)]), 15, Prices())
    assert figures.usd_per_hour is None
    assert (4, 2) == (figures.unpriced_cores, figures.unpriced_idle_cores)


def test_without_a_known_core_nothing_is_zero():
    """No telemetry, or nobody could tell how many cores there are."""
    dark = record(core_state="??", utilization_percent=(None, None), idle_minutes=(20, 20))
    figures = figures_of(merge([dark]), 15, Prices())
    assert (2, 2, 0) == (figures.cores, figures.unknown, figures.idle_cores)
    assert (None, None) == (figures.utilization_percent, figures.usd_per_hour)
    none = record(core_state="", utilization_percent=(), idle_minutes=(), covered_seconds=0.0)
    figures = figures_of(merge([none]), 15, Prices())
    assert (1, 0, 0) == (figures.instances, figures.cores, figures.coverage_percent)
    assert Figures().coverage_percent is None


def _idle_by_owner(cluster):
    """Of the hour, in which no core has two."""
    sums = Counter()
    for instance in cluster.instances:
        for name, ranges, _ in idle_owners(instance.record, 15):
            sums[name] += len(core_indexes(ranges))
    return sums


def _minute_ms(line):
    found = parse(line)
    return getattr(found, "minute_ms", None) or json.loads(line)["Timestamp"]

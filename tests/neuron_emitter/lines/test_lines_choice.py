"""Chosen metrics: the members that can be chosen, and what CloudWatch extracts."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.errors import SettingsError
from neuron_emitter.lines import parse_choice
from neuron_wire.catalogue import CHOOSABLE, INSTANCE_METRICS, MINUTE_METRICS
from neuron_wire.extraction import violations
from tests.neuron_emitter.lines.line_records import (
    ANY_LINE_SETTINGS,
    WITH_CLUSTER,
    WITH_CORE,
    WITH_INSTANCE,
    data,
    dimension_names,
    full,
    lines_of,
)
from tests.neuron_wire.wire_records import records

METRICS_OF_TIER = len(MINUTE_METRICS) + len(INSTANCE_METRICS)


@pytest.mark.parametrize(
    ("tier", "expected"),
    [
        ("none", {WITH_CLUSTER: 2, WITH_INSTANCE: 2}),
        ("cluster", {WITH_CLUSTER: len(MINUTE_METRICS) + 1, WITH_INSTANCE: 2}),
        ("instance", {WITH_CLUSTER: METRICS_OF_TIER + 1, WITH_INSTANCE: METRICS_OF_TIER + 2}),
        (
            "core",
            {WITH_CLUSTER: METRICS_OF_TIER + 1, WITH_INSTANCE: METRICS_OF_TIER + 2, WITH_CORE: 4},
        ),
        ("legacy", {(): 6, WITH_INSTANCE: 2}),
    ],
)
def test_a_choice_adds_what_the_tier_lacks(tier, expected):
    """A choice adds only metrics that the tier lacks, so that no metric is defined twice."""
    metric = ("BusyCores", "DeviceMemoryUsed", "BusyCores@instance", "HostCpuPercent@instance")
    assert expected == dimension_names(lines_of(full(4), metrics=tier, metric=metric))


ANY_CHOICES = st.lists(
    st.sampled_from([name + suffix for name in CHOOSABLE for suffix in ("", "@instance")]),
    max_size=9,
).map(tuple)


@given(records(), ANY_LINE_SETTINGS, ANY_CHOICES)
def test_no_value_is_counted_twice(record, settings, metric):
    """No line defines a metric twice for a dimension set, at any tier and dimensions."""
    for line in lines_of(record, dataclasses.replace(settings, metric=metric)):
        directives = json.loads(line).get("_aws", {}).get("CloudWatchMetrics", [])
        defined = [
            (definition["Name"], *sorted(names))
            for directive in directives
            for names in directive["Dimensions"]
            for definition in directive["Metrics"]
        ]
        assert len(set(defined)) == len(defined)
        assert not directives or [] == violations(line)


def test_more_than_100_values_are_in_further_lines():
    """Chosen metrics of over 100 values have further lines; each value is extracted once."""
    chosen = ("NeuronCoreUtilization", "CoreIdleMinutes")
    record = full(130)
    written = lines_of(record, metrics="none", metric=chosen)
    assert ["minute", "more", "more"] == [json.loads(line)["Kind"] for line in written]
    assert [[]] * 3 == [violations(line) for line in written]
    by_cluster = (("ClusterName", record.cluster),)
    expected = (record.utilization_percent, record.idle_minutes)
    extracted = data(written)
    for name, values in zip(chosen, expected, strict=True):
        assert [round(value, 2) for value in values] == extracted["Neuron", name, by_cluster]


@pytest.mark.parametrize(
    ("assigned_names", "reported"),
    [
        (["CoreState"], "not a gauge or tally"),
        (["ReportsRead"], "not a gauge or tally"),
        (["LoadedModels"], "not a gauge or tally"),
        (["IdleCores"], "not a gauge or tally"),
        (["ErrorsGeneric"], "not a gauge or tally"),
        (["DeviceMemoryUsed@cluster"], "not a gauge or tally"),
        (["devicememoryused@instance"], "Did you mean DeviceMemoryUsed?"),
        ([f"Number{number}" for number in range(101)], "101, maximum 100"),
    ],
)
def test_only_numbers_of_a_minute_can_be_chosen(assigned_names, reported):
    """A label, a total, a member of another line, an unknown name or over 100 names are refused."""
    with pytest.raises(SettingsError, match=reported.replace("?", r"\?")):
        parse_choice(tuple(assigned_names))

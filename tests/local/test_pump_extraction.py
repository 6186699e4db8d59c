"""One line becomes exactly the metrics that CloudWatch would make of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.pump.extraction import extract

NOW_MS = 1_800_000_000_000


def line(metrics, *, sets=(("ClusterName",),), timestamp_ms=NOW_MS, **properties):
    """One EMF document with *metrics* as (definition, value) by name."""
    directive = {
        "Namespace": "Neuron/Cluster",
        "Dimensions": [list(names) for names in sets],
        "Metrics": [{"Name": name, **extra} for name, (extra, _) in metrics.items()],
    }
    values = {name: value for name, (_, value) in metrics.items()}
    aws = {"Timestamp": timestamp_ms, "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": aws, "ClusterName": "a", **properties, **values})


def test_a_number_becomes_one_value_with_everything_the_line_says():
    """Namespace, name, dimensions, unit, resolution, and the line's own timestamp."""
    definition = {"Unit": "Count", "StorageResolution": 1}
    text = line({"BusyCores": (definition, 7)}, timestamp_ms=NOW_MS - 3_600_000)
    (datum,) = extract(text, NOW_MS).data
    assert "Neuron/Cluster" == datum.namespace
    assert "BusyCores" == datum.name
    assert (("ClusterName", "a"),) == datum.dimensions
    assert ("Count", 1) == (datum.unit, datum.resolution_s)
    assert NOW_MS - 3_600_000 == datum.timestamp_ms
    assert {7.0: 1} == datum.counts
    (datum,) = extract(line({"A": ({}, 0)}), NOW_MS).data
    assert ("None", 60) == (datum.unit, datum.resolution_s)  # CloudWatch's defaults


@given(st.lists(st.sampled_from([0.0, 0.5, 99.25, 100.0]), min_size=1, max_size=100))
def test_an_array_keeps_every_value(values):
    """As values with their counts: nothing is averaged, so percentiles stay true."""
    (datum,) = extract(line({"NeuronCoreUtilization": ({}, values)}), NOW_MS).data
    again = [value for value, count in datum.counts.items() for _ in range(count)]
    assert sorted(values) == sorted(again)


def test_every_dimension_set_makes_a_metric_of_its_own():
    """The same value under the cluster, under cluster and type, and under no dimension."""
    sets = [("ClusterName",), ("ClusterName", "InstanceType"), ()]
    text = line({"Instances": ({}, 3)}, sets=sets, InstanceType="t")
    both = (("ClusterName", "a"), ("InstanceType", "t"))
    assert [both[:1], both, ()] == [one.dimensions for one in extract(text, NOW_MS).data]


@pytest.mark.parametrize(
    "text",
    [
        '{"_aws": {"Timestamp": 1800000000000, "CloudWatchMe',
        '{"_aws": {"Timestamp": 1}, "A": NaN}',
        '{"_aws": 7}',
    ],
)
def test_an_unreadable_line_is_refused(text):
    """Half a line, a number that is not JSON, a member that is no object."""
    found = extract(text, NOW_MS)
    assert () == found.data
    assert found.refused


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (line({"A": ({}, True)}), "value"),
        (line({"A": ({}, "7")}), "value"),
        (line({"A": ({}, [1.0] * 101)}), "values"),
        (line({"A": ({"Unit": "Cores"}, 1)}), "unit"),
        (line({"A": ({"StorageResolution": 5}, 1)}), "resolution"),
        (line({"A": ({}, 1)}, sets=[("Missing",)]), "dimension_value"),
        (line({"A": ({}, 1)}).replace('[["ClusterName"]]', "null"), "dimensions"),
        (line({"A": ({}, 1)}, timestamp_ms=NOW_MS + 2 * 3_600_000 + 1), "timestamp"),
        (line({"A": ({}, 1)}, timestamp_ms=NOW_MS - 14 * 86_400_000 - 1), "timestamp"),
    ],
)
def test_one_bad_metric_loses_the_whole_line_and_is_counted(text, rule):
    """As CloudWatch does: the line stays in the log, its metrics do not exist."""
    found = extract(text, NOW_MS)
    assert () == found.data
    assert (rule,) == found.refused


@pytest.mark.parametrize(
    "text",
    [
        line({"A": ({}, 1)}, sets=[]),
        line({"A": ({}, 1)}).replace('"Dimensions": [["ClusterName"]], ', ""),
        line({"A": ({}, 1)}, ClusterName=" "),
    ],
    ids=["no set", "no member", "a blank value"],
)
def test_without_a_dimension_it_is_a_metric_without_dimensions(text):
    """As others saw it: OpenTelemetry's exporters leave them out, a blank value strays."""
    (datum,) = extract(text, NOW_MS).data
    assert ((), {1.0: 1}) == (datum.dimensions, datum.counts)

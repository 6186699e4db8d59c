"""A line is built so that CloudWatch extracts it, or not at all."""

from __future__ import annotations

import math

import pytest
from wire_records import MINUTE_MS

from neuron_wire import WireFormatError
from neuron_wire.emf import (
    emf_line,
    violations,
)


def built(**changes):
    """The line that `emf_line` builds from good arguments with some replaced."""
    arguments = {
        "dimension_sets": [["ClusterName"], []],
        "metrics": {"BusyCores": 3, "NeuronCoreUtilization": [97.5, 0.0]},
        "units": {"BusyCores": "Count", "NeuronCoreUtilization": "Percent"},
        "properties": {"Names": ["a"], "ClusterName": "blue", "Total": 4.0},
        "timestamp_ms": MINUTE_MS,
        **changes,
    }
    return emf_line(arguments.pop("namespace", "Neuron/Cluster"), **arguments)


def test_a_built_line_is_extracted():
    """`_aws` first, scalars, then arrays; compact; every metric with its unit."""
    expected = (
        '{"_aws":{"Timestamp":1800000000000,"CloudWatchMetrics":[{"Namespace":"Neuron/Cluster",'
        '"Dimensions":[["ClusterName"],[]],"Metrics":[{"Name":"BusyCores","Unit":"Count"},'
        '{"Name":"NeuronCoreUtilization","Unit":"Percent"}]}]},"ClusterName":"blue","Total":4,'
        '"BusyCores":3,"Names":["a"],"NeuronCoreUtilization":[97.5,0]}'
    )
    assert expected == built()
    assert [] == violations(expected)


@pytest.mark.parametrize(
    "changes",
    [
        {"namespace": "AWS/x"},
        {"properties": {}},
        {"properties": {"ClusterName": "blue", "BusyCores": 3}},
        {"properties": {"ClusterName": "blue", "Share": math.nan}},
        {"properties": {"ClusterName": "x" * 1025}},
        {"metrics": {"BusyCores": True}},
        {"metrics": {"BusyCores": math.inf}},
        {"metrics": {"BusyCores": [1] * 101}},
        {"metrics": {}},
        {"metrics": {"ClusterName": 1}, "units": {"ClusterName": "Count"}},
        {"units": {"BusyCores": "count", "NeuronCoreUtilization": "Percent"}},
        {"dimension_sets": []},
        {"timestamp_ms": 1.5},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_line_that_would_not_be_extracted_is_not_built(changes):
    """It fails where it is made, not in CloudWatch, which would say nothing."""
    with pytest.raises(WireFormatError) as caught:
        built(**changes)
    assert "not_extractable" == caught.value.reason

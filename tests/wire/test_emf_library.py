"""
What aws-embedded-metrics 3.5 writes without a word, and we do not send.

The library is run for each: when a release of it begins to refuse one of
these, the test says so and the trap can be struck off.
"""

from __future__ import annotations

import pytest
from aws_embedded_metrics.logger.metrics_context import MetricsContext
from aws_embedded_metrics.serializers.log_serializer import LogSerializer

from neuron_wire.emf import violations


def context(namespace="Neuron"):
    """A context with one dimension and one metric, all in order."""
    made = MetricsContext(namespace=namespace)
    made.set_dimensions([{"ClusterName": "blue"}])
    made.put_metric("BusyCores", 3, "Count")
    return made


def rules(made):
    """The rules that the library's lines break."""
    lines = LogSerializer.serialize(made)
    return {one.rule for line in lines for one in violations(line)}


def test_what_is_in_order_is_extracted():
    """The traps below are the only difference to this one."""
    assert set() == rules(context())


def test_a_metric_that_takes_the_place_of_a_dimension_is_caught():
    """All members share one root: the dimension becomes a number."""
    made = context()
    made.put_metric("ClusterName", 1, "Count")
    assert {"collision", "dimension_value"} == rules(made)


def test_a_property_that_takes_the_place_of_a_dimension_is_caught():
    """Properties are written after dimensions and win."""
    made = context()
    made.set_property("ClusterName", 5)
    assert {"dimension_value"} == rules(made)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("nan")]])
def test_a_property_that_is_not_finite_is_caught(value):
    """NaN is not JSON: the whole line would be lost for metrics."""
    made = context()
    made.set_property("Share", value)
    assert {"json"} == rules(made)


@pytest.mark.parametrize("value", [True, 1e200, -1e200])
def test_a_metric_that_is_no_number_for_cloudwatch_is_caught(value):
    """True is written as true; 1e200 is beyond 2^360."""
    made = context()
    made.put_metric("Strange", value, "Count")
    assert {"value"} == rules(made)


def test_a_line_of_two_megabytes_is_caught():
    """The library knows no size; PutLogEvents would refuse the event."""
    made = context()
    made.set_property("filler", "x" * 2_000_000)
    assert {"size"} == rules(made)


def test_no_dimension_set_is_caught():
    """No dimensions is `[[]]`; the library writes `[]`."""
    made = context()
    made.set_dimensions([])
    assert {"dimensions"} == rules(made)


def test_no_metric_is_caught():
    """A directive without metrics extracts nothing."""
    made = MetricsContext(namespace="Neuron")
    made.set_dimensions([{"ClusterName": "blue"}])
    assert {"metrics"} == rules(made)


@pytest.mark.parametrize("namespace", [":Neuron", "n" * 256, "AWS/Neuron"])
def test_a_namespace_that_metrics_cannot_have_is_caught(namespace):
    """Stricter in the API behind EMF than in the library."""
    assert {"namespace"} == rules(context(namespace))


def test_a_control_character_in_a_dimension_is_caught():
    """It is ASCII, and no dimension may have it."""
    made = context()
    made.set_dimensions([{"ClusterName": "bl\tue"}])
    assert {"dimension_value"} == rules(made)


def test_lines_are_split_and_nothing_is_lost():
    """250 values are three lines of at most 100, each extracted."""
    made = context()
    for value in range(250):
        made.put_metric("NeuronCoreUtilization", value, "Percent")
    assert set() == rules(made)
    assert 3 == len(LogSerializer.serialize(made))

"""A line is built so that CloudWatch extracts it, or not at all."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wire_records import MINUTE_MS

from neuron_wire import WireFormatError, encode
from neuron_wire.extraction import violations
from neuron_wire.line import emf_line, sendable_line
from tests.wire.emf_documents import ANYTHING, BOUNDARIES, directive, document


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
        {"namespace": "AWS/x"}, {"metrics": {}}, {"metrics": {"BusyCores": math.inf}},
        {"dimension_sets": []}, {"timestamp_ms": 1.5},
        {"properties": {"ClusterName": "blue", "BusyCores": 3}},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_that_would_not_be_extracted_is_not_built(changes):
    """It fails where it is made, not in CloudWatch, which would say nothing."""
    with pytest.raises(WireFormatError) as caught:
        built(**changes)
    assert "not_extractable" == caught.value.reason


def by_text(whole):
    """What is wrong first with a document, as whoever reads its line finds it."""
    try:
        found = violations(encode(whole))
    except WireFormatError as error:
        return str(error)
    # Without metadata a line defines no metric: it is stored, and nothing is to be extracted.
    return next((one.sentence for one in found if "_aws" in whole or one.rule != "metadata"), None)


def by_document(whole):
    """What is wrong first with a document, as it is found before it is a line."""
    try:
        assert encode(whole) == sendable_line(whole)
    except WireFormatError as error:
        return str(error)
    return None


def test_the_boundary_of_each_rule_is_found_before_the_line_is_written():
    """As it is in the text: what is checked is never parsed again."""
    for rule, extracted, refused in BOUNDARIES:
        assert None is by_document(extracted), rule
        assert by_document(refused), rule
        assert by_text(refused) == by_document(refused), rule


@given(
    ANYTHING,
    st.dictionaries(st.sampled_from(["Namespace", "Dimensions", "Metrics"]), ANYTHING),
    st.dictionaries(st.text(max_size=3), ANYTHING, max_size=3),
)
@example(None, {}, {"filler": "x" * 1_048_576})
@example("\ud800", {}, {"filler": "x" * 1_048_576})
@example(None, {"Dimensions": [["\u20ac"]]}, {"Share": math.nan})
def test_a_document_is_refused_exactly_as_its_line_would_be(value, changes, others):
    """With the same sentence, whatever stands where; what passes is encoded as ever."""
    for whole in (
        {**directive(**changes), **others},
        document(BusyCores=value, ClusterName=value, **others),
        document(_aws=None, Other=value),
    ):
        assert by_text(whole) == by_document(whole)

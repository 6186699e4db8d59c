"""Every rule of CloudWatch's metric extraction, on both sides of its limit."""

from __future__ import annotations

import json
import math

import pytest

from neuron_wire.extraction import MAX_EXTRACTED_BYTES, UNITS
from neuron_wire.names import DAY_MS, HOUR_MS
from tests.neuron_wire.emf_documents import (
    BOUNDARIES,
    dimension,
    directive,
    document,
    metric,
    rules,
)
from tests.neuron_wire.wire_records import WIRE_MINUTE_MS


@pytest.mark.parametrize("rule", sorted({rule for rule, _, _ in BOUNDARIES}))
def test_the_boundary_of_a_rule(rule):
    """The last document within a rule's limit passes; the next breaks this rule only."""
    for broken, extracted, refused in BOUNDARIES:
        if broken == rule:
            assert [] == rules(extracted)
            assert {rule} == set(rules(refused)), refused


def test_units_are_the_27_of_cloudwatch():
    """CloudWatch has 27 units: bits and bytes in five scales, their rates, and seven others."""
    assert 27 == len(UNITS)
    assert {"Terabits/Second", "Kilobytes", "Bits", "Count/Second", "None"} <= UNITS
    assert [] == [unit for unit in sorted(UNITS) if rules(metric(Unit=unit))]


@pytest.mark.parametrize(
    "line",
    [
        '{"a":1,"a":1}',
        json.dumps(document())[:-1] + ',"ClusterName":"blue"}',
        json.dumps(document()).replace('"Timestamp"', '"Timestamp":1,"Timestamp"'),
        json.dumps(document())[:-1] + ',"other":[{"b":1,"b":2}]}',
    ],
)
def test_a_repeated_member_is_refused(line):
    """A repeated member is refused at any depth: CloudWatch does not document which it reads."""
    assert ["repeated"] == rules(line)


def test_a_metric_or_dimension_is_named_once():
    """A metric or dimension repeated in one directive is refused: its value would count twice."""
    assert ["repeated"] == rules(directive(Metrics=[{"Name": "BusyCores"}] * 2))
    assert ["repeated"] == rules(directive(Dimensions=[["ClusterName", "ClusterName"]]))
    assert [] == rules(directive(Dimensions=[["ClusterName"], []]))


def test_a_metric_is_not_a_dimension():
    """A name cannot be a metric and a dimension: a metric is a number, a dimension is a text."""
    as_text = {**dimension("BusyCores"), "BusyCores": "blue"}
    as_number = {**dimension("BusyCores"), "BusyCores": 3}
    assert {"collision", "value"} == set(rules(as_text))
    assert {"collision", "dimension_value"} == set(rules(as_number))


@pytest.mark.parametrize("timestamp", [None, "1", 1.5, True, -1, [1]], ids=repr)
def test_a_timestamp_is_whole_milliseconds(timestamp):
    """A timestamp that is absent, a text, a fraction or negative is refused."""
    whole = document()
    whole["_aws"]["Timestamp"] = timestamp
    assert ["timestamp"] == rules(whole)


@pytest.mark.parametrize(
    ("age_ms", "expected"),
    [
        (0, []),
        (14 * DAY_MS, []),
        (14 * DAY_MS + 1, ["timestamp"]),
        (-2 * HOUR_MS, []),
        (-2 * HOUR_MS - 1, ["timestamp"]),
    ],
)
def test_a_timestamp_is_at_most_14_days_old_and_2_hours_ahead(age_ms, expected):
    """Both limits of the age are inclusive. Without a clock, the age is not checked."""
    assert expected == rules(document(), now_ms=WIRE_MINUTE_MS + age_ms)
    assert [] == rules(document())


@pytest.mark.parametrize("filler", ["x", "\u20ac", "\U0001f600"])
def test_a_line_has_at_most_one_mebibyte_less_26_bytes(filler):
    """A line's limit counts UTF-8 bytes, not characters. PutLogEvents adds 26 to each event."""
    empty = len(json.dumps(document(filler="")).encode())
    count, rest = divmod(MAX_EXTRACTED_BYTES - empty, len(filler.encode()))
    text = "y" * rest + filler * count
    assert 1_048_576 - 26 == MAX_EXTRACTED_BYTES
    assert [] == rules(json.dumps(document(filler=text), ensure_ascii=False))
    assert ["size"] == rules(json.dumps(document(filler=text + "z"), ensure_ascii=False))


@pytest.mark.parametrize(
    "line",
    [
        "", "{", json.dumps(document()) + "x", "x" + json.dumps(document()),
        json.dumps(document()) * 2, json.dumps(document(BusyCores=math.nan)),
        json.dumps(document(BusyCores=math.inf)), json.dumps(document(other=math.nan)),
        json.dumps(document(other=[{"deep": -math.inf}])), "[" * 100_000, '{"a":"\ud800"}',
    ],
    ids=lambda line: ascii(line)[:40],
)  # fmt: skip
def test_a_line_is_one_json_value_that_can_be_sent(line):
    """A line is one JSON value without other text, NaN, infinity or a lone surrogate."""
    assert ["json"] == rules(line)


@pytest.mark.parametrize("line", ["[]", "1", "null", '"x"'])
def test_a_line_is_an_object(line):
    """A JSON value that is not an object is refused."""
    assert ["object"] == rules(line)

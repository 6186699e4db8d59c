"""What is extracted, and perhaps not as its writer thinks: each at its boundary."""

from __future__ import annotations

import json

import pytest

from neuron_emf.lint.surprises import LONG_BYTES
from tests.neuron_emf.lint.linted import (
    DIRECTIVE,
    METRIC,
    NOW_MS,
    changed,
    document,
    errors,
    judged,
    warnings,
)

HOUR_MS = 3_600_000


def at(age_ms):
    """The document as it is *age_ms* after its moment."""
    return warnings(document(), now_ms=NOW_MS + age_ms)


def test_old_points_appear_late():
    """From 3 hours on up to 2 hours later, from a day on at least 48."""
    assert [] == at(3 * HOUR_MS)
    assert ["late"] == at(3 * HOUR_MS + 1)
    (day,) = judged(document(), now_ms=NOW_MS + 24 * HOUR_MS).warnings
    (more,) = judged(document(), now_ms=NOW_MS + 24 * HOUR_MS + 1).warnings
    assert "take up to 2 hours" in day.sentence
    assert "take at least 48 hours" in more.sentence


def test_no_dimension_set_is_a_warning_and_a_blank_value_an_error():
    """Both are extracted without dimensions; only the second can be nobody's intention."""
    assert ["no_dimensions"] == warnings(changed((*DIRECTIVE, "Dimensions"), []))
    assert ["dimension_blank"] == errors(document(Service=" "))


def test_a_line_over_256_kb_is_cut_by_many():
    """CloudWatch itself takes four times as much."""
    room = LONG_BYTES - len(json.dumps(document(filler="")))
    assert [] == warnings(document(filler="x" * room))
    assert ["long"] == warnings(document(filler="x" * (room + 1)))


@pytest.mark.parametrize(
    ("path", "name", "hint"),
    [
        (("_aws",), "LogGroup", "it is ignored"),
        (("_aws",), "timestamp", "Timestamp is"),
        (DIRECTIVE, "namespace", "Namespace is"),
        (METRIC, "unit", "Unit is"),
        (METRIC, "storage_resolution", "StorageResolution is"),
    ],
)
def test_a_member_that_is_not_in_the_specification_is_ignored(path, name, hint):
    """Capitals count: what was meant is named where it is plain."""
    (found,) = judged(changed((*path, name), "x")).warnings
    assert ("unknown_member", name) == (found.rule, found.member)
    assert hint in found.sentence
    assert found.path.endswith(f".{name}")


def test_the_agents_members_are_known():
    """The CloudWatch agent reads the log group from the metadata."""
    assert [] == warnings(changed(("_aws", "LogGroupName"), "group"))
    assert [] == warnings(changed(("_aws", "LogStreamName"), "stream"))


def test_a_metric_without_a_unit_gets_none():
    """None in words is a choice, nothing is not."""
    assert ["unit_missing"] == warnings(changed(METRIC, {"Name": "Latency"}))
    assert [] == warnings(changed((*METRIC, "Unit"), "None"))


def test_what_is_defined_twice_counts_twice():
    """By the same dimensions in whatever order, in one directive or in two."""
    assert ["counted_twice"] == warnings(changed((*DIRECTIVE, "Dimensions"), [["Service"]] * 2))
    turned = document(Zone="a")
    turned["_aws"]["CloudWatchMetrics"][0]["Dimensions"] = [
        ["Service", "Zone"],
        ["Zone", "Service"],
    ]
    assert ["counted_twice"] == warnings(turned)
    two = document()
    first = two["_aws"]["CloudWatchMetrics"][0]
    two["_aws"]["CloudWatchMetrics"].append({**first, "Namespace": "Other"})
    assert [] == warnings(two)
    two["_aws"]["CloudWatchMetrics"][1]["Namespace"] = "Shop"
    assert ["counted_twice"] == warnings(two)


def test_a_whole_number_beyond_a_double_is_rounded():
    """2^53 is the last that is exact with all before it."""
    assert [] == warnings(document(Latency=1 << 53))
    assert ["precision"] == warnings(document(Latency=(1 << 53) + 1))
    assert ["precision"] == warnings(document(Latency=[1, -(1 << 53) - 1]))


ID_NAMES = ["RequestId", "trace_id", "x-amzn-RequestId", "uuid", "Timestamp"]
ID_VALUES = [
    *("989ffbf8-9ace-4817-a57c-e4dd734019ee", "1-67891233-abcdef012345678912345678"),
    *("1790000000", "1790000000000", "d41d8cd98f00b204e9800998ecf8427e", "2026-11-20T08:00:00Z"),
]
NO_IDS = {
    "InstanceId": "i-0123456789abcdef0",
    "ClusterName": "training",
    "Port": "8080",
    "FunctionVersion": "$LATEST",
    "Identity": "cafe",
    "Account": "123456789012",
    "Eventful": "yes",
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, "1") for name in ID_NAMES] + [("Who", value) for value in ID_VALUES]
)
def test_a_dimension_that_looks_like_an_id_is_dear(name, value):
    """By its name or by its value; once for each line, however many sets name it."""
    found = changed((*DIRECTIVE, "Dimensions"), [[name], ["Service", name]])
    assert ["cardinality"] == warnings({**found, name: value})


@pytest.mark.parametrize("name", NO_IDS)
def test_what_people_group_by_is_no_id(name):
    """An account or an instance is a choice."""
    found = changed((*DIRECTIVE, "Dimensions"), [[name]])
    assert [] == warnings({**found, name: NO_IDS[name]})

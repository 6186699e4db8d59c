"""
Every rule of CloudWatch's metric extraction, at its exact boundary.

One test per rule: the last line that is extracted, and the first that is not.
"""

from __future__ import annotations

import copy
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_records import MINUTE_MS

from neuron_wire import WireFormatError
from neuron_wire.emf import (
    MAX_LINE_BYTES,
    UNITS,
    emf_line,
    require_extractable,
    violations,
)

DAY_MS = 24 * 3_600_000
HOUR_MS = 3_600_000
LIMIT = 2.0**360
TOO_MUCH = math.nextafter(LIMIT, math.inf)


def document(**root):
    """
    A small document that is extracted; *root* replaces members, None takes one out.
    """
    whole = {
        "_aws": {
            "Timestamp": MINUTE_MS,
            "CloudWatchMetrics": [
                {
                    "Namespace": "Neuron",
                    "Dimensions": [["ClusterName"]],
                    "Metrics": [{"Name": "BusyCores", "Unit": "Count"}],
                }
            ],
        },
        "ClusterName": "blue",
        "BusyCores": 3,
    }
    whole.update(root)
    return {name: value for name, value in whole.items() if value is not None}


def directive(**changes):
    """
    The same document with members of its directive replaced; None takes one out.
    """
    whole = copy.deepcopy(document())
    metadata = whole["_aws"]
    found = {**metadata["CloudWatchMetrics"][0], **changes}
    metadata["CloudWatchMetrics"] = [{k: v for k, v in found.items() if v is not None}]
    return whole


def metric(**changes):
    """
    The same document with members of its one metric definition replaced.
    """
    found = {"Name": "BusyCores", "Unit": "Count", **changes}
    return directive(Metrics=[{k: v for k, v in found.items() if v is not None}])


def named(name):
    """
    The same document, its metric named *name*.
    """
    return {**metric(Name=name), name: 3}


def dimension(name, value="blue"):
    """
    The same document with one dimension *name*.
    """
    return {**directive(Dimensions=[[name]]), name: value}


def rules(line, **now):
    """
    The rules that a line breaks; a document is written as JSON first.
    """
    text = line if isinstance(line, str) else json.dumps(line)
    return [one.rule for one in violations(text, **now)]


def test_a_line_by_the_rules_breaks_none():
    """
    What the tests below change is extracted as it stands.
    """
    assert [] == rules(document())
    require_extractable(json.dumps(document()))


def many_metrics(count):
    """
    A document of *count* metrics.
    """
    names = [f"M{index}" for index in range(count)]
    whole = directive(Metrics=[{"Name": name} for name in names])
    return {**whole, **dict.fromkeys(names, 1)}


def many_dimensions(count):
    """
    A document whose set has *count* dimensions.
    """
    names = [f"D{index}" for index in range(count)]
    return {**directive(Dimensions=[names]), **dict.fromkeys(names, "x")}


BOUNDARIES = [
    ("metrics", many_metrics(100), many_metrics(101)),
    ("metrics", many_metrics(1), directive(Metrics=[])),
    ("values", document(BusyCores=[1] * 100), document(BusyCores=[1] * 101)),
    ("values", document(BusyCores=[1]), document(BusyCores=[])),
    ("dimensions", many_dimensions(30), many_dimensions(31)),
    ("dimensions", directive(Dimensions=[[]]), directive(Dimensions=[])),
    ("namespace", directive(Namespace="n" * 255), directive(Namespace="n" * 256)),
    ("namespace", directive(Namespace="n"), directive(Namespace="")),
    ("namespace", directive(Namespace="a:b"), directive(Namespace=":ab")),
    ("namespace", directive(Namespace="aZ09._#:/-"), directive(Namespace="a b")),
    ("namespace", directive(Namespace="AWS-of-mine/x"), directive(Namespace="AWS/x")),
    ("namespace", directive(Namespace="Neuron"), directive(Namespace="Neuron\n")),
    ("namespace", directive(Namespace="Neuron"), directive(Namespace="Neur\u00f3n")),
    ("metric_name", named("m" * 255), named("m" * 256)),
    ("metric_name", named("m"), named("")),
    ("metric_name", named("a b"), named(" ")),
    ("dimension_name", dimension("d" * 250), dimension("d" * 251)),
    ("dimension_name", dimension("d"), dimension("")),
    ("dimension_name", dimension("a b"), dimension(" ")),
    ("dimension_name", dimension("d:"), dimension(":d")),
    ("dimension_name", dimension("d"), dimension("d\u00e9")),
    ("dimension_name", dimension("~"), dimension("\x7f")),
    ("dimension_name", dimension("a b"), dimension("a\tb")),
    ("dimension_value", dimension("d", "v" * 1024), dimension("d", "v" * 1025)),
    ("dimension_value", dimension("d", "v"), dimension("d", "")),
    ("dimension_value", dimension("d", " v"), dimension("d", "  ")),
    ("dimension_value", dimension("d", "v"), dimension("d", "caf\u00e9")),
    ("dimension_value", dimension("d", "~ "), dimension("d", "a\nb")),
    ("dimension_value", dimension("d", "5"), dimension("d", 5)),
    ("dimension_value", dimension("d", "true"), dimension("d", value=True)),
    ("dimension_value", dimension("d", "v"), dimension("d", ["v"])),
    ("dimension_value", document(), document(ClusterName=None)),
    ("unit", metric(Unit=None), metric(Unit="count")),
    ("unit", metric(Unit="None"), metric(Unit="")),
    ("unit", metric(Unit="Bytes/Second"), metric(Unit="Seconds/Second")),
    ("unit", metric(Unit="Count"), metric(Unit=1)),
    ("resolution", metric(StorageResolution=1), metric(StorageResolution=0)),
    ("resolution", metric(StorageResolution=1), metric(StorageResolution=2)),
    ("resolution", metric(StorageResolution=60), metric(StorageResolution=59)),
    ("resolution", metric(StorageResolution=60), metric(StorageResolution=61)),
    ("resolution", metric(StorageResolution=1), metric(StorageResolution=True)),
    ("resolution", metric(StorageResolution=60), metric(StorageResolution="60")),
    ("resolution", metric(StorageResolution=None), metric(StorageResolution=[60])),
    ("value", document(BusyCores=LIMIT), document(BusyCores=TOO_MUCH)),
    ("value", document(BusyCores=-LIMIT), document(BusyCores=-TOO_MUCH)),
    ("value", document(BusyCores=2**360), document(BusyCores=2**360 + 1)),
    ("value", document(BusyCores=0), document(BusyCores=True)),
    ("value", document(BusyCores=1), document(BusyCores="1")),
    ("value", document(BusyCores=[1, 2]), document(BusyCores=[1, False])),
    ("value", document(BusyCores=[1, 2]), document(BusyCores=[1, [2]])),
    ("value", document(BusyCores=[1, 2]), document(BusyCores={"Values": [1, 2]})),
    ("value", document(), document(BusyCores=None)),
]


@pytest.mark.parametrize(
    ("rule", "extracted", "refused"),
    BOUNDARIES,
    ids=[f"{place}-{rule}" for place, (rule, _, _) in enumerate(BOUNDARIES)],
)
def test_the_boundary_of_a_rule(rule, extracted, refused):
    """
    The last document inside breaks no rule, the first one outside breaks this one.
    """
    assert [] == rules(extracted)
    assert {rule} == set(rules(refused))


def test_units_are_the_27_of_cloudwatch():
    """
    Bits and bytes in five scales, plain and per second, and seven others.
    """
    assert 27 == len(UNITS)
    assert {"Terabits/Second", "Kilobytes", "Bits", "Count/Second", "None"} <= UNITS
    assert [] == [unit for unit in sorted(UNITS) if rules(metric(Unit=unit))]


def test_a_metric_in_two_directives_has_one_resolution():
    """
    One resolution per name and line; the same name in two directives is not repeated.
    """

    def twice(second):
        whole = document()
        first = whole["_aws"]["CloudWatchMetrics"][0]
        metrics = [{"Name": "BusyCores", "StorageResolution": second}]
        whole["_aws"]["CloudWatchMetrics"] = [first, {**first, "Metrics": metrics}]
        return whole

    assert [] == rules(twice(60))
    assert ["resolution"] == rules(twice(1))


@pytest.mark.parametrize(
    "line",
    [
        '{"a":1,"a":1}',
        json.dumps(document())[:-1] + ',"ClusterName":"blue"}',
        json.dumps(document()).replace('"Timestamp"', '"Timestamp":1,"Timestamp"'),
        json.dumps(document())[:-1] + ',"other":[{"b":1,"b":2}]}',
    ],
)
def test_a_member_stands_once_in_its_object(line):
    """
    Of two members with one name nobody knows which CloudWatch takes, however deep they are.
    """
    assert ["repeated"] == rules(line)


def test_a_metric_or_dimension_is_named_once():
    """
    Twice in one directive would count a value twice.
    """
    assert ["repeated"] == rules(directive(Metrics=[{"Name": "BusyCores"}] * 2))
    assert ["repeated"] == rules(directive(Dimensions=[["ClusterName", "ClusterName"]]))
    assert [] == rules(directive(Dimensions=[["ClusterName"], []]))


def test_a_metric_is_no_dimension():
    """
    Both are members of one root: as a text it is no metric, as a number no dimension.
    """
    as_text = {**dimension("BusyCores"), "BusyCores": "blue"}
    as_number = {**dimension("BusyCores"), "BusyCores": 3}
    assert {"collision", "value"} == set(rules(as_text))
    assert {"collision", "dimension_value"} == set(rules(as_number))


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        (None, "metadata"),
        ([], "metadata"),
        ("x", "metadata"),
        ({"Timestamp": 1}, "directives"),
        ({"Timestamp": 1, "CloudWatchMetrics": {}}, "directives"),
        ({"Timestamp": 1, "CloudWatchMetrics": []}, "directives"),
        ({"Timestamp": 1, "CloudWatchMetrics": ["x"]}, "directives"),
    ],
    ids=str,
)
def test_without_a_directive_nothing_is_extracted(metadata, rule):
    """
    Such a line is stored without a word, and its metrics never appear.
    """
    assert [rule] == rules(document(_aws=metadata))


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"Namespace": None}, "namespace"),
        ({"Namespace": 5}, "namespace"),
        ({"Dimensions": None}, "dimensions"),
        ({"Dimensions": {}}, "dimensions"),
        ({"Dimensions": ["ClusterName"]}, "dimensions"),
        ({"Dimensions": [[5]]}, "dimension_name"),
        ({"Metrics": None}, "metrics"),
        ({"Metrics": {}}, "metrics"),
        ({"Metrics": ["BusyCores"]}, "metrics"),
        ({"Metrics": [{"Unit": "Count"}]}, "metric_name"),
        ({"Metrics": [{"Name": ["BusyCores"]}]}, "metric_name"),
    ],
    ids=str,
)
def test_a_directive_has_its_three_members(changes, rule):
    """
    Namespace, dimensions and metrics, each of its type.
    """
    assert [rule] == rules(directive(**changes))


def test_a_target_is_a_member_of_the_root():
    """
    "A.a" is a member with that name, never the member a of A.
    """
    nested = {**metric(Name="A.a"), "A": {"a": 1}}
    assert ["value"] == rules(nested)
    assert [] == rules({**nested, "A.a": 1})


@pytest.mark.parametrize("timestamp", [None, "1", 1.5, True, -1, [1]], ids=repr)
def test_a_timestamp_is_whole_milliseconds(timestamp):
    """
    An absent one, a text, a fraction or a negative one is refused.
    """
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
    """
    Both ends are inclusive; without a clock the age is nobody's business.
    """
    assert expected == rules(document(), now_ms=MINUTE_MS + age_ms)
    assert [] == rules(document())


@pytest.mark.parametrize("filler", ["x", "\u20ac", "\U0001f600"])
def test_a_line_has_at_most_one_mebibyte_less_26_bytes(filler):
    """
    What counts is UTF-8 bytes, not characters: PutLogEvents adds 26 to each event.
    """
    empty = len(json.dumps(document(filler="")).encode())
    count, rest = divmod(MAX_LINE_BYTES - empty, len(filler.encode()))
    text = "y" * rest + filler * count
    assert 1_048_576 - 26 == MAX_LINE_BYTES
    assert [] == rules(json.dumps(document(filler=text), ensure_ascii=False))
    assert ["size"] == rules(json.dumps(document(filler=text + "z"), ensure_ascii=False))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        json.dumps(document()) + "x",
        "x" + json.dumps(document()),
        json.dumps(document()) * 2,
        json.dumps(document(BusyCores=math.nan)),
        json.dumps(document(BusyCores=math.inf)),
        json.dumps(document(other=math.nan)),
        json.dumps(document(other=[{"deep": -math.inf}])),
        "[" * 100_000,
        '{"a":"\ud800"}',
    ],
    ids=lambda line: ascii(line)[:40],
)
def test_a_line_is_one_json_value_that_can_be_sent(line):
    """
    Nothing before it, nothing behind it, no NaN anywhere, no half character.
    """
    assert ["json"] == rules(line)


@pytest.mark.parametrize("line", ["[]", "1", "null", '"x"'])
def test_a_line_is_an_object(line):
    """
    JSON alone is not enough.
    """
    assert ["object"] == rules(line)


def test_every_violation_is_found_and_said():
    """
    A line that breaks three rules has three violations, each with its member and a sentence.
    """
    broken = {**directive(Namespace="", Dimensions=[]), "BusyCores": True}
    found = violations(json.dumps(broken))
    assert ["namespace", "dimensions", "value"] == [one.rule for one in found]
    assert "BusyCores" == found[2].member
    assert all(20 < len(one.sentence) < 200 for one in found)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@given(ANYTHING, st.dictionaries(st.sampled_from(["Namespace", "Dimensions", "Metrics"]), ANYTHING))
def test_no_document_breaks_the_validator(value, changes):
    """
    Whatever stands where, the answer is a list of violations.
    """
    assert isinstance(rules(directive(**changes)), list)
    assert isinstance(rules(document(_aws=value)), list)
    assert isinstance(rules(document(BusyCores=value, ClusterName=value)), list)


@given(st.text())
def test_no_text_breaks_the_validator(text):
    """
    Nor does what never was JSON.
    """
    assert rules(text)


def built(**changes):
    """
    The line that `emf_line` builds from good arguments with some replaced.
    """
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
    """
    `_aws` first, scalars, then arrays; compact; every metric with its unit.
    """
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
    """
    It fails where it is made, not in CloudWatch, which would say nothing.
    """
    with pytest.raises(WireFormatError) as caught:
        built(**changes)
    assert "not_extractable" == caught.value.reason

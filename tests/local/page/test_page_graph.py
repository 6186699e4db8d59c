"""The points of a graph are the metrics, and what has none is said to have none."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.alarms import RecordedHistory
from local.page.graph import graph

START_S, END_S = 1_800_000_000, 1_800_010_800
ROLLUPS = "Neuron/Cluster"
STATISTICS = {
    "Average": lambda values: sum(values) / len(values),
    "Maximum": max,
    "Minimum": min,
    "SampleCount": len,
    "Sum": sum,
}
MOMENTS = st.dictionaries(
    st.integers(START_S - 7200, END_S + 7200),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4),
    max_size=12,
)


def row(metric="IdleCores", cluster="a", namespace=ROLLUPS, **rendering):
    """A metric of a cluster as a widget asks for it."""
    found = [namespace, metric, "ClusterName", cluster]
    return [*found, rendering] if rendering else found


def searched(metric="IdleCores", names="ClusterName", terms="", **rendering):
    """A search as a widget has it."""
    schema = f"{{{ROLLUPS},{names}}}"
    text = f"SEARCH('{schema}{terms} MetricName=\"{metric}\"', 'Average', 60)"
    return [{"expression": text, **rendering}]


def drawn(rows, history=None, **properties):
    """What is drawn of *rows*."""
    found = history or RecordedHistory()
    return graph({"metrics": rows, "period": 60, **properties}, found, START_S, END_S)


def history(*metrics):
    """One value for each of *metrics*: a name and dimensions."""
    found = RecordedHistory()
    for metric, dimensions in metrics:
        found.put(ROLLUPS, metric, dimensions, START_S + 60, [1.0])
    return found


@given(moments=MOMENTS, period_s=st.sampled_from([60, 300]), name=st.sampled_from([*STATISTICS]))
def test_a_point_is_the_statistic_of_the_values_of_its_period(moments, period_s, name):
    """Every period that has a value, in order of time, nothing from outside, nothing invented."""
    recorded = RecordedHistory()
    expected = defaultdict(list)
    for at_s, values in moments.items():
        recorded.put(ROLLUPS, "IdleCores", {"ClusterName": "a"}, at_s, values)
        recorded.put(ROLLUPS, "IdleCores", {"ClusterName": "b"}, at_s, [9e9])
        recorded.put(ROLLUPS, "IdleCores", {"ClusterName": "a", "More": "x"}, at_s, [9e9])
        if START_S <= at_s < END_S:
            expected[at_s // period_s * period_s * 1000].extend(values)
    (series,) = drawn([row(stat=name, period=period_s)], recorded)["series"]
    assert sorted(expected) == [at_ms for at_ms, _ in series["points"]]
    for at_ms, value in series["points"]:
        assert pytest.approx(STATISTICS[name](expected[at_ms]), rel=1e-9, abs=1e-6) == value
    assert (series["missing"] is None) is bool(expected)


def test_a_series_says_what_it_is():
    """Enough to ask CloudWatch for the same."""
    rows = [row(), row("IdleCorePercent", yAxis="right")]
    axes = {"left": {"min": 0}, "right": {"min": 0, "max": 100}}
    found = drawn(rows, title="Idle", stacked=True, yAxis=axes, view="timeSeries", stat="Maximum")
    assert ("Idle", True) == (found["title"], found["stacked"])
    assert {"left": {"min": 0, "max": None}, "right": {"min": 0, "max": 100}} == found["axes"]
    first, second = found["series"]
    assert {
        "label": "IdleCores", "namespace": ROLLUPS, "metric": "IdleCores",
        "dimensions": {"ClusterName": "a"}, "statistic": "Maximum", "period_s": 60, "axis": "left",
        "unit": "Count", "points": [],
        "missing": "Neuron/Cluster IdleCores of ClusterName a has no data in the last 3 hours.",
    } == first  # fmt: skip
    assert ("right", "Percent") == (second["axis"], second["unit"])


def test_a_search_draws_every_metric_that_it_finds():
    """Labelled by what it leaves open, in the order of the alphabet."""
    there = history(
        ("IdleCores", {"ClusterName": "b"}),
        ("IdleCores", {"ClusterName": "a"}),
        ("IdleCores", {"ClusterName": "a", "InstanceType": "t1"}),
        ("BusyCores", {"ClusterName": "c"}),
    )
    assert ["a", "b"] == [one["label"] for one in drawn([searched()], there)["series"]]
    by_type = searched(names="ClusterName,InstanceType", terms=' ClusterName="a"')
    (found,) = drawn([by_type], there)["series"]
    assert "t1" == found["label"]
    assert {"ClusterName": "a", "InstanceType": "t1"} == found["dimensions"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (row("IdleCores"), "in the last 3 hours."),
        (row("IdelCores"), "the catalogue has no metric of that name with these dimensions."),
        (row("IdleCores", namespace="Neuron/Stack"), "the catalogue has no metric of that name"),
        (row("Mine", namespace="Somebody/Else"), "in the last 3 hours."),
        (row("Errors", namespace="AWS/Lambda"), "few of the metrics of AWS's own services."),
        (searched("IdelCores"), "any ClusterName has no data in the last 3 hours: the catalogue"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_has_no_data_says_so_and_why(asked, why):
    """A wrong name cannot hide behind an empty graph."""
    there = history(("BusyCores", {"ClusterName": "a"}))
    found = drawn([row("BusyCores"), asked], there)
    assert 1 == len(found["missing"])
    assert why in found["missing"][0]
    assert found["series"][0]["missing"] is None
    named = [one["missing"] for one in found["series"][1:]]
    assert named == ([] if isinstance(asked[-1], dict) else found["missing"])


@pytest.mark.parametrize(
    ("properties", "named"),
    [
        ({"view": "singleValue"}, "it is a singleValue"),
        ({"annotations": {}}, "property annotations"),
        ({"metrics": [[{"expression": "m1*2"}]]}, "m1*2"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_page_does_not_know_is_not_drawn_and_said(properties, named):
    """In the place of the graph."""
    found = drawn([row()], **properties)
    assert [] == found["series"]
    (sentence,) = found["missing"]
    assert sentence.startswith("Not drawn: ")
    assert named in sentence

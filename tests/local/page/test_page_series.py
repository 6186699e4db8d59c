"""What a metric widget asks for is understood, or refused by name; nothing is half understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.page.series import DashboardError, MetricRequest, asked_by, search

NAMES = st.text("abcXYZ", min_size=1, max_size=6)
VALUES = st.text(st.characters(exclude_characters='"\\', codec="utf-8"), max_size=12)
CLUSTERS = "SEARCH('{Neuron/Cluster,ClusterName} MetricName=\"IdleCores\"', 'Average', 60)"


@given(
    names=st.sets(NAMES, min_size=1, max_size=4),
    values=st.dictionaries(NAMES, VALUES, max_size=3),
    metric=st.text("abcXYZ.", min_size=1, max_size=8),
    statistic=st.sampled_from(["Average", "Maximum", "Minimum", "SampleCount", "Sum"]),
    minutes=st.integers(1, 1440),
)
def test_a_search_is_read_as_it_was_written(names, values, metric, statistic, minutes):
    """Whatever the dimensions: those with a value are given, the others open."""
    names |= values.keys()
    terms = "".join(f' {name}="{value}"' for name, value in values.items())
    schema = ",".join(["Any/Namespace", *sorted(names)])
    text = f"SEARCH('{{{schema}}}{terms} MetricName=\"{metric}\"', '{statistic}', {60 * minutes})"
    dimensions, is_open = tuple(sorted(values.items())), frozenset(names - values.keys())
    expected = MetricRequest(
        "Any/Namespace", metric, dimensions, statistic, 60 * minutes, is_open, is_search=True
    )
    assert expected == search(text)


@given(
    given=st.dictionaries(NAMES, VALUES, max_size=2),
    open_names=st.sets(NAMES, max_size=2),
    found=st.dictionaries(NAMES, VALUES, max_size=4),
)
def test_a_metric_is_meant_when_its_dimensions_are_exactly_those(given, open_names, found):
    """CloudWatch's metrics with one dimension more are other metrics."""
    open_names -= given.keys()
    asked = MetricRequest("n", "m", tuple(sorted(given.items())), "Sum", 60, frozenset(open_names))
    expected = found.keys() == given.keys() | open_names and all(
        found[name] == value for name, value in given.items()
    )
    assert expected == asked.finds(tuple(sorted(found.items())))
    anything = {**dict.fromkeys(open_names, "x"), **given}
    assert asked.finds(tuple(sorted(anything.items())))


def test_a_row_has_what_it_says_and_what_the_widget_says():
    """Its own statistic and period go before those of the widget, five minutes of Average last."""
    rows = [
        ["N", "M", "D", "v"],
        [".", "Other", ".", ".", {"stat": "Sum", "yAxis": "right", "label": "others"}],
        ["N", "Hidden", {"visible": False}],
    ]
    first, second = asked_by({"metrics": rows})
    assert MetricRequest("N", "M", (("D", "v"),), "Average", 300) == first
    expected = MetricRequest("N", "Other", (("D", "v"),), "Sum", 300, axis="right", label="others")
    assert expected == second
    first, second = asked_by({"metrics": rows, "stat": "Maximum", "period": 60})
    assert ("Maximum", 60) == (first.statistic, first.period_s)
    assert ("Sum", 60) == (second.statistic, second.period_s)


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ([{"expression": "m1 * 100"}], "m1 * 100"),
        ([{"expression": "SEARCH('IdleCores', 'Average', 60)"}], "IdleCores"),
        ([{"expression": CLUSTERS.replace("MetricName", "Metric")}], "Metric="),
        ([{"expression": CLUSTERS.replace("} ", '} Zone="a" ')}], "selects by Zone"),
        ([{"expression": CLUSTERS.replace("Average", "p99")}], "p99"),
        ([{"expression": CLUSTERS.replace("60", "61")}], "61 s"),
        (["N", "M", {"stat": "p90"}], "p90"),
        (["N", "M", {"period": 1}], "1 s"),
        (["N", "M", {"yAxis": "middle"}], "middle"),
        (["N", "M", {"region": "eu-west-1"}], "property region"),
        (["N", "M", "D"], "dimension D of N M has no value"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_page_does_not_know_is_refused_by_name(row, named):
    """A graph of something else would look as good."""
    with pytest.raises(DashboardError) as caught:
        asked_by({"metrics": [row]})
    assert named in str(caught.value)

"""The template's own dashboard is read, and a chosen cluster stands wherever the pattern did."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.page.dashboard import Dashboard, read
from local.page.series import DashboardError

PATTERN = "cluster-chosen-above"
QUERY = f"SOURCE 'g' | filter ClusterName = '{PATTERN}'"
PLACE = {"x": 0, "y": 0, "width": 24, "height": 2}
BODY = {
    "start": "-PT3H",
    "variables": [
        {
            "type": "pattern", "pattern": PATTERN, "defaultValue": "__FIRST",
            "search": '{Neuron/Cluster,ClusterName} MetricName="NeuronCores"',
            "populateFrom": "ClusterName",
        }
    ],
    "widgets": [
        {"type": "text", **PLACE, "properties": {"markdown": f"# {PATTERN}, {PATTERN}"}},
        {"type": "log", **PLACE, "properties": {"query": QUERY}},
    ],
}  # fmt: skip


def dashboard(**changed):
    """A small dashboard, changed."""
    return read("d", json.dumps({**BODY, **changed}))


@given(st.text(max_size=20))
def test_the_choice_stands_wherever_the_pattern_stood(cluster):
    """As CloudWatch has it; a name that would end a quoted text is kept out of queries."""
    text, log = dashboard().widgets(cluster)
    assert f"# {cluster}, {cluster}" == text.properties["markdown"]
    assert "" == text.refused
    assert QUERY.replace(PATTERN, cluster) == log.properties["query"]
    assert any(mark in cluster for mark in "'\"\\") == bool(log.refused)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"periodOverride": "auto"}, "member periodOverride"),
        ({"start": "2026-01-01T00:00:00Z"}, "starts at 2026-01-01T00:00:00Z"),
        ({"start": "-P"}, "starts at -P"),
        ({"variables": []}, "not of the known structure"),
        ({"variables": [{**BODY["variables"][0], "type": "property"}]}, "type property"),
        ({"variables": [{**BODY["variables"][0], "search": "x"}]}, "SEARCH('x'"),
        ({"widgets": [{**BODY["widgets"][0], "type": "explorer"}]}, "type explorer"),
        ({"widgets": 5}, "not of the known structure"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_page_does_not_know_is_refused_by_name(changed, named):
    """One sentence."""
    with pytest.raises(DashboardError) as caught:
        dashboard(**changed)
    assert named in str(caught.value)


def test_there_is_a_dashboard():
    """Without one there is nothing to show."""
    with pytest.raises(DashboardError, match="no dashboard"):
        Dashboard.of(SimpleNamespace(resources=lambda _: []))


def test_several_dashboards_are_shown_as_one():
    """Each below the one before."""
    stated = {"DashboardName": "D", "DashboardBody": json.dumps(BODY)}
    template = SimpleNamespace(resources=lambda _: [("A", stated), ("B", stated)])
    widgets = Dashboard.of(template).widgets("research")
    assert 2 * len(BODY["widgets"]) == len(widgets)
    bottom = max(one["y"] + one["height"] for one in BODY["widgets"])
    assert bottom == min(one.place["y"] for one in widgets[len(BODY["widgets"]) :])

"""The checks of the dashboard find what they are for: each sort of mistake, planted."""

from __future__ import annotations

import copy
import json

import pytest

from tests.stack.dashboard_body import problems

CHOSEN = "cluster-chosen-above"
ROLLUPS = "Neuron/Cluster"
CORES = "Cores by state"
FUNCTIONS = "Functions: errors and throttled invocations"
LOST = "SOURCE 'g' | filter Kind = 'rollup' and Stragler > 0 | fields Minute"
GREEN = "SOURCE 'g' | filter Kind = 'rollup' and ClusterName = 'green' | fields Minute"


def widget(body, title):
    """The widget called *title*, or at that place."""
    if isinstance(title, int):
        return body["widgets"][title]
    (found,) = [one for one in body["widgets"] if one["properties"].get("title") == title]
    return found


def drawn(*row, like=None):
    """A plant: one more metric in a widget, or a rendering of its first one."""

    def plant(body):
        metrics = widget(body, CORES)["properties"]["metrics"]
        return metrics[0].append(like) if like else metrics.append(list(row))

    return plant


def renamed(title, old, new):
    """A plant: *old* is *new* in the first expression of a widget."""

    def plant(body):
        first = widget(body, title)["properties"]["metrics"][0][0]
        first["expression"] = first["expression"].replace(old, new)

    return plant


def changed(title, *gone, **members):
    """A plant: properties of a widget get other values, or go."""
    return lambda body: _change(widget(body, title)["properties"], gone, members)


def moved(at, *gone, **members):
    """A plant: the place or the type of a widget."""
    return lambda body: _change(body["widgets"][at], gone, members)


def varied(*gone, **members):
    """A plant in the variable."""
    return lambda body: _change(body["variables"][0], gone, members)


def _change(place, gone, members):
    place.update(members)
    for name in gone:
        del place[name]


MISTAKES = {
    "there is no such metric": drawn(ROLLUPS, "BusyCore", "ClusterName", CHOSEN),
    "a dimension has no value": drawn(ROLLUPS, "BusyCores", "ClusterName"),
    "ClusterName, InstanceType: there is": renamed(
        "Cores by instance type", "NeuronCores", "IdleCores"
    ),
    "Executions is read with Sum, not Average": changed(
        "Executions, and those that failed", "stat"
    ),
    "Errors is read with Sum, not Maximum": changed(FUNCTIONS, stat="Maximum"),
    "a period is a multiple of 60": changed(CORES, period=90),
    "no search that we know": renamed("Idle cores by cluster", "SEARCH", "FIND"),
    "no dimension of the search": renamed(
        "Idle cores by cluster", " MetricName", ' I="i" MetricName'
    ),
    "a metric has no colour": drawn(like={"colour": "red"}),
    "mixes Count and Percent": drawn(ROLLUPS, "IdleCorePercent", "ClusterName", CHOSEN),
    "ids are different": drawn(like={"id": "Busy"}),
    "it shows blue whatever is chosen": drawn(ROLLUPS, "BusyCores", "ClusterName", "blue"),
    "it shows green whatever is chosen": changed("Stragglers", query=GREEN),
    "its query names no log group": changed("Stragglers", query=GREEN.partition("| ")[2]),
    "Stragler is not in lines of Kind rollup": changed("Stragglers", query=LOST),
    "expected a field": changed("Stragglers", query="SOURCE 'g' | filter"),
    "it needs more than 24 columns": moved(0, x=1),
    "it lies over": moved(1, y=0),
    "it is outside of the page": moved(1, height=0),
    "whole numbers": moved(1, "y"),
    "there is no widget of type graph": moved(1, type="graph"),
    "it lacks region": changed("Stragglers", "region"),
    "it has no property titel": changed("Stragglers", titel="x"),
    "there is no view line": changed(CORES, view="line"),
    "0 alarms": changed("Alarms on clusters", alarms=[]),
    "the body has no member widget": lambda body: body.update(widget=[]),
    "start is no time before now": lambda body: body.update(start="PT3H"),
    "the variable lacks pattern": varied("pattern"),
    "does not reach into log queries": varied("pattern", type="property", property=CHOSEN),
    "ClusterNames is no dimension of": varied(populateFrom="ClusterNames"),
    "no log widget follows the choice": lambda body: [
        body["widgets"].remove(one)
        for one in list(body["widgets"])
        if one["type"] == "log" and "chosen" in one["properties"]["query"]
    ],
}


@pytest.mark.parametrize("expected", MISTAKES)
def test_a_planted_mistake_is_found(body, expected):
    """Each sort of mistake, by a sentence that names it; and none where there is none."""
    planted = copy.deepcopy(body)
    MISTAKES[expected](planted)
    found = problems(json.dumps(planted))
    assert any(expected in one for one in found), found


def test_a_body_that_is_no_json_is_found(dashboard):
    """CloudFormation would take it, and CloudWatch refuse it in the middle of a deployment."""
    (found,) = problems(dashboard()["DashboardBody"].rstrip()[:-1])
    assert found.startswith("it is no JSON")

"""The checks of the dashboard find what they are for: each sort of mistake, planted."""

from __future__ import annotations

import copy
import json

import pytest

from tests.stack.dashboard_body import problems


def widget(body, title):
    """The widget called *title*."""
    (found,) = [one for one in body["widgets"] if one["properties"].get("title") == title]
    return found


def metrics(body, title="Cores by state"):
    """The metrics of the widget called *title*."""
    return widget(body, title)["properties"]["metrics"]


def renamed(body, title, old, new):
    """*old* is *new* in the first expression of a widget."""
    row = metrics(body, title)[0]
    row[0]["expression"] = row[0]["expression"].replace(old, new)


def asked(body, title, query):
    """The log widget called *title* has another query."""
    widget(body, title)["properties"]["query"] = query


MISTAKES = {
    "there is no such metric": lambda body: metrics(body).append(
        ["Neuron/Cluster", "BusyCore", "ClusterName", "cluster-chosen-above"]
    ),
    "Neuron/Clusters BusyCores by ClusterName: there is": lambda body: metrics(body).append(
        ["Neuron/Clusters", "BusyCores", "ClusterName", "cluster-chosen-above"]
    ),
    "BusyCores by Cluster: there is no such metric": lambda body: metrics(body).append(
        ["Neuron/Cluster", "BusyCores", "Cluster", "cluster-chosen-above"]
    ),
    "a dimension has no value": lambda body: metrics(body).append(
        ["Neuron/Cluster", "BusyCores", "ClusterName"]
    ),
    "IdleCores by ClusterName, InstanceType: there is": lambda body: renamed(
        body, "Cores by instance type", "NeuronCores", "IdleCores"
    ),
    "BusyCores is read with Average or Maximum, not Sum": lambda body: (
        metrics(body).append([".", ".", ".", ".", {"stat": "Sum"}])
        or metrics(body)[-1].__setitem__(1, "BusyCores")
    ),
    "Executions is read with Sum, not Average": lambda body: widget(
        body, "Executions, and those that failed"
    )["properties"].pop("stat"),
    "SilentInstances is read with Maximum, not Average": lambda body: renamed(
        body, "Silent instances by cluster", "Maximum", "Average"
    ),
    "Errors is read with Sum, not Maximum": lambda body: widget(
        body, "Functions: errors and throttled invocations"
    )["properties"].update(stat="Maximum"),
    "a period is a multiple of 60": lambda body: widget(body, "Cores by state")[
        "properties"
    ].update(period=90),
    "it is no search that we know": lambda body: renamed(
        body, "Idle cores by cluster", "SEARCH", "FIND"
    ),
    "InstanceId is no dimension of the search": lambda body: renamed(
        body, "Idle cores by cluster", "MetricName", 'InstanceId="i" MetricName'
    ),
    "a metric has no colour": lambda body: metrics(body)[0].append({"colour": "red"}),
    "the left axis mixes Count and Percent": lambda body: metrics(body).append(
        ["Neuron/Cluster", "IdleCorePercent", "ClusterName", "cluster-chosen-above"]
    ),
    "ids are different": lambda body: metrics(body)[0].append({"id": "Busy"}),
    "it shows blue whatever is chosen": lambda body: metrics(body).append(
        ["Neuron/Cluster", "BusyCores", "ClusterName", "blue"]
    ),
    "it shows green whatever is chosen": lambda body: asked(
        body,
        "Stragglers",
        "SOURCE 'g' | filter Kind = 'rollup' and ClusterName = 'green' | fields Minute",
    ),
    "its query names no log group": lambda body: asked(
        body, "Stragglers", "filter Kind = 'rollup' | fields Minute"
    ),
    "Stragler is not in lines of Kind rollup": lambda body: asked(
        body, "Stragglers", "SOURCE 'g' | filter Kind = 'rollup' and Stragler > 0 | fields Minute"
    ),
    "expected a field": lambda body: asked(body, "Stragglers", "SOURCE 'g' | filter"),
    "it needs more than 24 columns": lambda body: body["widgets"][0].update(x=1),
    "it lies over": lambda body: body["widgets"][1].update(y=0),
    "it is outside of the page": lambda body: body["widgets"][1].update(height=0),
    "whole numbers": lambda body: body["widgets"][1].pop("y"),
    "there is no widget of type graph": lambda body: body["widgets"][1].update(type="graph"),
    "it lacks region": lambda body: widget(body, "Stragglers")["properties"].pop("region"),
    "it has no property titel": lambda body: widget(body, "Stragglers")["properties"].update(
        titel="x"
    ),
    "there is no view line": lambda body: widget(body, "Cores by state")["properties"].update(
        view="line"
    ),
    "0 alarms": lambda body: widget(body, "Alarms on clusters")["properties"].update(alarms=[]),
    "the body has no member widget": lambda body: body.update(widget=[]),
    "start is no time before now": lambda body: body.update(start="PT3H"),
    "the variable lacks pattern": lambda body: body["variables"][0].pop("pattern"),
    "does not reach into log queries": lambda body: body["variables"][0].update(
        type="property", property=body["variables"][0].pop("pattern")
    ),
    "ClusterNames is no dimension of": lambda body: body["variables"][0].update(
        populateFrom="ClusterNames"
    ),
    "Cores by ClusterName: there is no such metric": lambda body: body["variables"][0].update(
        search='{Neuron/Cluster,ClusterName} MetricName="Cores"'
    ),
    "no log widget follows the choice": lambda body: [
        body["widgets"].remove(one)
        for one in list(body["widgets"])
        if one["type"] == "log" and "chosen" in one["properties"]["query"]
    ],
}


@pytest.mark.parametrize("expected", MISTAKES)
def test_a_planted_mistake_is_found(body, expected):
    """Each sort of mistake, by a sentence that names it; and none where there is none."""
    changed = copy.deepcopy(body)
    MISTAKES[expected](changed)
    found = problems(json.dumps(changed))
    assert any(expected in one for one in found), found


def test_a_body_that_is_no_json_is_found(dashboard):
    """CloudFormation would take it, and CloudWatch refuse it in the middle of a deployment."""
    (found,) = problems(dashboard()["DashboardBody"].rstrip()[:-1])
    assert found.startswith("it is no JSON")

"""The dashboard: CloudWatch draws it, and every graph is of something that is there."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest

from neuron_wire.catalogue import STACK
from neuron_wire.names import STACK_NAMESPACE
from tests.stack.dashboard_body import log_queries, problems
from tests.stack.dashboard_series import series
from tests.stack.query_names import kinds
from tests.stack.stated_alarms import EMULATED
from tests.stack.template_resources import of_type

CHOICES = [
    {"ClusterName": cluster, "Mode": mode, **account}
    for cluster, account, mode in product(["", "blue"], [{}, EMULATED], ["direct", "kinesis"])
]


# --- what is deployed ---


def test_its_name_has_the_stack_and_the_region(dashboards):
    """
    Dashboards are global in an account: two stacks, or one in two regions, would share a name.
    """
    (usual,) = dashboards().values()
    assert "neuron-emf-us-east-1" == usual["DashboardName"]
    (found,) = dashboards(**{"AWS::StackName": "blue", "AWS::Region": "eu-west-1"}).values()
    assert "blue-eu-west-1" == found["DashboardName"]
    regions = set(json.dumps(json.loads(found["DashboardBody"])).split('"'))
    assert "eu-west-1" in regions
    assert "us-east-1" not in regions


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_it_has_no_mistake_whatever_the_parameters_say(dashboards, choice):
    """
    It is JSON after substitution, fits 24 columns, and each metric, dimension, statistic and field
    is in the catalogue.
    """
    for one in dashboards(**choice).values():
        assert [] == problems(one["DashboardBody"])


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_alarm_of_the_deployment_is_on_it_once(dashboards, deployed, choice):
    """And none that the deployment does not have: a widget with one unknown ARN shows an error."""
    bodies = [json.loads(one["DashboardBody"]) for one in dashboards(**choice).values()]
    widgets = [widget for one in bodies for widget in one["widgets"]]
    shown = [arn for one in widgets for arn in one["properties"].get("alarms", [])]
    alarms = of_type(deployed(**choice), "AWS::CloudWatch::Alarm")
    assert sorted(f"<{name}.Arn>" for name in alarms) == sorted(shown)


def test_it_says_first_whether_its_data_are_whole(body):
    """Alarms, age, coverage and silence before the cost: dead data would look cheap."""
    top = [one for one in body["widgets"] if one["y"] < 10]
    assert ["alarm", "metric", "metric", "metric"] == [
        one["type"] for one in top if one["type"] != "text"
    ]
    metrics = [
        {one.metric for one in series(widget["properties"]["metrics"], widget["properties"])}
        for widget in top
        if widget["type"] == "metric"
    ]
    assert [
        {"MinutesClosed", "CoveragePercent", "SilentInstances"},
        {"IdleCores", "BusyCores", "UnknownCores", "NeuronCores"},
        {"IdleCostPerHour", "AvoidableCostPerHour"},
    ] == metrics


def test_a_number_of_all_clusters_is_no_sum_of_publications(body):
    """A restated minute has several values: the mean of five minutes is added, with a name."""
    shown = [one for one in body["widgets"] if one["properties"].get("view") == "singleValue"]
    assert shown
    for widget in shown:
        for one in series(widget["properties"]["metrics"], widget["properties"]):
            assert 300 == one.period
            assert one.stat in {"Average", "Maximum"} or one.namespace == STACK_NAMESPACE
        assert all(row[-1]["label"] for row in widget["properties"]["metrics"])


def test_whatever_the_stack_counts_of_itself_is_on_it(body):
    """A count of losses that nobody draws is a loss that nobody sees; the pipeline comes last."""
    shown = {
        one.metric
        for widget in body["widgets"]
        if widget["type"] == "metric"
        for one in series(widget["properties"]["metrics"], widget["properties"])
        if one.namespace == STACK_NAMESPACE
    }
    assert STACK.keys() == shown
    last = [one["properties"]["markdown"] for one in body["widgets"] if one["type"] == "text"][-1]
    assert last.startswith("## Pipeline")


def test_a_deployment_for_one_cluster_opens_with_it(dashboards):
    """Otherwise with the first in the alphabet."""
    for cluster, expected in (("blue", "blue"), ("", "__FIRST")):
        body = json.loads(dashboards(ClusterName=cluster)["Dashboard"]["DashboardBody"])
        assert [expected] == [one["defaultValue"] for one in body["variables"]]


def test_log_widgets_ask_the_log_group_that_has_their_lines(dashboards):
    """Rollups are in a group of their own."""
    queries = log_queries(dashboards()["Dashboard"]["DashboardBody"])
    assert len(queries) == 8
    for query in queries:
        (group,) = re.findall(r"SOURCE ['\"]([^'\"]+)['\"]", query)
        is_of_stack = kinds(query) == {"rollup"}
        assert ("<RollupsLogGroup>" if is_of_stack else "/neuron-emf/records") == group

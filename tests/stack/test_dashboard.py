"""The dashboards: CloudWatch draws them, and every graph is of something that is there."""

from __future__ import annotations

import json
from itertools import product

import pytest

from local.insights import engine
from local.insights.parser import parse
from neuron_wire.catalogue import STACK
from neuron_wire.names import STACK_NAMESPACE
from tests.stack.dashboard_body import log_queries, problems
from tests.stack.dashboard_series import series
from tests.stack.insights.lines import START_MS, emitted, idle, iso, profile, rollup
from tests.stack.insights.reading import kinds
from tests.stack.stated_alarms import EMULATED
from tests.stack.template_resources import of_type

EVENTS = "Events, the latest first"
CHOICES = [
    {"ClusterName": cluster, "Mode": mode, **account}
    for cluster, account, mode in product(["", "blue"], [{}, EMULATED], ["direct", "kinesis"])
]


# --- what is deployed ---


def test_their_names_have_the_stack_and_the_region(dashboards):
    """
    Dashboards are global in an account: two stacks, or one in two regions, would share a name.
    """
    assert ["neuron-emf-us-east-1", "neuron-emf-us-east-1-pipeline"] == [
        one["DashboardName"] for one in dashboards().values()
    ]
    found = dashboards(**{"AWS::StackName": "blue", "AWS::Region": "eu-west-1"}).values()
    assert ["blue-eu-west-1", "blue-eu-west-1-pipeline"] == [one["DashboardName"] for one in found]
    for one in found:
        regions = set(json.dumps(json.loads(one["DashboardBody"])).split('"'))
        assert "eu-west-1" in regions
        assert "us-east-1" not in regions


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_no_dashboard_has_a_mistake_whatever_the_parameters_say(dashboards, choice):
    """
    It is JSON after substitution, fits 24 columns, and each metric, dimension, statistic and field
    is in the catalogue.
    """
    for one in dashboards(**choice).values():
        assert [] == problems(one["DashboardBody"])


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_alarm_of_the_deployment_is_on_a_dashboard(dashboards, deployed, choice):
    """And none that the deployment does not have: a widget with one unknown ARN shows an error."""
    bodies = [json.loads(one["DashboardBody"]) for one in dashboards(**choice).values()]
    widgets = [widget for one in bodies for widget in one["widgets"]]
    shown = [arn for one in widgets for arn in one["properties"].get("alarms", [])]
    alarms = of_type(deployed(**choice), "AWS::CloudWatch::Alarm")
    assert {f"<{name}.Arn>" for name in alarms} == set(shown)
    assert (len(shown) == len(set(shown))) is (EMULATED.keys() - choice.keys() != set())


def test_the_fleet_s_dashboard_says_first_whether_its_data_are_whole(body):
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
        {"SecondsBehind", "CoveragePercent", "SilentInstances"},
        {"IdleCores", "BusyCores", "UnknownCores", "NeuronCores"},
        {"IdleCostPerHour", "AvoidableCostPerHour", "UnpricedCores"},
    ] == metrics


def test_a_number_of_all_clusters_is_no_sum_of_publications(body):
    """A restated minute has several values: the mean of five minutes is added, with a name."""
    shown = [one for one in body["widgets"] if one["properties"].get("view") == "singleValue"]
    assert shown
    for widget in shown:
        for one in series(widget["properties"]["metrics"], widget["properties"]):
            assert 300 == one.period
            assert one.stat in {"Average", "Maximum"}
        assert all(row[-1]["label"] for row in widget["properties"]["metrics"])


def test_whatever_the_stack_says_of_itself_is_on_the_pipeline_s_dashboard(bodies):
    """A count of losses that nobody draws is a loss that nobody sees."""
    shown = {
        one.metric
        for widget in bodies["PipelineDashboard"]["widgets"]
        if widget["type"] == "metric"
        for one in series(widget["properties"]["metrics"], widget["properties"])
        if one.namespace == STACK_NAMESPACE
    }
    assert STACK.keys() == shown


def test_a_deployment_for_one_cluster_opens_with_it(dashboards):
    """Otherwise with the first in the alphabet."""
    for cluster, expected in (("blue", "blue"), ("", "__FIRST")):
        body = json.loads(dashboards(ClusterName=cluster)["Dashboard"]["DashboardBody"])
        assert [expected] == [one["defaultValue"] for one in body["variables"]]


def test_log_widgets_ask_the_log_group_that_has_their_lines(dashboards):
    """Rollups are in a group of their own."""
    queries = log_queries(dashboards()["Dashboard"]["DashboardBody"])
    assert len(queries) == 7
    for query in queries:
        (group,) = [one.expressions[0].value for one in parse(query) if one.name == "SOURCE"]
        is_of_stack = kinds(query) == {"rollup"}
        assert ("<RollupsLogGroup>" if is_of_stack else "/neuron-emf/records") == group


def test_the_choice_reaches_metrics_and_log_queries(body):
    """CloudWatch puts the chosen name wherever the pattern stands."""
    (variable,) = body["variables"]
    chosen = json.loads(json.dumps(body["widgets"]).replace(variable["pattern"], "blue"))
    changed = [new["type"] for new, old in zip(chosen, body["widgets"], strict=True) if new != old]
    assert {"log": 5, "metric": 13, "text": 1} == {name: changed.count(name) for name in changed}


# --- what the log widgets say ---


def rows(body, title, lines):
    """What the log widget called *title* shows of *lines*, cluster training chosen."""
    (query,) = [
        one["properties"]["query"]
        for one in body["widgets"]
        if one["properties"].get("title") == title
    ]
    return engine.run(query.replace(body["variables"][0]["pattern"], "training"), lines)


def test_the_fleet_table_shows_the_last_publication_of_the_last_minute(body):
    """One row for each cluster, however often a minute was restated."""
    lines = [
        rollup(0, Instances=9),
        rollup(1, Instances=1),
        rollup(1, number=2, Instances=2),
        rollup(1, cluster="serving", Instances=3),
        rollup(0, number=5, Instances=8),
    ]
    found = rows(body, "All clusters: the last rollup of each", [*lines, *lines])
    assert [("serving", 3, iso(1)), ("training", 2, iso(1))] == sorted(
        (row["ClusterName"], row["Instances"], row["Minute"]) for row in found
    )


def test_the_owners_of_all_clusters_are_as_they_were_said_last(body):
    """The costliest of the newest minute first, in cents, however often a line came."""
    lines = [
        rollup(minute, cluster=cluster, IdleCores=40, TopIdleOwners=[
            {"Owner": "slurm:1 ann", "Team": "ml", "Cores": 32 + minute, "Instances": 1,
             "IdleMinutes": 20 + minute, "UsdPerHour": 21.504},
            {"Owner": "[unallocated]", "Cores": 8, "Instances": 2, "IdleMinutes": 90},
        ])
        for minute in (0, 1)
        for cluster in ("training", "serving")
    ]  # fmt: skip
    found = rows(body, "Who holds idle cores", [*lines, *lines])
    assert ["slurm:1 ann", "slurm:1 ann", "[unallocated]", "[unallocated]"] == [
        row["Owner"] for row in found
    ]
    assert {(33, 1, 21, 21.5, iso(1))} == {
        (row["IdleCores"], row["OnInstances"], row["LongestIdleMinutes"], row["UsdPerHour"],
         row["LastMinute"])
        for row in found[:2]
    }  # fmt: skip


def test_the_tables_of_one_cluster_show_no_other(body):
    """Idle instances, silent ones, stragglers and events."""
    straggler = {"InstanceId": "i-0s", "BusyUtilization": 20, "TypeMedian": 80}
    lines = [
        line
        for cluster in ("training", "serving")
        for line in (
            rollup(
                0,
                cluster=cluster,
                IdleInstanceCount=1,
                TopIdleInstances=[idle(f"i-{cluster}", 2, 30)],
                SilentInstances=1,
                SilentInstanceNames=[{"InstanceId": f"i-{cluster}", "LastSeen": iso(0)}],
                Stragglers=1,
                StragglerInstances=[straggler | {"InstanceId": f"i-{cluster}"}],
            ),
            emitted("event", 0, 1, instance=f"i-{cluster}", cluster=cluster, Event="EccRise"),
        )
    ]
    for title in ("Instances with idle cores", "Silent instances", "Stragglers", EVENTS):
        assert ["i-training"] == [row["InstanceId"] for row in rows(body, title, lines)], title


def test_an_event_that_came_twice_is_shown_once(body):
    """Its identity tells; the latest stands first."""
    lines = [emitted("event", at, at, Event=name) for at, name in enumerate("abb")]
    found = rows(body, EVENTS, [*lines, *lines])
    assert [START_MS + at * 60_000 for at in (2, 1, 0)] == [row["@timestamp"] for row in found]


def test_a_profile_is_shown_once_with_what_it_breaks(body):
    """However often it was told; the latest stands first, and those of other clusters stay away."""
    lines = [
        profile(0, mfu_estimated_percent=0.25, hardware_flops=100, transpose_flops=11),
        profile(1, mfu_estimated_percent=0.5),
        profile(2, cluster="serving", mfu_estimated_percent=0.75),
    ]
    found = rows(body, "Profiles, the latest first", [*lines, *lines])
    assert [("0.0", 50, None), ("0.0", 25, "transpose")] == [
        (row["Core"], row["MfuPercent"], row.get("Findings")) for row in found
    ]

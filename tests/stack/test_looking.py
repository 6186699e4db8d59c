"""The dashboards, the saved queries and their page: every name exists."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest

from neuron_wire.catalogue import DEFAULT_ROLLUP_METRICS, STACK_METRICS
from neuron_wire.names import STACK_NAMESPACE
from tests.stack.catalogue_names import kinds, series, unknown_names, widget_problems
from tests.stack.stack_template import EMULATED, of_type

DASHBOARD_COLUMNS = 24
DASHBOARD_CHOICES = [
    {"ClusterName": cluster, "Mode": mode, **account}
    for cluster, account, mode in product(["", "blue"], [{}, EMULATED], ["direct", "kinesis"])
]


# --- dashboards ---


@pytest.mark.parametrize("choice", DASHBOARD_CHOICES, ids=str)
def test_it_has_no_mistake_whatever_the_parameters_say(dashboards, choice):
    """
    A dashboard is JSON after substitution, fits 24 columns, and names only metrics, dimensions,
    statistics and fields of the catalogue.
    """
    for dashboard in dashboards(**choice).values():
        for widget in json.loads(dashboard["DashboardBody"])["widgets"]:
            properties = widget["properties"]
            if widget["type"] == "metric":
                assert [] == widget_problems(properties), properties["title"]
            elif widget["type"] == "log":
                assert [] == unknown_names(properties["query"]), properties["title"]
            assert widget["x"] + widget["width"] <= DASHBOARD_COLUMNS


@pytest.mark.parametrize("choice", DASHBOARD_CHOICES, ids=str)
def test_every_alarm_of_the_deployment_is_on_it_once(dashboards, deployed, choice):
    """
    The dashboard has each alarm of the deployment once and no other, because an unknown ARN shows
    an error.
    """
    bodies = [json.loads(dashboard["DashboardBody"]) for dashboard in dashboards(**choice).values()]
    widgets = [widget for body in bodies for widget in body["widgets"]]
    shown = [arn for widget in widgets for arn in widget["properties"].get("alarms", [])]
    alarms = of_type(deployed(**choice), "AWS::CloudWatch::Alarm")
    assert sorted(f"<{name}.Arn>" for name in alarms) == sorted(shown)


def test_a_number_of_all_clusters_is_no_sum_of_publications(body):
    """
    A number of all clusters has a label and a mean or maximum of five minutes, because a restated
    minute has several values.
    """
    shown = [
        widget for widget in body["widgets"] if widget["properties"].get("view") == "singleValue"
    ]
    assert shown
    for widget in shown:
        for drawn in series(widget["properties"]["metrics"], widget["properties"]):
            assert 300 == drawn.period
            assert drawn.stat in {"Average", "Maximum"} or drawn.namespace == STACK_NAMESPACE
        assert all(row[-1]["label"] for row in widget["properties"]["metrics"])


def test_whatever_the_stack_counts_of_itself_is_on_it(body):
    """Every self-metric of the stack has a graph in the last section, Pipeline."""
    shown = {
        drawn.metric
        for widget in body["widgets"]
        if widget["type"] == "metric"
        for drawn in series(widget["properties"]["metrics"], widget["properties"])
        if drawn.namespace == STACK_NAMESPACE
    }
    assert STACK_METRICS.keys() == shown
    last = [
        widget["properties"]["markdown"] for widget in body["widgets"] if widget["type"] == "text"
    ][-1]
    assert last.startswith("## Pipeline")


CLUSTER_SEARCH = re.compile(
    r"SEARCH\('\{Neuron/Cluster,ClusterName\} MetricName=\"(\w+)\"', '(\w+)', (60|300)\)"
)


@pytest.fixture(scope="module")
def committed(repository):
    """Return the file that operators import."""
    return (repository / "deploy" / "grafana" / "neuron-emf.json").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def panels(committed):
    """Return the panels by title."""
    return {load["title"]: load for load in json.loads(committed)["panels"]}


def test_every_metric_is_read_with_the_statistic_that_is_true_for_it(panels):
    """Each search has the statistic of the catalogue, so that a restated gauge does not double."""
    for title, panel in panels.items():
        if panel["targets"][0]["queryMode"] == "Logs":
            continue
        for text in [target["expression"] for target in panel["targets"]]:
            searches = CLUSTER_SEARCH.findall(text)
            assert searches, title
            rest = CLUSTER_SEARCH.sub("", text)
            assert re.fullmatch(r"|(SUM|MIN)\(\)( - SUM\(\))?", rest), text
            for metric, statistic, _ in searches:
                assert DEFAULT_ROLLUP_METRICS[metric].statistic == statistic, metric


def test_the_table_of_owners_asks_for_fields_that_rollups_have(panels):
    """The table of owners reads fields of rollups in the rollups' log group of the chosen stack."""
    (query,) = panels["Owners of idle cores"]["targets"]
    assert ["/neuron-emf/${stack}/rollups"] == query["logGroupNames"]
    assert {"rollup"} == kinds(query["expression"])
    assert [] == unknown_names(query["expression"])


QUERY_NAMES = {
    "CoresByOwnerQuery": "cores-by-owner",
    "IdleCoresQuery": "idle-cores-by-instance",
    "IdleCostQuery": "idle-cost-by-cluster",
    "SilentInstancesQuery": "silent-instances",
    "ExecutionErrorsQuery": "execution-errors-by-runtime",
    "HardwareErrorsQuery": "hardware-errors-by-instance",
    "LatencyGapQuery": "latency-gap",
    "EmittersQuery": "emitters-that-dropped-or-restarted",
    "CoresQuery": "cores-of-instance",
}
ROLLUP_QUERIES = {"IdleCoresQuery", "IdleCostQuery", "SilentInstancesQuery"}

# --- saved queries ---


@pytest.mark.parametrize("name", QUERY_NAMES)
def test_every_field_that_a_query_names_is_in_the_catalogue(queries, name):
    """
    Each field in a query is in the catalogue: Logs Insights returns an empty result for any other.
    """
    assert [] == unknown_names(queries[name]["QueryString"])


@pytest.mark.parametrize("name", QUERY_NAMES)
def test_a_query_asks_the_log_group_that_has_its_lines(queries, name):
    """A query reads the log group of its lines; rollups have a group of their own."""
    assert (name in ROLLUP_QUERIES) is ({"rollup"} == kinds(queries[name]["QueryString"]))
    group = "<RollupsLogGroup>" if name in ROLLUP_QUERIES else "/neuron-emf/records"
    assert [group] == queries[name]["LogGroupNames"]


@pytest.mark.parametrize("name", QUERY_NAMES)
def test_a_query_reads_only_the_lines_that_it_is_about(queries, deployed, name):
    """
    A query begins with an indexed field of the log group, because CloudWatch bills by the data it
    reads.
    """
    group = "RollupsLogGroup" if name in ROLLUP_QUERIES else "RecordsLogGroup"
    (policy,) = deployed()[group]["Properties"]["FieldIndexPolicies"]
    condition = re.search(r"^filter (.+)$", queries[name]["QueryString"], re.MULTILINE)[1]
    terms = [] if " or " in condition and "(" not in condition else condition.split(" and ")
    equal = {match[1] for term in terms if (match := re.match(r"(\w+) (?:=|in) ", term))}
    assert {"Kind"} <= equal <= set(policy["Fields"])

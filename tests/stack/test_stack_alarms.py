"""The template's alarms: their windows, statistics, recipients and runbooks."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest

import neuron_emitter
from aggregator.explain.ending import HARDWARE_WINDOW_MINUTES
from local.alarms.definition import MetricsInsightsQuery
from local.alarms.template import Template, load, load_template
from neuron_wire.catalogue import DEFAULT_ROLLUP_METRICS, STACK_METRICS
from tests.docs.linked_pages import anchor_of
from tests.stack.catalogue_names import unknown_names
from tests.stack.stack_template import (
    ALARM_TYPE,
    EMULATED,
    ONE_CLUSTER,
    PAGES_ADDRESS,
    SUBJECTS,
    description_of,
    of_type,
    on_pipeline,
    on_rollups,
    release_template,
    stated,
)

ALARM_CHOICES = [
    {"ClusterName": cluster, "Mode": mode, **account}
    for cluster, account, mode in product(
        ["", "training"], [{}, EMULATED], ["direct", "kinesis", "drain"]
    )
]
OF_CLUSTERS = [f"{subject}Alarm" for subject in SUBJECTS]
TOPIC = "arn:aws:sns:us-east-1:123456789012"
DAY_SECONDS = 86_400
SILENCE_ALARMS = {"NoMinuteClosedAlarm", "HoursNotSettledAlarm"}
INSIGHTS_S = 3 * 3600
"""The longest window of an alarm: a day, or three hours for a query."""


# --- the list of alarms ---


@pytest.mark.parametrize("choice", ALARM_CHOICES, ids=str)
def test_its_alarms_watch_clusters_whatever_the_parameters_say(template, choice):
    """
    The alarms of the template watch clusters, whatever the parameters, except in the rehearsal,
    which evaluates the queries itself.
    """
    expected = set() if EMULATED.items() <= choice.items() else set(OF_CLUSTERS)
    assert expected == on_rollups(template).keys() & stated(template, **choice).keys()


def test_naming_a_cluster_changes_only_the_clusters_of_an_alarm(template):
    """
    A cluster name changes only whose alarm it is: one contributor per cluster, or one for the named
    cluster.
    """
    for name, every in on_rollups(template).items():
        named = stated(template, **ONE_CLUSTER)[name]
        names = ("ClusterName",)
        assert names == every.source.dimensions, name
        assert names == every.source.group_by, name
        assert () == every.source.where, name
        assert named == replace(
            every, source=replace(every.source, where=(("ClusterName", "training"),))
        ), name


def test_more_clusters_than_a_query_returns_leave_out_the_harmless_ones(deployed):
    """The worst clusters come first, because a query returns only its first 500 time series."""
    for name, alarm in of_type(deployed(), ALARM_TYPE).items():
        if name in OF_CLUSTERS:
            worst_first = "ASC" if alarm["ComparisonOperator"].startswith("Less") else "DESC"
            assert alarm["Metrics"][0]["Expression"].endswith(f"() {worst_first}"), name


# --- windows ---


def test_no_alarm_looks_further_back_than_cloudwatch_lets_it(template):
    """No alarm has a longer window than CloudWatch accepts: a day, or three hours for a query."""
    for parameters in ({}, ONE_CLUSTER, {"Mode": "kinesis"}):
        for name, alarm in stated(template, **parameters).items():
            limit_s = INSIGHTS_S if isinstance(alarm.source, MetricsInsightsQuery) else DAY_SECONDS
            assert alarm.evaluation_periods * alarm.period_s <= limit_s, name


def test_only_silence_of_the_stack_itself_breaches(template):
    """Missing data fires only the alarms on a stack that closes or settles nothing."""
    for parameters in ({}, ONE_CLUSTER, {"Mode": "kinesis"}):
        for name, alarm in stated(template, **parameters).items():
            expected = "breaching" if name in SILENCE_ALARMS else "notBreaching"
            assert expected == alarm.missing, name


def test_lateness_alone_does_not_fire_where_missing_data_breach(template):
    """
    If missing data breaches, the whole window must be missing, so that lateness alone does not
    fire.
    """
    alarm = stated(template)["NoMinuteClosedAlarm"]
    assert 10 == alarm.evaluation_periods == alarm.datapoints_to_alarm


@pytest.mark.parametrize("partition", ["aws", "aws-cn", "aws-us-gov"])
@pytest.mark.parametrize(
    ("file", "silent"), [("template.yaml", SILENCE_ALARMS), ("emitters.yaml", {"NoLinesAlarm"})]
)
def test_an_alarm_on_silence_waits_for_a_new_stack_or_documents_that_it_does_not(
    repository, file, silent, partition
):
    """
    An alarm on silence has warm-up in partition `aws`; elsewhere its first message explains itself.
    """
    template = Template(load_template(repository / file), {"AWS::Partition": partition})
    alarms = dict(template.resources("AWS::CloudWatch::Alarm"))
    for name in silent:
        warm_up = alarms[name].get("WarmUpConfiguration", {"WarmUpPeriodDurationInMinutes": 0})
        # NoMinuteClosedAlarm has a window of 10 minutes
        waits = warm_up["WarmUpPeriodDurationInMinutes"] > 10
        assert (partition == "aws") == waits, name
        is_named = "a new stack fires this alarm once, before" in alarms[name]["AlarmDescription"]
        assert waits != is_named, name


# --- statistics and recipients ---


def test_a_repeated_line_changes_no_alarm(template):
    """
    Alarms read the project's metrics with Average or Maximum, because a copy of a line doubles a
    Sum.
    """
    known = {**DEFAULT_ROLLUP_METRICS, **STACK_METRICS}
    words = {"AVG": "Average", "MAX": "Maximum"}
    asked = [
        (name, source.metric, words.get(function, function) or source.statistic)
        for name, alarm in stated(template, Mode="kinesis").items()
        for source in getattr(alarm.source, "metrics", {"": alarm.source}).values()
        for function in [getattr(source, "function", "")]
        if source.metric in known
    ]
    assert len(asked) > len(SUBJECTS)
    for name, metric, statistic in asked:
        member = known[metric]
        expected = "Maximum" if member.family == "tally" else member.statistic
        assert expected == statistic, name


RULE_TYPE = "AWS::Events::Rule"
PERMISSION = "AWS::Lambda::Permission"


@pytest.mark.parametrize(
    ("parameters", "topics"),
    [
        ({}, ["<AlarmTopic>"]),
        ({"AlarmTopicArn": f"{TOPIC}:people"}, [f"{TOPIC}:people"]),
        ({"Chat": "true"}, ["<AlarmTopic>", "<ChatTopic>"]),
    ],
    ids=str,
)
def test_an_alarm_on_the_pipeline_publishes_itself_and_one_on_clusters_leaves_it_to_explain(
    template, deployed, parameters, topics
):
    """
    Alarms on the pipeline publish themselves, because explain may be broken. Alarms on clusters
    leave their message to explain.
    """
    resources = deployed(Mode="kinesis", **parameters)
    for name, properties in of_type(resources, ALARM_TYPE).items():
        expected = topics if name in on_pipeline(template) else None
        assert expected == properties.get("AlarmActions"), name
        assert not {"OKActions", "InsufficientDataActions"} & properties.keys(), name


@pytest.mark.parametrize("parameters", [{}, ONE_CLUSTER], ids=str)
def test_explain_hears_of_every_alarm_on_rollups_and_of_no_other(deployed, parameters):
    """
    Explain gets every alarm on rollups and no other: contributors' states, not the query's own.
    """
    resources = deployed(**parameters)
    rules = {
        name: rule
        for name, rule in of_type(resources, RULE_TYPE).items()
        if "aws.cloudwatch" in rule["EventPattern"]["source"]
    }
    ((name, rule),) = rules.items()
    assert rule["EventPattern"] == {
        "source": ["aws.cloudwatch"],
        "detail-type": ["CloudWatch Alarm Contributor State Change"],
        "resources": [f"<{subject}Alarm.Arn>" for subject in SUBJECTS],
    }
    (target,) = rule["Targets"]
    assert target["Arn"] == "<ExplainFunction.Arn>"
    assert target["DeadLetterConfig"] == {"Arn": "<UndeliveredQueue.Arn>"}
    assert 0 < target["RetryPolicy"]["MaximumEventAgeInSeconds"] <= DAY_SECONDS
    (permission,) = [
        permission
        for permission in of_type(resources, PERMISSION).values()
        if permission["SourceArn"] == f"<{name}.Arn>"
    ]
    assert permission == {
        "Action": "lambda:InvokeFunction",
        "FunctionName": "<ExplainFunction>",
        "Principal": "events.amazonaws.com",
        "SourceArn": f"<{name}.Arn>",
        "SourceAccount": "123456789012",
    }


@pytest.fixture(scope="module")
def runbook(repository):
    """Return the text of docs/operations.md."""
    return (repository / "docs" / "operations.md").read_text(encoding="utf-8")


def test_the_link_is_of_the_release_that_is_deployed(template, repository, deployed):
    """
    An alarm links to the page of its release by https: a clone to its branch, a release to its tag.

    An upgrade keeps the value of each parameter, so no default has a version.
    """
    page = f"{PAGES_ADDRESS}/blob/main/docs/operations.md"
    assert page.startswith("https://")
    released = load(release_template(repository / "template.yaml"))["Mappings"]["Defaults"]
    public = page.replace("/main/", f"/v{neuron_emitter.__version__}/")
    assert public == released["Release"]["Runbook"]
    for given, expected in (
        ("", page),
        ("https://wiki.example.org/n", "https://wiki.example.org/n"),
    ):
        resources = deployed(Runbook=given)
        variables = resources["ExplainFunction"]["Properties"]["Environment"]["Variables"]
        assert expected == variables["RUNBOOK"]
        for alarm in of_type(resources, ALARM_TYPE).values():
            assert f" Runbook: {expected}#" in alarm["AlarmDescription"]
    defaults = {
        name: str(parameter["Default"]) for name, parameter in template["Parameters"].items()
    }
    assert {} == {name: text for name, text in defaults.items() if re.search(r"\d\.\d", text)}


def test_the_end_of_a_hardware_alarm_names_the_window_of_the_alarm(template):
    """The OK message of a hardware alarm has the minutes in which CloudWatch saw no new error."""
    alarm = template["Resources"]["HardwareErrorsAlarm"]["Properties"]
    assert HARDWARE_WINDOW_MINUTES == alarm["EvaluationPeriods"]


def test_every_alarm_has_its_page_and_every_page_its_alarm(template, runbook):
    """Each alarm links to a heading of the runbook, and the runbook has no other heading."""
    headings = [anchor_of(title) for title in re.findall(r"^### (.+)$", runbook, re.MULTILINE)]
    assert len(headings) == len(set(headings))
    linked = set()
    for name, alarm in of_type(template["Resources"], ALARM_TYPE).items():
        link = re.search(r"Runbook: \$\{Runbook\}#([a-z-]+)$", description_of(alarm))
        assert link, name
        linked.add(link[1])
    assert set(headings) == linked


def test_the_queries_of_the_runbook_name_what_lines_have(runbook):
    """
    The runbook's queries use only names that lines have, because an unknown name returns nothing.
    """
    queries = re.findall(r"^```sql\n(.*?)^```$", runbook, re.MULTILINE | re.DOTALL)
    assert queries
    assert [] == [unknown_names(query) for query in queries if unknown_names(query)]

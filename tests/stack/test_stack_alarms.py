"""What the template's alarms wait for and ask for."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest

from local.alarms.expressions import MetricsInsightsQuery, calculate
from local.alarms.template import Template
from neuron_wire.catalogue import ROLLUP, STACK
from tests.stack.stated_alarms import (
    ALARM,
    EMULATED,
    ONE_CLUSTER,
    SUBJECTS,
    description_of,
    on_rollups,
    stated,
)
from tests.stack.template_resources import of_type

EMF_ERRORS = ("EMFParsingErrors", "EMFValidationErrors", "EMFDisabledErrors")
CHOICES = [
    {"ClusterName": cluster, "Mode": mode, **account}
    for cluster, account, mode in product(
        ["", "training"], [{}, EMULATED], ["direct", "kinesis", "drain"]
    )
]
OF_CLUSTERS = [f"{subject}Alarm" for subject in SUBJECTS]
DAY_S = 86_400
INSIGHTS_S = 3 * 3600
"""How far back CloudWatch lets an alarm look: a day, a query's alarm three hours."""


# --- which there are ---


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_six_alarms_watch_clusters_whatever_the_parameters_say(template, choice):
    """All but the rehearsal, whose evaluator runs the queries itself."""
    expected = set() if EMULATED.items() <= choice.items() else set(OF_CLUSTERS)
    assert expected == on_rollups(template).keys() & stated(template, **choice).keys()


def test_naming_a_cluster_changes_whom_an_alarm_asks_about_and_nothing_else(template):
    """One contributor for each cluster, or one for the named one."""
    for name, every in on_rollups(template).items():
        one = stated(template, **ONE_CLUSTER)[name]
        names = ("ClusterName",)
        assert (names, names, ()) == (
            every.source.dimensions, every.source.group_by, every.source.where
        ), name  # fmt: skip
        assert one == replace(
            every, source=replace(every.source, where=(("ClusterName", "training"),))
        ), name


@pytest.mark.parametrize("cluster", ["it's", 'a"b', "a\\"])
def test_a_cluster_that_a_query_cannot_hold_is_refused(template, cluster):
    """A quote would end the value in the query, and the deployment in the middle."""
    pattern = template["Parameters"]["ClusterName"]["AllowedPattern"]
    assert not re.fullmatch(pattern, cluster)
    assert re.fullmatch(pattern, "prod/eu west-1")


def test_more_clusters_than_a_query_returns_leave_out_the_harmless_ones(deployed):
    """A query returns 500 time series: the first ones by its order, which are the worst."""
    for name, alarm in of_type(deployed(), ALARM).items():
        if name in OF_CLUSTERS:
            worst_first = "ASC" if alarm["ComparisonOperator"].startswith("Less") else "DESC"
            assert alarm["Metrics"][0]["Expression"].endswith(f"() {worst_first}"), name


# --- what they wait for ---


def test_no_alarm_looks_further_back_than_cloudwatch_lets_it(template):
    """A day, and three hours for a query."""
    for parameters in ({}, ONE_CLUSTER, {"Mode": "kinesis"}):
        for name, alarm in stated(template, **parameters).items():
            limit_s = INSIGHTS_S if isinstance(alarm.source, MetricsInsightsQuery) else DAY_S
            assert alarm.evaluation_periods * alarm.period_s <= limit_s, name


def test_only_silence_of_the_stack_itself_breaches(template):
    """Unknown is not idle, not slow and not broken; a stack that says nothing is."""
    for parameters in ({}, ONE_CLUSTER, {"Mode": "kinesis"}):
        for name, alarm in stated(template, **parameters).items():
            silence = {"NoMinuteClosedAlarm", "HoursNotSettledAlarm"}
            expected = "breaching" if name in silence else "notBreaching"
            assert expected == alarm.missing, name


def test_where_missing_data_breaches_lateness_alone_does_not_ring(template):
    """All points of the window must be missing, and none is expected right after a deployment."""
    alarm = stated(template)["NoMinuteClosedAlarm"]
    assert 10 == alarm.evaluation_periods == alarm.datapoints_to_alarm
    properties = dict(Template(template).resources("AWS::CloudWatch::Alarm"))
    warm_up = properties["NoMinuteClosedAlarm"]["WarmUpConfiguration"]
    assert alarm.evaluation_periods < warm_up["WarmUpPeriodDurationInMinutes"]


# --- what they ask for ---


def test_a_repeated_line_changes_no_alarm(template):
    """What the stack prints is asked for with Average or Maximum: a copy would double a Sum."""
    known = {**ROLLUP, **STACK}
    words = {"AVG": "Average", "MAX": "Maximum"}
    asked = [
        (name, one.metric, words.get(found := getattr(one, "function", ""), found) or one.statistic)
        for name, alarm in stated(template, Mode="kinesis").items()
        for one in getattr(alarm.source, "metrics", {"": alarm.source}).values()
        if one.metric in known
    ]
    assert len(asked) > len(SUBJECTS)
    for name, metric, statistic in asked:
        member = known[metric]
        expected = "Maximum" if member.family == "tally" else member.statistic
        assert expected == statistic, name


def test_every_threshold_that_a_person_would_tune_is_a_parameter(template):
    """Its alarm uses it and says it; one silent instance and one hardware error are too many."""
    fixed = {"SilentInstances", "HardwareErrors"}
    for name, alarm in of_type(template["Resources"], ALARM).items():
        subject = name.removesuffix("Alarm")
        if subject not in SUBJECTS or subject in fixed:
            continue
        parameter = alarm["Threshold"]["Ref"]
        assert parameter in template["Parameters"], name
        assert f"${{{parameter}}}" in description_of(alarm), name


def test_what_cloudwatch_does_not_extract_is_told(template):
    """Three counts on each of the two groups that metrics come from."""
    source = stated(template)["EmfErrorsAlarm"].source
    found = {(metric.metric, metric.dimensions) for metric in source.metrics.values()}
    groups = ("/neuron-emf/records", "<RollupsLogGroup>")
    assert found == {
        (metric, (("LogGroupName", group),)) for metric, group in product(EMF_ERRORS, groups)
    }


@pytest.mark.parametrize("mode", ["direct", "kinesis", "drain"])
def test_delivery_is_watched_in_every_mode(template, deployed, mode):
    """Of the subscription's own filter and group, whatever it delivers to."""
    subscription = deployed(Mode=mode)["RecordsSubscription"]["Properties"]
    assert stated(template, Mode=mode)["DeliveryErrorsAlarm"].source == MetricsInsightsQuery(
        "SUM",
        "DeliveryErrors",
        "AWS/Logs",
        None,
        (),
        (("FilterName", subscription["FilterName"]), ("LogGroupName", "/neuron-emf/records")),
    )


@pytest.mark.parametrize(
    ("errors", "invocations", "rings"),
    [
        ({"Close": 1}, 4, True),
        ({"Explain": 1}, 4, True),
        ({"Ingest": 4}, 4, True),
        ({"Ingest": 1}, 4, False),
        ({}, 4, False),
    ],
)
def test_a_function_that_fails_is_told_and_a_poisoned_delivery_left_to_the_queue(
    template, errors, invocations, rings
):
    """One fact, one message: what fails three times is undelivered, and that alarm says so."""
    alarm = stated(template)["FunctionErrorsAlarm"]
    counts = {("Errors", f"<{name}Function>"): float(count) for name, count in errors.items()}
    counts["Invocations", "<IngestFunction>"] = float(invocations)
    points = {
        name: [counts.get((one.metric, dict(one.dimensions)["FunctionName"]))]
        for name, one in alarm.source.metrics.items()
    }
    (tree,) = alarm.source.expressions.values()
    assert rings is alarm.breaches(calculate(tree, points)[0] or 0)


def test_what_nobody_could_process_is_watched(template):
    """Each message to the one queue that all failures go to, whatever lies in it already."""
    alarm = stated(template)["UndeliveredAlarm"]
    expected = (("QueueName", "<UndeliveredQueue.QueueName>"),)
    assert (expected, "NumberOfMessagesSent", "Sum") == (
        alarm.source.dimensions, alarm.source.metric, alarm.source.statistic
    )  # fmt: skip
    assert (1, 1) == (alarm.datapoints_to_alarm, alarm.evaluation_periods)

"""What the template's alarms wait for and ask for."""

from __future__ import annotations

from itertools import product

import pytest

from local.alarms import MetricsInsightsQuery
from local.alarms.template import Template
from neuron_wire.catalogue import ROLLUP, STACK
from tests.stack.stated_alarms import ALARM, ONE_CLUSTER, SUBJECTS, on_rollups, stated
from tests.stack.template_resources import of_type

FUNCTION = "AWS::Serverless::Function"
EMF_ERRORS = ("EMFParsingErrors", "EMFValidationErrors", "EMFDisabledErrors")
CHOICES = [
    {"ClusterName": cluster, "Local": local, "Mode": mode}
    for cluster, local, mode in product(
        ["", "training"], ["false", "true"], ["direct", "kinesis", "drain"]
    )
]
DAY_S = 86_400
INSIGHTS_S = 3 * 3600
"""How far back CloudWatch lets an alarm look: a day, a query's alarm three hours."""


# --- which there are ---


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_six_alarms_watch_clusters_whatever_the_parameters_say(template, choice):
    """All but the rehearsal with every cluster, whose evaluator runs the queries itself."""
    left_out = not choice["ClusterName"] and choice["Local"] == "true"
    form = "Alarm" if choice["ClusterName"] else "ByClusterAlarm"
    expected = set() if left_out else {f"{subject}{form}" for subject in SUBJECTS}
    assert expected == on_rollups(template).keys() & stated(template, **choice).keys()


def test_both_forms_of_an_alarm_ask_the_same(template):
    """Naming one cluster changes how it is asked, not what."""
    alarms = on_rollups(template)
    functions = {"Average": "AVG", "Maximum": "MAX"}
    for subject in SUBJECTS:
        one, every = alarms[f"{subject}Alarm"], alarms[f"{subject}ByClusterAlarm"]
        assert every.source == MetricsInsightsQuery(
            functions[one.source.statistic],
            one.source.metric,
            one.source.namespace,
            ("ClusterName",),
            ("ClusterName",),
        ), subject
        assert one.source.dimensions == (("ClusterName", "training"),), subject
        for member in (
            "comparison",
            "threshold",
            "period_s",
            "evaluation_periods",
            "datapoints_to_alarm",
            "missing",
        ):
            assert getattr(one, member) == getattr(every, member), subject


def test_more_clusters_than_a_query_returns_leave_out_the_harmless_ones(template):
    """A query returns 500 time series: the first ones by its order, which are the worst."""
    for name, alarm in of_type(template["Resources"], ALARM).items():
        if not name.endswith("ByClusterAlarm"):
            continue
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
            expected = "breaching" if name == "NoMinuteClosedAlarm" else "notBreaching"
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
    alarms = {**on_rollups(template), "own": stated(template)["NoMinuteClosedAlarm"]}
    known = {**ROLLUP, **STACK}
    for name, alarm in alarms.items():
        query = isinstance(alarm.source, MetricsInsightsQuery)
        found = alarm.source.function if query else alarm.source.statistic
        member = known[alarm.source.metric]
        expected = "Maximum" if member.family == "tally" else member.statistic
        assert expected in ("Average", "Maximum"), name
        assert {"Average": "AVG", "Maximum": "MAX"}[expected] if query else expected == found, name


def test_every_threshold_that_a_person_would_tune_is_a_parameter(template):
    """
    Its alarms use it and say it, in both forms; one memory error is one too many for everybody.
    """
    fixed = {"EccErrors"}
    for name, alarm in of_type(template["Resources"], ALARM).items():
        subject = name.removesuffix("Alarm").removesuffix("ByCluster")
        if subject not in SUBJECTS or subject in fixed:
            continue
        parameter = alarm["Threshold"]["Ref"]
        assert parameter in template["Parameters"], name
        assert f"${{{parameter}}}" in alarm["AlarmDescription"]["Fn::Sub"], name


@pytest.mark.parametrize("group", ["Records", "Rollups"])
def test_what_cloudwatch_does_not_extract_is_told(template, group):
    """Three counts on each of the two groups that metrics come from."""
    groups = {"Records": "/neuron-emf/records", "Rollups": "<RollupsLogGroup>"}
    found = {
        alarm.source.metric
        for alarm in stated(template).values()
        if not isinstance(alarm.source, MetricsInsightsQuery)
        and alarm.source.dimensions == (("LogGroupName", groups[group]),)
    }
    assert set(EMF_ERRORS) == found


@pytest.mark.parametrize("mode", ["direct", "kinesis", "drain"])
def test_delivery_is_watched_in_every_mode(template, deployed, mode):
    """Of the subscription's own filter and group, whatever it delivers to."""
    subscription = deployed(Mode=mode)["RecordsSubscription"]["Properties"]
    alarms = stated(template, Mode=mode)
    for metric in ("DeliveryErrors", "DeliveryThrottling"):
        source = alarms[f"{metric}Alarm"].source
        assert source == MetricsInsightsQuery(
            "SUM",
            metric,
            "AWS/Logs",
            ("DestinationType", "FilterName", "LogGroupName"),
            (),
            (("FilterName", subscription["FilterName"]), ("LogGroupName", "/neuron-emf/records")),
        )


def test_every_function_is_watched(template, deployed):
    """Errors, throttles and four fifths of its own timeout."""
    alarms = stated(template)
    for name, function in of_type(deployed(), FUNCTION).items():
        watched = {
            alarm.source.metric: alarm
            for alarm in alarms.values()
            if not isinstance(alarm.source, MetricsInsightsQuery)
            and alarm.source.dimensions == (("FunctionName", f"<{name}>"),)
        }
        assert {"Errors", "Throttles", "Duration"} == watched.keys(), name
        assert 800 * function["Timeout"] == watched["Duration"].threshold, name
        seconds = f"timeout of {function['Timeout']} s"
        described = template["Resources"][watched["Duration"].logical_id]["Properties"]
        assert seconds in described["AlarmDescription"]["Fn::Sub"], name


def test_what_nobody_could_process_is_watched(template):
    """The one queue that all failures go to."""
    source = stated(template)["UndeliveredAlarm"].source
    expected = (("QueueName", "<UndeliveredQueue.QueueName>"),)
    assert (expected, "Maximum") == (source.dimensions, source.statistic)

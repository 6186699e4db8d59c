"""The template's alarms: what each watches, when it is in alarm, what missing data means to it."""

from __future__ import annotations

import re

from local.alarms import Template, read_alarms
from local.alarms.definition import COMPARISONS
from local.alarms.evaluation import EXTRA_PERIODS
from local.alarms.insights import MetricsInsightsQuery
from neuron_wire import CLUSTER_NAMESPACE
from tests.docs.reference.markdown import code, codes, table
from tests.stack.template_resources import of_type

ALARM = "AWS::CloudWatch::Alarm"
ONE_CLUSTER = {"ClusterName": "training"}
MODES = ({}, ONE_CLUSTER, {"Mode": "kinesis"})
MILLISECONDS = {"Duration", "IteratorAge"}
HEADS = ["alarm", "watches", "in alarm when"]


def typed(template):
    """The alarms as the evaluator of the rehearsal reads them, by logical id."""
    found = {}
    for parameters in MODES:
        for alarm in read_alarms(Template(template, parameters)):
            found[alarm.logical_id] = alarm
    return found


def alarms_table(template, *, on_clusters):
    """
    One row for alarms on rollups, or on the rest, that watch the same and decide alike.

    The two forms of an alarm on rollups, of which a deployment has one, share a row.
    """
    alarms = typed(template)
    rows = {}
    for name, stated in of_type(template["Resources"], ALARM).items():
        alarm = alarms[name]
        if (alarm.namespace == CLUSTER_NAMESPACE) == on_clusters:
            link = f"[{code(name)}](../operations.md#{anchor(stated)})"
            key = (
                alarm.source.metric
                if on_clusters
                else (watched(alarm, stated), rings(alarm, stated))
            )
            rows.setdefault(key, ([], alarm, stated))[0].append(link)
    return table(
        HEADS,
        [
            [", ".join(links), watched(alarm, stated), rings(alarm, stated)]
            for links, alarm, stated in rows.values()
        ],
    )


def watched(alarm, stated):
    """The metric with its statistic, and of whom."""
    source = alarm.source
    if isinstance(source, MetricsInsightsQuery):
        of = f", each {codes(source.group_by)} for itself" if source.group_by else ""
        return f"{code(source.metric)} {source.function} by Metrics Insights{of}"
    if alarm.namespace == CLUSTER_NAMESPACE:
        return f"{code(source.metric)} {source.statistic}"
    names = [one["Name"] for one in stated.get("Dimensions", [])]
    of = f" by {' and '.join(code(one) for one in names)}" if names else ""
    return f"{code(source.metric)} {source.statistic} in `{source.namespace}`{of}"


def rings(alarm, stated):
    """The comparison, with the parameter that sets the threshold, and M of N."""
    words = COMPARISONS[alarm.comparison][1]
    limit = f"{words} {alarm.threshold:,g}"
    if isinstance(stated["Threshold"], dict) and "Ref" in stated["Threshold"]:
        limit += f" (`{stated['Threshold']['Ref']}`)"
    elif alarm.source.metric in MILLISECONDS:
        limit += " ms"
    length = "minutes" if alarm.period_s == 60 else f"periods of {alarm.period_s // 60} minutes"
    missing = ""
    if alarm.missing == "breaching":
        least = alarm.evaluation_periods + EXTRA_PERIODS
        missing = f"; missing data breaches when there is no other in at least {least} {length}"
    return f"{limit} in {alarm.datapoints_to_alarm} of {alarm.evaluation_periods} {length}{missing}"


def anchor(stated):
    """The heading of the runbook that its message ends with."""
    return re.search(r"\$\{Runbook\}#([a-z-]+)$", stated["AlarmDescription"]["Fn::Sub"])[1]

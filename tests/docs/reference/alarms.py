"""The template's alarms: what each watches, when it is in alarm, what silence means to it, and why."""

from __future__ import annotations

import re

from local.alarms import Template, read_alarms
from local.alarms.definition import COMPARISONS
from local.alarms.insights import InsightsQuery
from neuron_wire import CLUSTER_NAMESPACE
from tests.docs.reference.markdown import code, codes, table
from tests.stack.template_resources import of_type

ALARM = "AWS::CloudWatch::Alarm"
ONE_CLUSTER = {"ClusterName": "training"}
MODES = ({}, ONE_CLUSTER, {"Mode": "kinesis"})
MILLISECONDS = {"Duration", "IteratorAge"}
BY_CLUSTER = "ByClusterAlarm"
TREATMENTS = {
    "notBreaching": "is not breaching",
    "breaching": "is breaching",
    "ignore": "keeps the state",
    "missing": "is no state",
}
HEADS = ["alarm", "watches", "in alarm when", "a minute without data"]


def typed(template):
    """The alarms as the evaluator of the rehearsal reads them, by logical id."""
    found = {}
    for parameters in MODES:
        for alarm in read_alarms(Template(template, parameters)):
            found[alarm.logical_id] = alarm
    return found


def alarms_table(template, text, *, on_clusters):
    """
    One row for each alarm on rollups, or for each of the others.

    The two forms of an alarm on rollups, of which a deployment has one, share a row.
    """
    properties = of_type(template["Resources"], ALARM)
    alarms = typed(template)
    return table(
        HEADS,
        [
            row(name, alarms[name], stated, text)
            for name, stated in properties.items()
            if (alarms[name].namespace == CLUSTER_NAMESPACE) == on_clusters
            and not (on_clusters and BY_CLUSTER in name)
        ],
    )


def row(name, alarm, stated, text):
    """One alarm in four cells, the first of which leads to what to do."""
    names = [name]
    if alarm.namespace == CLUSTER_NAMESPACE:
        names.append(f"{name.removesuffix('Alarm')}{BY_CLUSTER}")
    return [
        ", ".join(f"[{code(one)}](../operations.md#{anchor(stated)})" for one in names),
        watched(alarm, stated),
        rings(alarm, stated),
        f"{TREATMENTS[alarm.missing]}: {reason(name, text)}",
    ]


def watched(alarm, stated):
    """The metric with its statistic, and of whom."""
    source = alarm.source
    if isinstance(source, InsightsQuery):
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
    return f"{limit} in {alarm.datapoints_to_alarm} of {alarm.evaluation_periods} {length}"


def reason(name, text):
    """What the template says beside its rule for missing data."""
    resource = re.search(rf"^  {name}:\n(.*?)(?=^  \S|^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    said = re.search(r"TreatMissingData: \w+ # (.+)", resource[1])
    return said[1]


def anchor(stated):
    """The heading of the runbook that its message ends with."""
    return re.search(r"\$\{Runbook\}#([a-z-]+)$", stated["AlarmDescription"]["Fn::Sub"])[1]

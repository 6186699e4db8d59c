"""The template's alarms: the metrics, the condition, and the effect of missing data."""

from __future__ import annotations

import re

from docs.generate.markdown import code, codes
from local.alarms.definition import COMPARISONS, MetricMath, MetricsInsightsQuery, read_alarms
from local.alarms.evaluation import EXTRA_PERIODS
from local.alarms.template import Template
from neuron_wire import CLUSTER_NAMESPACE
from tests.stack.stack_template import description_of, of_type
from tests.stack.test_faults_and_alarms import ALARM_SPANS, STACK_FAULTS, messages

ALARM_TYPE = "AWS::CloudWatch::Alarm"


def typed(template):
    """Return the alarms as the rehearsal's evaluator reads them, by logical ID."""
    found = read_alarms(Template(template, {"Mode": "kinesis"}))
    return {alarm.logical_id: alarm for alarm in found}


def alarms_list(template, *, on_clusters):
    """Return an item for each alarm on rollups, or for each other alarm."""
    alarms = typed(template)
    items = []
    for name, stated in of_type(template["Resources"], ALARM_TYPE).items():
        alarm = alarms[name]
        if (alarm.namespace == CLUSTER_NAMESPACE) == on_clusters:
            link = f"[{code(name)}](#{anchor(stated)})"
            items.append(f"- {link}: {watched(alarm)}, {rings(alarm, stated)}.\n")
    return "".join(items)


def watched(alarm):
    """Return the metrics with their statistic; for metric math, the metrics in it."""
    source = alarm.source
    if isinstance(source, MetricsInsightsQuery):
        return f"{code(source.metric)} {source.function}"
    if isinstance(source, MetricMath):
        names = dict.fromkeys(metric.metric for metric in source.metrics.values())
        return f"metric math over {codes(names)}"
    return f"{code(source.metric)} {source.statistic}"


def rings(alarm, stated):
    """Return the comparison, with the parameter that sets the threshold, and M of N."""
    words = COMPARISONS[alarm.comparison][1]
    limit = f"{words} {alarm.threshold:,g}"
    if isinstance(stated["Threshold"], dict) and "Ref" in stated["Threshold"]:
        limit += f" (`{stated['Threshold']['Ref']}`)"
    elif getattr(alarm.source, "metric", "") == "IteratorAge":
        limit += " ms"
    length = "minutes" if alarm.period_s == 60 else f"periods of {alarm.period_s // 60} minutes"
    missing = ""
    if alarm.missing == "breaching":
        least = alarm.evaluation_periods + EXTRA_PERIODS
        missing = f", or no data for at least {least} {length}"
    return f"{limit} in {alarm.datapoints_to_alarm} of {alarm.evaluation_periods} {length}{missing}"


def faults_list():
    """Return for each fault the alarm, its delay in minutes, and the number of messages."""
    items = []
    for fault in STACK_FAULTS:
        spans = ALARM_SPANS.get(fault, {})
        if not spans:
            continue
        words = [f"{code(name)} {_from_to(*minutes)}" for name, minutes in spans.items()]
        count = messages(spans)
        said = f" ({count} messages)" if count > 1 else ""
        items.append(f"- {fault[0].upper()}{fault[1:]}: {', '.join(words)}{said}.\n")
    return "".join(items)


def _from_to(first, last):
    return f"{first} to {last}" if last else f"from {first}"


def anchor(stated):
    """Return the heading of the runbook that its message ends with."""
    return re.search(r"\$\{Runbook\}#([a-z-]+)$", description_of(stated))[1]

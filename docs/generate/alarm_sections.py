"""The template's alarms: what each watches, when it is in alarm, what missing data means to it."""

from __future__ import annotations

import re

from docs.generate.markdown import code, codes
from local.alarms.definition import COMPARISONS, MetricMath, MetricsInsightsQuery, read_alarms
from local.alarms.evaluation import EXTRA_PERIODS
from local.alarms.template import Template
from neuron_wire import CLUSTER_NAMESPACE
from tests.stack.stack_template import description_of, of_type
from tests.stack.test_faults_and_alarms import RINGS, STACK_FAULTS, messages

ALARM_TYPE = "AWS::CloudWatch::Alarm"


def typed(template):
    """The alarms as the evaluator of the rehearsal reads them, by logical id."""
    found = read_alarms(Template(template, {"Mode": "kinesis"}))
    return {alarm.logical_id: alarm for alarm in found}


def alarms_list(template, *, on_clusters):
    """An item for each alarm on rollups, or for each on the rest."""
    alarms = typed(template)
    items = []
    for name, stated in of_type(template["Resources"], ALARM_TYPE).items():
        alarm = alarms[name]
        if (alarm.namespace == CLUSTER_NAMESPACE) == on_clusters:
            link = f"[{code(name)}](#{anchor(stated)})"
            items.append(f"- {link}: {watched(alarm)}, {rings(alarm, stated)}.\n")
    return "".join(items)


def watched(alarm):
    """The metrics with their statistic; of metric math those that it is made of."""
    source = alarm.source
    if isinstance(source, MetricsInsightsQuery):
        return f"{code(source.metric)} {source.function}"
    if isinstance(source, MetricMath):
        names = dict.fromkeys(metric.metric for metric in source.metrics.values())
        return f"metric math over {codes(names)}"
    return f"{code(source.metric)} {source.statistic}"


def rings(alarm, stated):
    """The comparison, with the parameter that sets the threshold, and M of N."""
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
        missing = f"; missing data breaches when there is no other in at least {least} {length}"
    return f"{limit} in {alarm.datapoints_to_alarm} of {alarm.evaluation_periods} {length}{missing}"


def faults_list():
    """What breaks, after how many minutes which alarm is in alarm, and how many messages come."""
    items = []
    for fault in STACK_FAULTS:
        rung = RINGS.get(fault, {})
        if not rung:
            continue
        words = [f"{code(name)} {_from_to(*minutes)}" for name, minutes in rung.items()]
        count = messages(rung)
        said = f" ({count} messages)" if count > 1 else ""
        items.append(f"- {fault[0].upper()}{fault[1:]}: {', '.join(words)}{said}.\n")
    return "".join(items)


def _from_to(first, last):
    return f"{first} to {last}" if last else f"from {first}"


def anchor(stated):
    """The heading of the runbook that its message ends with."""
    return re.search(r"\$\{Runbook\}#([a-z-]+)$", description_of(stated))[1]

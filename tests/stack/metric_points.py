"""What CloudWatch knows so far about each minute, and what alarms make of it."""

from __future__ import annotations

from collections import defaultdict
from math import nextafter

from local.alarms.definition import MetricMath, MetricsInsightsQuery, calculate
from local.alarms.evaluation import SETTLE_S, State, evaluate
from tests.recorded_history import statistics_of

START = 30_000_000
"""The epoch minute that offsets count from."""

CLUSTER = "training"
LATE_S = 120.0
"""After the end of a minute: 45 to 120 s until it closes, and its line must be extracted."""


class ArrivedMinutes:
    """
    A metric history in which every value arrives at its own time.

    Attributes:
        now_s: The moment up to which arrivals are seen, seconds since the epoch.
    """

    def __init__(self):
        self.now_s = 0.0
        self._rows = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))

    def put_value(self, metric, minute, value, late_s, copies=1):
        """
        One value of the minute at the offset *minute*, *late_s* after its end.

        *metric* is a namespace, a name and dimensions.
        """
        namespace, name, dimensions = metric
        at_s = (START + minute) * 60
        minutes = self._rows[namespace, name][tuple(sorted(dimensions.items()))]
        minutes[at_s].extend([(at_s + 60 + late_s, value)] * copies)

    def read_metric(self, namespace, metric, period_s, start_s, end_s):
        """As every metric history, of what has arrived."""
        found = {}
        for dimensions, minutes in self._rows.get((namespace, metric), {}).items():
            periods = defaultdict(list)
            for at_s in range(start_s, end_s, 60):
                for arrival_s, value in minutes.get(at_s, ()):
                    if arrival_s <= self.now_s:
                        periods[at_s // period_s * period_s].append(value)
            if periods:
                found[dimensions] = {
                    start: statistics_of(values) for start, values in periods.items()
                }
        return found


def states(alarm, history, last, contributor=None):
    """
    The alarm's state at the end of each minute up to *last*, evaluated once a minute.

    *contributor* is the cluster, for an alarm on clusters; None where its
    query does not know it. Without one it is the alarm's only state.
    """
    before, found = {}, []
    for minute in range(last):
        history.now_s = (START + minute + 1) * 60
        at_s = history.now_s + SETTLE_S
        now = {one.contributor: one.state for one in evaluate(alarm, history, at_s, before)}
        before = now
        if contributor is None:
            ((_, state),) = now.items()
            found.append(state)
        else:
            found.append(now.get((("ClusterName", contributor),)))
    return found


def ringing(alarm, history, last, contributor=None):
    """At the end of which minutes up to *last* the alarm is in ALARM."""
    found = states(alarm, history, last, contributor)
    return [minute for minute, state in enumerate(found) if state is State.ALARM]


def bad(alarm):
    """The least bad value that still breaches; of metric math, of its first metric alone."""
    at = alarm.threshold / of_one(alarm.source)
    return at if alarm.breaches(alarm.threshold) else nextafter(at, 0)


def of_one(source):
    """What is watched where the only value is a one of the first metric."""
    if not isinstance(source, MetricMath):
        return 1.0
    series = {name: [None] for name in source.metrics}
    series[next(iter(series))] = [1.0]
    for name, tree in source.expressions.items():
        series[name] = calculate(tree, series)
    return series[name][0]


def first(source):
    """The metric that values belong to: of metric math the first."""
    return next(iter(source.metrics.values())) if isinstance(source, MetricMath) else source


def function_of(alarm):
    """How its values are read, in the words of a query."""
    source = first(alarm.source)
    if isinstance(source, MetricsInsightsQuery):
        return source.function
    return {"Average": "AVG", "Maximum": "MAX", "Sum": "SUM"}[source.statistic]


def good(alarm):
    """The worst value that does not breach; of what AWS counts up, none."""
    if function_of(alarm) == "SUM":
        return 0.0
    towards = 0 if alarm.breaches(alarm.threshold) else alarm.threshold + 1
    return nextafter(alarm.threshold / of_one(alarm.source), towards)


def put_pattern(history, alarm, pattern, *, late_s=LATE_S, copies=1):
    """One value for each mark of *pattern*: b is bad, g is good, anything else is missing."""
    source = first(alarm.source)
    if isinstance(source, MetricsInsightsQuery):
        where = dict(source.where)
        names = source.dimensions or ("DestinationType", *where)
        dimensions = {name: where.get(name, "anything") for name in names}
    else:
        dimensions = dict(source.dimensions)
    if "ClusterName" in dimensions:
        dimensions["ClusterName"] = CLUSTER
    for minute, mark in enumerate(pattern):
        if mark in "bg":
            value = bad(alarm) if mark == "b" else good(alarm)
            metric = (source.namespace, source.metric, dimensions)
            history.put_value(metric, minute, value, late_s, copies)

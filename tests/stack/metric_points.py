"""Metric values with their time of arrival, and what alarms make of them."""

from __future__ import annotations

from collections import defaultdict

from local.alarms.evaluation import SETTLE_S, State, evaluate
from tests.recorded_history import statistics_of

FIRST_POINT_MINUTE = 30_000_000
"""The epoch minute from which offsets count."""

POINTS_CLUSTER = "training"
POINTS_LATE_S = 120.0
"""Seconds after the end of a minute: 45 to 120 until it closes, then its line must be extracted."""


class ArrivedMinutes:
    """
    A metric history in which every value has its own time of arrival.

    Attributes:
        now_s: Arrivals up to this time are visible, in seconds since the epoch.
    """

    def __init__(self):
        self.now_s = 0.0
        self._rows = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))

    def put_value(self, metric, minute, value, late_s, copies=1):
        """
        Add a value for the minute at the offset *minute*, which arrives *late_s* after its end.

        *metric* is a namespace, a name and dimensions.
        """
        namespace, name, dimensions = metric
        at_s = (FIRST_POINT_MINUTE + minute) * 60
        minutes = self._rows[namespace, name][tuple(sorted(dimensions.items()))]
        minutes[at_s].extend([(at_s + 60 + late_s, value)] * copies)

    def read_metric(self, namespace, metric, period_s, start_s, end_s):
        """Return the values that have arrived, as every metric history does."""
        arrived = {}
        for dimensions, minutes in self._rows.get((namespace, metric), {}).items():
            periods = defaultdict(list)
            for at_s in range(start_s, end_s, 60):
                for arrival_s, value in minutes.get(at_s, ()):
                    if arrival_s <= self.now_s:
                        periods[at_s // period_s * period_s].append(value)
            if periods:
                arrived[dimensions] = {
                    start: statistics_of(values) for start, values in periods.items()
                }
        return arrived


def minutes_in_alarm(alarm, history, last, contributor=None):
    """
    Return the minutes up to *last* at whose end the alarm is in ALARM, evaluated once a minute.

    *contributor* is the cluster of an alarm on clusters; other alarms have only one state.
    """
    before = {}
    minutes = []
    for minute in range(last):
        history.now_s = (FIRST_POINT_MINUTE + minute + 1) * 60
        at_s = history.now_s + SETTLE_S
        before = {
            series.contributor: series.state for series in evaluate(alarm, history, at_s, before)
        }
        states = [*before.values()]
        if contributor is not None:
            states = [before.get((("ClusterName", contributor),))]
        if states == [State.ALARM]:
            minutes.append(minute)
    return minutes

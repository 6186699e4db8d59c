"""What CloudWatch knows so far about each minute, and what alarms make of it."""

from __future__ import annotations

from collections import defaultdict

from local.alarms.evaluation import SETTLE_S, State, evaluate
from tests.recorded_history import statistics_of

FIRST_POINT_MINUTE = 30_000_000
"""The epoch minute that offsets count from."""

POINTS_CLUSTER = "training"
POINTS_LATE_S = 120.0
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
        at_s = (FIRST_POINT_MINUTE + minute) * 60
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


def ringing(alarm, history, last, contributor=None):
    """
    At the end of which minutes up to *last* the alarm is in ALARM, evaluated once a minute.

    *contributor* is the cluster, for an alarm on clusters; the alarm of another metric has only
    one state.
    """
    before = {}
    found = []
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
            found.append(minute)
    return found

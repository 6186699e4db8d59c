"""Metric values with their time of arrival, and what alarms make of them."""

from __future__ import annotations

from local.alarms.evaluation import SETTLE_S, State, evaluate

FIRST_POINT_MINUTE = 30_000_000
"""The epoch minute from which offsets count."""

POINTS_CLUSTER = "training"
POINTS_LATE_S = 120.0
"""Seconds after the end of a minute: 45 to 120 until it closes, then its line must be extracted."""


def put_value(history, metric, minute, value, late_s, *, copies=1):
    """
    Add a value to *history* for the minute at the offset *minute*.

    It arrives *late_s* after the end of the minute. *metric* is a namespace, a name and dimensions.
    """
    at_s = (FIRST_POINT_MINUTE + minute) * 60
    history.put(*metric, at_s, [value] * copies, arrived_s=at_s + 60 + late_s)


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

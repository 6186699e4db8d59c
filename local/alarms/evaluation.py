"""
Decide the alarm state that CloudWatch would have, and its reason.

Pure. Every rule is from
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html or from
recordings of CloudWatch (`tests/recorded`), which decide if that page does not. Neither states how
far back an alarm with periods of a minute or more looks: the page's tables show N + 2 periods, the
recordings N + 6 at 10 seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from local.alarms.definition import MetricsInsightsQuery, MetricSource, Points, calculate
from local.alarms.history import CloudWatchHistory, Dimensions, StatisticSet
from neuron_wire.names import MINUTE_S, VANISHED
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local.alarms.definition import Alarm

Metrics = Mapping[Dimensions, Mapping[int, StatisticSet]]
EXTRA_PERIODS: Final = 2
"""Periods beyond N in the tables of the documentation."""

EXTRA_PERIODS_AT_10_S: Final = 6
"""Periods beyond N, as recorded with periods of 10 seconds and N = 3."""

SETTLE_S: Final = 10
"""About how many seconds before now CloudWatch's evaluation ends, as recorded answers show."""


class State(Enum):
    """The three states of an alarm."""

    OK = "OK"
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"


@dataclass(frozen=True, slots=True)
class AlarmState:
    """
    The state of one alarm, or of one contributor of a query's alarm.

    Attributes:
        contributor: Dimension names with values; for a query, its groups.

        reason: One sentence.
    """

    alarm: Alarm
    contributor: Dimensions
    state: State
    reason: str


def evaluate(
    alarm: Alarm,
    history: CloudWatchHistory,
    now_s: float,
    previous: Mapping[Dimensions, State] | None = None,
) -> list[AlarmState]:
    """
    Return the state of *alarm* at *now_s*, seconds since the epoch.

    A query with groups has one state per group it finds, and OK for every group of *previous* that
    it no longer finds. If it finds no group, the alarm itself has a state, with an empty
    contributor, by its missing-data rule. A query without groups is one time series, with data or
    without.
    """
    before = previous or {}
    extra = EXTRA_PERIODS if alarm.period_s >= MINUTE_S else EXTRA_PERIODS_AT_10_S
    newest_s = (int((now_s - SETTLE_S) // alarm.period_s) - 1) * alarm.period_s
    periods = range(alarm.evaluation_periods + extra)
    series = _series(alarm, history, [newest_s - age * alarm.period_s for age in periods])
    if isinstance(alarm.source, MetricsInsightsQuery) and alarm.source.group_by:
        return _contributors(alarm, series, before)
    ((contributor, points),) = series.items()
    return [AlarmState(alarm, contributor, *judge(alarm, points, before.get(contributor)))]


def _series(
    alarm: Alarm, history: CloudWatchHistory, starts: Sequence[int]
) -> dict[Dimensions, Points]:
    """Return the time series by contributor, newest first; a single series may have no data."""
    source = alarm.source
    period_s = alarm.period_s

    def read(wanted: MetricSource | MetricsInsightsQuery) -> Metrics:
        end_s = starts[0] + period_s
        return history.read_metric(wanted.namespace, wanted.metric, period_s, starts[-1], end_s)

    def points(metric: MetricSource) -> Points:
        return _points(read(metric).get(metric.dimensions, {}), metric.statistic, starts)

    if isinstance(source, MetricSource):
        return {source.dimensions: points(source)}
    if isinstance(source, MetricsInsightsQuery):
        found = _groups(read(source), source)
        if not source.group_by:
            found.setdefault((), {})
        return {group: _points(sets, source.function, starts) for group, sets in found.items()}
    by_id = {name: points(metric) for name, metric in source.metrics.items()}
    for name, tree in source.expressions.items():
        by_id[name] = calculate(tree, by_id)
    return {(): by_id[name]}


def _contributors(
    alarm: Alarm, series: Mapping[Dimensions, Points], before: Mapping[Dimensions, State]
) -> list[AlarmState]:
    found = sorted(group for group, points in series.items() if points.count(None) < len(points))
    states = [
        AlarmState(alarm, group, *judge(alarm, series[group], before.get(group, State.OK)))
        for group in found
    ]
    # A contributor without data no longer exists, and is OK whatever the missing-data rule.
    gone = sorted(before.keys() - {*found, ()})
    states += [AlarmState(alarm, group, State.OK, VANISHED) for group in gone]
    if not found:
        state = _without_series(alarm, before)
        states.append(AlarmState(alarm, (), state, "No time series were returned by the query."))
    return states


def _without_series(alarm: Alarm, before: Mapping[Dimensions, State]) -> State:
    """Return the state of an alarm on a query that found no series: only filled values exist."""
    if alarm.missing == "breaching":
        return State.ALARM
    if alarm.missing == "notBreaching":
        return State.OK
    if alarm.missing == "missing" or not before:
        return State.INSUFFICIENT_DATA
    of_contributors = State.ALARM if State.ALARM in before.values() else State.OK
    return before.get((), of_contributors)


def judge(
    alarm: Alarm, points: Sequence[float | None], previous: State | None = None
) -> tuple[State, str]:
    """Return the state of *alarm* with *points*, newest first, None if missing."""
    needed = alarm.datapoints_to_alarm
    looked_at = alarm.evaluation_periods
    real = [(age, alarm.breaches(value)) for age, value in enumerate(points) if value is not None]
    used = real[:looked_at]
    breaching = sum(breaches for _, breaches in used)
    filled = looked_at - len(used)
    seen = f"{breaching} of {len(used)} data points {alarm.limit} ({needed} of {looked_at} needed"
    seen += f", newest {real[0][0]} missing)" if real and real[0][0] else ")"
    if filled and alarm.missing == "breaching":
        breaching += filled
        seen += f"; {filled} missing ones count as breaching"
    if breaching >= needed:
        return State.ALARM, seen
    if not filled or alarm.missing in ("breaching", "notBreaching"):
        return State.OK, seen
    if not real:
        seen = f"no data in the last {counted(len(points), 'period')}"
        if alarm.missing == "missing":
            return State.INSUFFICIENT_DATA, seen
    elif not all(breaches for _, breaches in real):
        return State.OK, seen
    # All data breaches, but there are too few periods. The alarm fires once the data is old enough.
    elif real[-1][0] + 1 >= needed and alarm.missing == "missing":
        return State.ALARM, f"{seen}; nothing newer contradicts them"
    return previous or State.INSUFFICIENT_DATA, f"{seen}; the state does not change"


def _points(
    statistics: Mapping[int, StatisticSet], statistic: str, starts: Sequence[int]
) -> list[float | None]:
    return [statistics[start].value(statistic) if start in statistics else None for start in starts]


def _groups(
    found: Metrics, query: MetricsInsightsQuery
) -> dict[Dimensions, dict[int, StatisticSet]]:
    """Return the metrics with the query's dimensions, selected and merged by group."""
    parts: dict[Dimensions, dict[int, list[StatisticSet]]] = defaultdict(lambda: defaultdict(list))
    for dimensions, statistics in found.items():
        names = {name for name, _ in dimensions}
        is_other = query.dimensions is not None and set(query.dimensions) != names
        if is_other or not set(query.where) <= set(dimensions):
            continue
        group = tuple(pair for pair in dimensions if pair[0] in query.group_by)
        for start, sets in statistics.items():
            parts[group][start].append(sets)
    return {
        group: {start: StatisticSet.merged(sets) for start, sets in periods.items()}
        for group, periods in parts.items()
    }

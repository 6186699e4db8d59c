"""
OK, ALARM or INSUFFICIENT_DATA: what CloudWatch would say, and why.

Pure. Every rule is one of
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
whose two tables are the tests of this module. Where that page is silent:

* it looks at N + 2 periods, as in its tables; the true number is not published;
* breaching data that is too young to alarm leaves the state as it was.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from local.alarms.history import Dimensions, MetricHistory, StatisticSet, newest_whole_period_s
from local.alarms.insights import MetricsInsightsQuery

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from local.alarms.definition import Alarm

EXTRA_PERIODS: Final = 2


class State(Enum):
    """The three states of an alarm."""

    OK = "OK"
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"


@dataclass(frozen=True, slots=True)
class AlarmState:
    """
    What one alarm, or one contributor of a query's alarm, is in.

    Attributes:
        contributor: Dimension names with values; for a query its groups.

        reason: One sentence.
    """

    alarm: Alarm
    contributor: Dimensions
    state: State
    reason: str


def evaluate(
    alarm: Alarm,
    history: MetricHistory,
    now_s: float,
    previous: Mapping[Dimensions, State] | None = None,
) -> list[AlarmState]:
    """
    The state of *alarm* at *now_s*, seconds since the epoch.

    A query gives one state per group it finds, and one with OK for every group
    of *previous* that it no longer finds. No group at all is INSUFFICIENT_DATA,
    with an empty contributor. A query without groups is one time series, with
    data or without.
    """
    newest_s = newest_whole_period_s(alarm.period_s, now_s)
    periods = alarm.evaluation_periods + EXTRA_PERIODS
    starts = [newest_s - age * alarm.period_s for age in range(periods)]
    source = alarm.source
    values = history.read(
        source.namespace, source.metric, alarm.period_s, starts[-1], newest_s + alarm.period_s
    )
    before = previous or {}
    if not isinstance(source, MetricsInsightsQuery):
        statistics = values.get(source.dimensions, {})
        points = _points(statistics, source.statistic, starts)
        state, reason = judge(alarm, points, before.get(source.dimensions))
        return [AlarmState(alarm, source.dimensions, state, reason)]
    groups = _groups(values, source)
    states = []
    if not source.group_by:
        groups = {(): groups.get((), {})}
    elif not groups:
        reason = "the query found no time series at all"
        states.append(AlarmState(alarm, (), State.INSUFFICIENT_DATA, reason))
    for group in sorted(groups):
        points = _points(groups[group], source.function, starts)
        state, reason = judge(alarm, points, before.get(group))
        states.append(AlarmState(alarm, group, state, reason))
    states.extend(
        AlarmState(alarm, group, State.OK, "no data was returned for this contributor")
        for group in sorted(before.keys() - groups.keys() - {()})
    )
    return states


def judge(
    alarm: Alarm, points: Sequence[float | None], previous: State | None = None
) -> tuple[State, str]:
    """The state that *points* put *alarm* in, newest first, None where missing."""
    needed, looked_at = alarm.datapoints_to_alarm, alarm.evaluation_periods
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
        return _without_data(alarm, len(points), previous)
    if not all(breaches for _, breaches in real):
        return State.OK, seen
    # Nothing but breaching data, and less of it than needed: when old enough, it alarms.
    if real[-1][0] + 1 >= needed and alarm.missing == "missing":
        return State.ALARM, f"{seen}; nothing newer contradicts them"
    return previous or State.INSUFFICIENT_DATA, f"{seen}; the state is left as it was"


def _without_data(alarm: Alarm, periods: int, previous: State | None) -> tuple[State, str]:
    reason = f"no data in the last {periods} periods"
    if alarm.missing == "ignore":
        return previous or State.INSUFFICIENT_DATA, f"{reason}; the state is left as it was"
    return State.INSUFFICIENT_DATA, reason


def _points(
    statistics: Mapping[int, StatisticSet], statistic: str, starts: Sequence[int]
) -> list[float | None]:
    return [statistics[start].value(statistic) if start in statistics else None for start in starts]


def _groups(
    found: Mapping[Dimensions, Mapping[int, StatisticSet]], query: MetricsInsightsQuery
) -> dict[Dimensions, dict[int, StatisticSet]]:
    """Metrics with exactly the dimensions of the query's SCHEMA, selected and merged by group."""
    parts: dict[Dimensions, dict[int, list[StatisticSet]]] = defaultdict(lambda: defaultdict(list))
    for dimensions, statistics in found.items():
        names = {name for name, _ in dimensions}
        if names != set(query.dimensions) or not set(query.where) <= set(dimensions):
            continue
        group = tuple(pair for pair in dimensions if pair[0] in query.group_by)
        for start, one in statistics.items():
            parts[group][start].append(one)
    return {
        group: {start: StatisticSet.merged(sets) for start, sets in periods.items()}
        for group, periods in parts.items()
    }

"""
The state of every alarm on the dashboard, by the evaluator.

An alarm that the evaluator cannot judge here is `not evaluated`, with the
reason: the embedded AWS publishes few of the metrics of AWS's own services, and
OK would be a claim about something that nobody looked at.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from local.alarms import AlarmState, MetricMath, MetricsInsightsQuery, State, evaluate, survey
from local.alarms.history import newest_whole_period_s
from local.page.graph import OF_AWS
from neuron_wire import CLUSTER_NAMESPACE, STACK_NAMESPACE
from neuron_wire.names import CLUSTER_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local.alarms import Alarm, LeftOut, MetricHistory, Template
    from local.alarms.history import Dimensions

NOT_EVALUATED: Final = "not evaluated"
EVALUATE_EACH_S: Final = 10.0
_ARN: Final = re.compile(r"<(\w+)\.Arn>")  # how the template names what is not deployed here
_WORST_FIRST: Final = (State.ALARM, State.INSUFFICIENT_DATA, State.OK)


class AlarmBoard:
    """
    The alarms of one template on one history.

    Not for several threads at once.
    """

    def __init__(
        self, template: Template, history: MetricHistory, now_s: Callable[[], float]
    ) -> None:
        """A warm-up of an alarm begins now, as with a deployment."""
        clusters, left_out = survey(template, CLUSTER_NAMESPACE)
        stack, _ = survey(template, STACK_NAMESPACE)
        self._alarms = {alarm.logical_id: alarm for alarm in (*clusters, *stack)}
        self._left_out: Mapping[str, LeftOut] = left_out
        self._subjects = {
            logical_id: _first_sentence(properties.get("AlarmDescription", ""))
            for logical_id, properties in template.resources("AWS::CloudWatch::Alarm")
        }
        self._warm_up_s = {
            logical_id: 60.0 * properties["WarmUpConfiguration"]["WarmUpPeriodDurationInMinutes"]
            for logical_id, properties in template.resources("AWS::CloudWatch::Alarm")
            if "WarmUpConfiguration" in properties
        }
        self._history = history
        self._now_s = now_s
        self._made_s = now_s()
        self._states: dict[str, list[AlarmState]] = {}
        self._evaluated_s: float | None = None

    def widget(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """What the page shows of the alarm widget with *properties*, what rings first."""
        self._evaluate()
        rows = [self._row(arn) for arn in properties["alarms"]]
        order = [*(state.value for state in _WORST_FIRST), NOT_EVALUATED]
        rows.sort(key=lambda row: order.index(row["state"]))
        return {"title": properties.get("title", ""), "alarms": rows}

    def _evaluate(self) -> None:
        now_s = self._now_s()
        if self._evaluated_s is not None and now_s - self._evaluated_s < EVALUATE_EACH_S:
            return
        for logical_id, alarm in self._alarms.items():
            before = {one.contributor: one.state for one in self._states.get(logical_id, ())}
            states = evaluate(alarm, self._history, now_s, before)
            if self._is_warming_up(alarm, now_s):
                states = [_warming_up(one) for one in states]
            self._states[logical_id] = states
        self._evaluated_s = now_s

    def _is_warming_up(self, alarm: Alarm, now_s: float) -> bool:
        """
        Whether CloudWatch would not judge it yet, after its creation with the stack.

        https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_WarmUpConfiguration.html
        """
        source = alarm.source
        is_over = now_s - self._made_s >= self._warm_up_s.get(alarm.logical_id, 0.0)
        if is_over or isinstance(source, MetricMath):  # none of these has a warm-up
            return False
        end_s = newest_whole_period_s(alarm.period_s, now_s) + alarm.period_s
        start_s = end_s - alarm.evaluation_periods * alarm.period_s
        found = self._history.read(source.namespace, source.metric, alarm.period_s, start_s, end_s)
        return max(map(len, found.values()), default=0) < alarm.evaluation_periods

    def _row(self, arn: str) -> dict[str, Any]:
        match = _ARN.fullmatch(arn)
        logical_id = match[1] if match else arn
        row: dict[str, Any] = {
            "name": logical_id,
            "subject": self._subjects.get(logical_id, ""),
            "state": NOT_EVALUATED,
            "reason": self._why_not(logical_id),
            "contributors": [],
        }
        alarm = self._alarms.get(logical_id)
        if alarm is not None:
            row.update(_judged(alarm, self._states[logical_id]))
        return row

    def _why_not(self, logical_id: str) -> str:
        left_out = self._left_out.get(logical_id)
        if left_out is None:
            return "the template has no such alarm"
        if left_out.namespace.startswith(OF_AWS):
            return f"the embedded AWS publishes few of the metrics of {left_out.namespace}, or none"
        return left_out.reason


def _warming_up(one: AlarmState) -> AlarmState:
    reason = "it warms up: not all of its periods have data yet"
    return replace(one, state=State.INSUFFICIENT_DATA, reason=reason)


def _judged(alarm: Alarm, states: list[AlarmState]) -> dict[str, Any]:
    worst = min(states, key=lambda one: _WORST_FIRST.index(one.state))
    is_query = isinstance(alarm.source, MetricsInsightsQuery)
    contributors = [
        {"cluster": _name(one.contributor), "state": one.state.value, "reason": one.reason}
        for one in states
        if is_query and one.contributor
    ]
    of = f"{_name(worst.contributor)}: " if is_query and worst.contributor else ""
    return {"state": worst.state.value, "reason": of + worst.reason, "contributors": contributors}


def _name(contributor: Dimensions) -> str:
    values = dict(contributor)
    return values.get(CLUSTER_DIMENSION) or ", ".join(value for _, value in contributor)


def _first_sentence(text: str) -> str:
    return text.partition(" What it means")[0].strip()

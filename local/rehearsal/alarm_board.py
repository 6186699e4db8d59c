"""
The state of every alarm of the template, by the evaluator.

An alarm that the evaluator cannot judge here is `not evaluated`, with the
reason: the embedded AWS publishes few of the metrics of AWS's own services, and
OK would be a claim about something that nobody looked at.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from local.alarms import MetricMath, MetricsInsightsQuery, State, evaluate, survey
from local.alarms.history import newest_whole_period_s
from neuron_emf.page.alarms import (
    AlarmStatus,
    Contributor,
    first_sentence,
    is_about_clusters,
    title_of,
)
from neuron_wire import CLUSTER_NAMESPACE, STACK_NAMESPACE
from neuron_wire.names import CLUSTER_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local.alarms import Alarm, AlarmState, MetricHistory, Template
    from local.alarms.history import Dimensions

NOT_EVALUATED: Final = "not evaluated"
EVALUATE_EACH_S: Final = 10.0
"""CloudWatch does it once a minute; each time reads up to half an hour of every metric."""


_OF_AWS: Final = "AWS/"
_WORST_FIRST: Final = (State.ALARM, State.INSUFFICIENT_DATA, State.OK)


def deployed_name(logical_id: str) -> str:
    """What the alarm would be called, if it were deployed here."""
    return f"rehearsal-{logical_id}"


class AlarmBoard:
    """
    The alarms of one template on one history; any thread may ask.

    Attributes:
        properties: Of each alarm resource, functions resolved, by logical id.

        left_out: Those that are not evaluated, with why not.
    """

    def __init__(
        self, template: Template, history: MetricHistory, now_s: Callable[[], float] = time.time
    ) -> None:
        """A warm-up of an alarm begins now, as with a deployment."""
        clusters, left_out = survey(template, CLUSTER_NAMESPACE)
        stack, _ = survey(template, STACK_NAMESPACE)
        self._alarms = {alarm.logical_id: alarm for alarm in (*clusters, *stack)}
        self.left_out = {name: why for name, why in left_out.items() if name not in self._alarms}
        self.properties = dict(template.resources("AWS::CloudWatch::Alarm"))
        self._history = history
        self._now_s = now_s
        self._made_s = now_s()
        self._states: dict[str, list[AlarmState]] = {}
        self._evaluated_s: float | None = None
        self._lock = threading.Lock()

    def states(self) -> Mapping[str, list[AlarmState]]:
        """Of every alarm that is evaluated, by logical id; at most `EVALUATE_EACH_S` old."""
        with self._lock:
            now_s = self._now_s()
            if self._evaluated_s is None or now_s - self._evaluated_s >= EVALUATE_EACH_S:
                self._states = {
                    name: self._evaluate(alarm, now_s) for name, alarm in self._alarms.items()
                }
                self._evaluated_s = now_s
            return self._states

    def read(self) -> list[AlarmStatus]:
        """As `AlarmReader.read`."""
        states = self.states()
        return [self._status(name, states.get(name, [])) for name in self.properties]

    def _evaluate(self, alarm: Alarm, now_s: float) -> list[AlarmState]:
        before = {one.contributor: one.state for one in self._states.get(alarm.logical_id, ())}
        states = evaluate(alarm, self._history, now_s, before)
        if self._is_warming_up(alarm, now_s):
            return [_warming_up(one) for one in states]
        return states

    def _is_warming_up(self, alarm: Alarm, now_s: float) -> bool:
        """
        Whether CloudWatch would not judge it yet, after its creation with the stack.

        https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_WarmUpConfiguration.html
        """
        source = alarm.source
        configured = self.properties[alarm.logical_id].get("WarmUpConfiguration")
        if configured is None or isinstance(source, MetricMath):  # none of these has a warm-up
            return False
        if now_s - self._made_s >= 60.0 * configured["WarmUpPeriodDurationInMinutes"]:
            return False
        end_s = newest_whole_period_s(alarm.period_s, now_s) + alarm.period_s
        start_s = end_s - alarm.evaluation_periods * alarm.period_s
        found = self._history.read(source.namespace, source.metric, alarm.period_s, start_s, end_s)
        return max(map(len, found.values()), default=0) < alarm.evaluation_periods

    def _status(self, logical_id: str, states: list[AlarmState]) -> AlarmStatus:
        properties = self.properties[logical_id]
        worst = min(states, key=lambda one: _WORST_FIRST.index(one.state), default=None)
        grouped = worst is not None and isinstance(worst.alarm.source, MetricsInsightsQuery)
        return AlarmStatus(
            name=deployed_name(logical_id),
            title=title_of(logical_id),
            state=NOT_EVALUATED if worst is None else worst.state.value,
            reason=self._why_not(logical_id) if worst is None else worst.reason,
            description=first_sentence(properties.get("AlarmDescription", "")),
            is_pipeline=not is_about_clusters(properties),
            contributors=tuple(
                Contributor(_name(one.contributor), one.reason)
                for one in states
                if grouped and one.contributor and one.state is State.ALARM
            ),
        )

    def _why_not(self, logical_id: str) -> str:
        left_out = self.left_out[logical_id]
        if left_out.namespace.startswith(_OF_AWS):
            return f"the embedded AWS publishes few of the metrics of {left_out.namespace}, or none"
        return left_out.reason


def _warming_up(one: AlarmState) -> AlarmState:
    reason = "it warms up: not all of its periods have data yet"
    return replace(one, state=State.INSUFFICIENT_DATA, reason=reason)


def _name(contributor: Dimensions) -> str:
    values = dict(contributor)
    return values.get(CLUSTER_DIMENSION) or ", ".join(value for _, value in contributor)

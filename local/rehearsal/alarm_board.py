"""
The state of every alarm of the template, by the evaluator; and one row for each cluster.

An alarm that cannot be judged here is `not evaluated`, with the reason: the embedded AWS
publishes few of the metrics of AWS's own services, and OK would be a claim about something
that nobody looked at.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from local.alarms.definition import read_alarms
from local.alarms.evaluation import State, evaluate
from local.alarms.expressions import MetricsInsightsQuery
from local.rehearsal.figures import GAUGES, ClusterRow
from neuron_emf.page.alarms import (
    AlarmStatus,
    Contributor,
    first_sentence,
    is_about_clusters,
    metrics_of,
    title_of,
)
from neuron_wire import CLUSTER_NAMESPACE, STACK_NAMESPACE
from neuron_wire.names import CLUSTER_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from local.alarms.definition import Alarm
    from local.alarms.evaluation import AlarmState
    from local.alarms.history import MetricHistory
    from local.alarms.template import Template
    from local.rehearsal.figures import RollupLines

NOT_EVALUATED: Final = "not evaluated"
EVALUATE_EACH_S: Final = 10.0
"""CloudWatch does it once a minute; each time reads up to half an hour of every metric."""

_JUDGED: Final = (CLUSTER_NAMESPACE, STACK_NAMESPACE)
_WORST_FIRST: Final = (State.ALARM, State.INSUFFICIENT_DATA, State.OK)


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
        alarms = read_alarms(template)
        self._alarms = [alarm for alarm in alarms if alarm.namespace in _JUDGED]
        self.left_out = {
            alarm.logical_id: f"nothing here publishes all metrics of {alarm.namespace}"
            for alarm in alarms
            if alarm.namespace not in _JUDGED
        }
        self.properties = dict(template.resources("AWS::CloudWatch::Alarm"))
        self._history = history
        self._made_s = now_s()  # a warm-up begins with the deployment
        self._now_s = now_s
        self._states: dict[str, list[AlarmState]] = {}
        self._evaluated_s: float | None = None
        self._lock = threading.Lock()

    def states(self) -> Mapping[str, list[AlarmState]]:
        """Of every alarm that is evaluated, by logical id; at most `EVALUATE_EACH_S` old."""
        with self._lock:
            now_s = self._now_s()
            if self._evaluated_s is None or now_s - self._evaluated_s >= EVALUATE_EACH_S:
                before = self._states
                self._states = {
                    alarm.logical_id: self._evaluate(alarm, now_s, before) for alarm in self._alarms
                }
                self._evaluated_s = now_s
            return self._states

    def read_alarms(self) -> list[AlarmStatus]:
        """As `AlarmReader.read_alarms`."""
        states = self.states()
        return [self._status(name, states.get(name, [])) for name in self.properties]

    def rows(self, clusters: Sequence[str], rollups: RollupLines) -> list[ClusterRow]:
        """One row for each of *clusters*, in their order, by its newest rollup of *rollups*."""
        states = [
            state
            for name, found in self.states().items()
            if is_about_clusters(self.properties[name])
            for state in found
        ]
        return [_row(cluster, rollups, states) for cluster in clusters]

    def _evaluate(
        self, alarm: Alarm, now_s: float, before: Mapping[str, list[AlarmState]]
    ) -> list[AlarmState]:
        previous = {state.contributor: state.state for state in before.get(alarm.logical_id, ())}
        states = evaluate(alarm, self._history, now_s, previous)
        warm_up = self.properties[alarm.logical_id].get("WarmUpConfiguration", {})
        if now_s - self._made_s >= 60.0 * warm_up.get("WarmUpPeriodDurationInMinutes", 0):
            return states
        return [
            replace(state, state=State.INSUFFICIENT_DATA, reason="it warms up")
            if state.state is State.ALARM
            else state
            for state in states
        ]

    def _status(self, logical_id: str, states: list[AlarmState]) -> AlarmStatus:
        properties = self.properties[logical_id]
        worst = _worst(states) if states else None
        grouped = worst is not None and isinstance(worst.alarm.source, MetricsInsightsQuery)
        return AlarmStatus(
            name=f"rehearsal-{logical_id}",
            title=title_of(logical_id),
            state=NOT_EVALUATED if worst is None else worst.state.value,
            reason=self.left_out[logical_id] if worst is None else worst.reason,
            description=first_sentence(properties.get("AlarmDescription", "")),
            is_pipeline=not is_about_clusters(properties),
            metrics=metrics_of(properties),
            contributors=tuple(
                Contributor(", ".join(value for _, value in state.contributor), state.reason)
                for state in states
                if grouped and state.contributor and state.state is State.ALARM
            ),
        )


def _row(cluster: str, rollups: RollupLines, states: Sequence[AlarmState]) -> ClusterRow:
    minutes = [minute_s for name, minute_s in rollups.minutes if name == cluster]
    if not minutes:
        return ClusterRow(cluster)
    newest = rollups.minutes[cluster, max(minutes)]
    told = {name: newest.gauge(name) for name in GAUGES}
    figures = {name: value for name, value in told.items() if value is not None}
    mine = [state for state in states if dict(state.contributor).get(CLUSTER_DIMENSION) == cluster]
    if not mine:
        return ClusterRow(cluster, max(minutes), figures)
    firing = [state for state in mine if state.state is State.ALARM]
    shown = ", ".join(state.alarm.logical_id.removesuffix("Alarm") for state in firing)
    notes = [f"{state.alarm.logical_id} is in alarm: {state.reason}" for state in firing]
    if not firing:
        shown = _worst(mine).state.value
        notes = [f"none of {len(mine)} alarms firing"]
    return ClusterRow(cluster, max(minutes), figures, shown, tuple(notes))


def _worst(states: Sequence[AlarmState]) -> AlarmState:
    return min(states, key=lambda state: _WORST_FIRST.index(state.state))

"""
The state of every alarm of the template, by the evaluator.

An alarm that cannot be judged here is `not evaluated`, with the reason: the embedded AWS publishes
few of the metrics of AWS's own services, and OK would be a claim without evidence.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from local.alarms.definition import MetricsInsightsQuery, read_alarms
from local.alarms.evaluation import State, evaluate
from local.embedded_aws.clients import EMBEDDED_REGION
from neuron_emf.page.alarms import (
    alarm_status,
    is_about_clusters,
)
from neuron_wire import CLUSTER_NAMESPACE, STACK_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from local.alarms.definition import Alarm
    from local.alarms.evaluation import AlarmState
    from local.alarms.history import CloudWatchHistory
    from local.alarms.template import Template
    from neuron_wire.line_members import JsonObject


NOT_EVALUATED: Final = "not evaluated"
EVALUATE_EACH_S: Final = 10.0
"""CloudWatch evaluates once a minute; each evaluation reads up to half an hour of every metric."""

_JUDGED: Final = (CLUSTER_NAMESPACE, STACK_NAMESPACE)
_WORST_FIRST: Final = (State.ALARM, State.INSUFFICIENT_DATA, State.OK)


class AlarmBoard:
    """
    The alarms of one template on one history; any thread may ask.

    Attributes:
        properties: The properties of each alarm resource, functions resolved, by logical ID.
    """

    def __init__(
        self, template: Template, history: CloudWatchHistory, now_s: Callable[[], float] = time.time
    ) -> None:
        self._alarms = {alarm.logical_id: alarm for alarm in read_alarms(template)}
        self.properties = dict(template.resources("AWS::CloudWatch::Alarm"))
        self._history = history
        self._made_s = now_s()  # a warm-up begins with the deployment
        self._now_s = now_s
        self._states: dict[str, list[AlarmState]] = {}
        self._evaluated_s = -math.inf
        self._began_ms: dict[tuple[object, ...], int] = {}  # when each firing alarm was first seen
        self._lock = threading.Lock()

    def states(self) -> Mapping[str, list[AlarmState]]:
        """Return the states of evaluated alarms, by logical ID; at most `EVALUATE_EACH_S` old."""
        with self._lock:
            now_s = self._now_s()
            if now_s - self._evaluated_s >= EVALUATE_EACH_S:
                before = self._states
                self._states = {
                    name: self._evaluate(alarm, now_s, before)
                    for name, alarm in self._alarms.items()
                    if alarm.namespace in _JUDGED
                }
                self._evaluated_s = now_s
                keys = [
                    (state.alarm.logical_id, state.contributor)
                    for states in self._states.values()
                    for state in _firing(states)
                ]
                self._began_ms = {key: self._began_ms.get(key, round(now_s * 1000)) for key in keys}
            return self._states

    def read_alarms(self) -> list[JsonObject]:
        """Return all alarms of the template as they are now."""
        states = self.states()
        return [self._status(name, states.get(name, [])) for name in self.properties]

    def firing_on_clusters(self) -> list[AlarmState]:
        """Return the firing alarms on clusters, one for each cluster."""
        return [
            state
            for name, states in self.states().items()
            if is_about_clusters(self.properties[name])
            for state in _firing(states)
        ]

    def event_of(self, state: AlarmState) -> dict[str, Any]:
        """Return what explain reads of EventBridge's event if *state* began now."""
        logical_id = state.alarm.logical_id
        at = datetime.fromtimestamp(self._now_s(), timezone.utc)
        watched = [
            {"id": query["Id"], "expression": query.get("Expression", ""), "returnData": True}
            for query in self.properties[logical_id].get("Metrics", [])
        ]
        detail = {
            "alarmName": name_of(logical_id),
            "alarmContributor": {"id": "1", "attributes": dict(state.contributor)},
            "state": {
                "value": state.state.value,
                "reason": state.reason,
                "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
            },
            "configuration": {"metrics": watched},
        }
        return {
            "detail-type": "CloudWatch Alarm Contributor State Change",
            "account": "000000000000",
            "region": EMBEDDED_REGION,
            "detail": detail,
        }

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

    def _status(self, logical_id: str, states: list[AlarmState]) -> JsonObject:
        worst = min(states, key=lambda state: _WORST_FIRST.index(state.state), default=None)
        grouped = worst is not None and isinstance(worst.alarm.source, MetricsInsightsQuery)
        unpublished = f"nothing here publishes all metrics of {self._alarms[logical_id].namespace}"
        now = {
            "state": NOT_EVALUATED if worst is None else worst.state.value,
            "reason": unpublished if worst is None else worst.reason,
            "contributors": [
                {
                    "name": ", ".join(value for _, value in state.contributor),
                    "reason": state.reason,
                    "since_ms": self._began_ms.get((logical_id, state.contributor)),
                }
                for state in _firing(states)
                if grouped and state.contributor
            ],
        }
        return alarm_status(logical_id, self.properties[logical_id], name_of(logical_id), now)


def name_of(logical_id: str) -> str:
    """Return the name of an alarm here."""
    return f"rehearsal-{logical_id}"


def _firing(states: Sequence[AlarmState]) -> list[AlarmState]:
    return [state for state in states if state.state is State.ALARM]

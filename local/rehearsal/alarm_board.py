"""
The state of every alarm of the template, by the evaluator; and the table of clusters.

An alarm that cannot be judged here is `not evaluated`, with the reason: the embedded AWS
publishes few of the metrics of AWS's own services, and OK would be a claim that nothing supports.
The table is plain text without color: what is not known is a dash, never a zero.
"""

from __future__ import annotations

import textwrap
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from local.alarms.definition import MetricsInsightsQuery, read_alarms
from local.alarms.evaluation import State, evaluate
from local.rehearsal.comparison import GAUGES
from neuron_emf.page.alarms import (
    AlarmStatus,
    Contributor,
    first_sentence,
    is_about_clusters,
    metrics_of,
    title_of,
)
from neuron_wire import CLUSTER_NAMESPACE, STACK_NAMESPACE
from neuron_wire.names import CLUSTER_DIMENSION, MINUTE_S
from neuron_wire.phrases import dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from local.alarms.definition import Alarm
    from local.alarms.evaluation import AlarmState
    from local.alarms.history import CloudWatchHistory
    from local.alarms.template import Template
    from local.rehearsal.comparison import PublishedRollups


_UNKNOWN: Final = "-"
WIDE: Final = 160


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """
    One cluster as its newest rollup shows it.

    Attributes:
        minute_s: Start of the rollup's minute, seconds since the epoch, or None
            before the first.

        figures: Values by metric, for example `BusyCores`; what was not reported
            is not in it.

        alarm: Which of the template's alarms are in alarm, or `OK`.

        notes: Why, as sentences without a full stop.
    """

    cluster: str
    minute_s: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    alarm: str = _UNKNOWN
    notes: tuple[str, ...] = ()


_COLUMNS: Final[tuple[tuple[str, str, str, Callable[[float], str]], ...]] = (
    # two lines of title, gauge of the rollup, how it is written
    ("", "instances", "Instances", "{:.0f}".format),
    ("", "cores", "NeuronCores", "{:.0f}".format),
    ("", "busy", "BusyCores", "{:.0f}".format),
    ("attached", "idle", "AttachedIdleCores", "{:.0f}".format),
    ("unatt-", "ached", "UnattachedCores", "{:.0f}".format),
    ("", "unknown", "UnknownCores", "{:.0f}".format),
    ("utili-", "zation", "NeuronCoreUtilization", "{:.1f} %".format),
    ("idle", "cores", "IdleCores", "{:.0f}".format),
    ("idle cost", "USD/hour", "IdleCostPerHour", dollars),
)


def render_table(rows: Sequence[ClusterRow], now_s: float) -> str:
    """The table as text, without a line end after the last line."""
    cells = [
        ["", *(first for first, *_ in _COLUMNS), "", "last rollup"],
        ["cluster", *(second for _, second, *_ in _COLUMNS), "alarm", "minute, UTC"],
        *(_cells(row, now_s) for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(2, ["-" * width for width in widths])
    aligns = ["<", *(">" for _ in _COLUMNS), "<", "<"]
    lines = [
        "  ".join(
            f"{cell:{align}{width}}"
            for cell, align, width in zip(line, aligns, widths, strict=True)
        ).rstrip()
        for line in cells
    ]
    for row in rows:
        notes = [*row.notes]
        if unpriced := row.figures.get("UnpricedCores"):
            notes.append(f"{unpriced:.0f} cores have no list price")
        for note in notes:
            lines += textwrap.wrap(f"{row.cluster}: {note}", WIDE, subsequent_indent="  ")
    return "\n".join(lines)


def _cells(row: ClusterRow, now_s: float) -> list[str]:
    figures = [
        written(row.figures[name]) if name in row.figures else _UNKNOWN
        for _, _, name, written in _COLUMNS
    ]
    if silent := row.figures.get("SilentInstances"):
        figures[0] += f" +{silent:.0f} silent"
    age = "none yet"
    if row.minute_s is not None:
        at = time.strftime("%H:%M", time.gmtime(row.minute_s))
        age = f"{at}, {max(0.0, now_s - row.minute_s - MINUTE_S):.0f} s ago"
    return [row.cluster, *figures, row.alarm, age]


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
        self, template: Template, history: CloudWatchHistory, now_s: Callable[[], float] = time.time
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
        """All alarms of the template, now."""
        states = self.states()
        return [self._status(name, states.get(name, [])) for name in self.properties]

    def cluster_rows(self, clusters: Sequence[str], rollups: PublishedRollups) -> list[ClusterRow]:
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


def _row(cluster: str, rollups: PublishedRollups, states: Sequence[AlarmState]) -> ClusterRow:
    minutes = [minute_s for name, minute_s in rollups.minutes if name == cluster]
    if not minutes:
        return ClusterRow(cluster)
    newest = rollups.minutes[cluster, max(minutes)]
    gauges = {name: newest.gauge(name) for name in GAUGES}
    figures = {name: value for name, value in gauges.items() if value is not None}
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

"""
One row per cluster: its newest rollup by the metrics, its alarm by the evaluator.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from local.alarms import State, Template, evaluate, survey
from local.rehearsal.figures import read_metrics
from local.rehearsal.table import FIGURES, ClusterRow
from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.names import CLUSTER_DIMENSION, MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from local.alarms import Alarm, AlarmState, MetricHistory, StatisticSet

_LOOK_BACK_S: Final = 90 * MINUTE_S
_WORST_FIRST: Final = (State.ALARM, State.INSUFFICIENT_DATA, State.OK)


class Overview:
    """
    What is shown of the clusters, now.

    Attributes:
        alarms: The template's alarms on cluster metrics.

        left_out: Why its other alarms are not evaluated, by logical id.
    """

    def __init__(
        self,
        template: Path,
        parameters: Mapping[str, str],
        resources: Mapping[str, str],
        history: MetricHistory,
    ) -> None:
        """
        Evaluate the alarms that *template* has with *parameters* on an account.
        """
        read = Template.read(template, parameters, resources)
        self.alarms, self.left_out = survey(read, CLUSTER_NAMESPACE)
        self._history = history
        self._before: dict[str, dict[tuple[tuple[str, str], ...], State]] = {}

    def rows(self, clusters: Sequence[str], now_s: float | None = None) -> list[ClusterRow]:
        """
        One row for each of *clusters*, in their order.
        """
        at_s = time.time() if now_s is None else now_s
        start_s = int(at_s) - _LOOK_BACK_S
        metrics = read_metrics(self._history, FIGURES, start_s, int(at_s) + MINUTE_S)
        states = [state for alarm in self.alarms for state in self._evaluate(alarm, at_s)]
        return [self._row(cluster, metrics, states) for cluster in clusters]

    def _evaluate(self, alarm: Alarm, at_s: float) -> list[AlarmState]:
        before = self._before.get(alarm.logical_id)
        states = evaluate(alarm, self._history, at_s, before)
        self._before[alarm.logical_id] = {one.contributor: one.state for one in states}
        return states

    def _row(
        self,
        cluster: str,
        metrics: Mapping[tuple[str, int], Mapping[str, StatisticSet]],
        states: Sequence[AlarmState],
    ) -> ClusterRow:
        minutes = [minute_s for one, minute_s in metrics if one == cluster]
        if not minutes:
            return ClusterRow(cluster=cluster, minute_s=None)
        newest = metrics[cluster, max(minutes)]
        # Maximum: a minute that was restated for a late record then shows what was stated last.
        figures = {name: newest[name].maximum for name in FIGURES if name in newest}
        mine = [
            state for state in states if dict(state.contributor).get(CLUSTER_DIMENSION) == cluster
        ]
        if not mine:
            return ClusterRow(cluster, max(minutes), figures)
        worst = min(mine, key=lambda one: _WORST_FIRST.index(one.state))
        reason = f"{worst.alarm.logical_id} saw {worst.reason}"
        return ClusterRow(cluster, max(minutes), figures, worst.state.value, reason)

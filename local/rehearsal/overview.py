"""One row per cluster: its newest rollup by the metrics, its alarms by the evaluator."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from local.alarms import State, Template, evaluate, survey
from local.rehearsal.figures import read_metrics
from local.rehearsal.table import FIGURES, ClusterRow
from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.names import CLUSTER_DIMENSION, MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from local.alarms import Alarm, AlarmState, LeftOut, MetricHistory, StatisticSet

_LOOK_BACK_S: Final = 90 * MINUTE_S
_EVALUATE_EACH_S: Final = 10  # CloudWatch does it once a minute; each time reads an hour of metrics
_WORST_FIRST: Final = (State.ALARM, State.INSUFFICIENT_DATA, State.OK)


class Overview:
    """
    What is shown of the clusters, now.

    Attributes:
        alarms: The template's alarms on cluster metrics.

        left_out: Which of its other alarms are not evaluated, and why, as sentences.

        properties: Of each alarm resource, functions resolved, by logical id.

        rules: The template's rules that pass events of alarms on.

        states: Of all alarms, when the last rows were made.
    """

    def __init__(
        self,
        template: Path,
        parameters: Mapping[str, str],
        resources: Mapping[str, str],
        history: MetricHistory,
    ) -> None:
        """Evaluate the alarms that *template* has with *parameters* on an account."""
        read = Template.read(template, parameters, resources)
        self.alarms, left_out = survey(read, CLUSTER_NAMESPACE)
        self.left_out = _sentences(left_out)
        self.properties = dict(read.resources("AWS::CloudWatch::Alarm"))
        self.rules = [
            rule
            for _, rule in read.resources("AWS::Events::Rule")
            if rule["EventPattern"]["source"] == ["aws.cloudwatch"]
        ]
        self.states: list[AlarmState] = []
        self._history = history
        self._before: dict[str, dict[tuple[tuple[str, str], ...], State]] = {}
        self._evaluated_s: float | None = None

    def rows(self, clusters: Sequence[str], now_s: float | None = None) -> list[ClusterRow]:
        """One row for each of *clusters*, in their order."""
        at_s = time.time() if now_s is None else now_s
        start_s = int(at_s) - _LOOK_BACK_S
        metrics = read_metrics(self._history, FIGURES, start_s, int(at_s) + MINUTE_S)
        if self._evaluated_s is None or at_s - self._evaluated_s >= _EVALUATE_EACH_S:
            self.states = [one for alarm in self.alarms for one in self._evaluate(alarm, at_s)]
            self._evaluated_s = at_s
        return [self._row(cluster, metrics, self.states) for cluster in clusters]

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
        firing = [one for one in mine if one.state is State.ALARM]
        if firing:
            shown = ", ".join(_subject(one.alarm) for one in firing)
            notes = tuple(f"{one.alarm.logical_id} is in alarm: {one.reason}" for one in firing)
            return ClusterRow(cluster, max(minutes), figures, shown, notes)
        worst = min(mine, key=lambda one: _WORST_FIRST.index(one.state))
        notes = (f"none of {len(mine)} alarms firing",)
        return ClusterRow(cluster, max(minutes), figures, worst.state.value, notes)


def _subject(alarm: Alarm) -> str:
    """What an alarm is about: its name without what all end in."""
    return alarm.logical_id.removesuffix("Alarm")


def _sentences(left_out: Mapping[str, LeftOut]) -> list[str]:
    """One sentence per alarm that cannot be evaluated, and one for all on other metrics."""
    elsewhere = Counter(one.namespace for one in left_out.values() if one.namespace)
    sentences = [one.reason for one in left_out.values() if not one.namespace]
    if elsewhere:
        namespaces = ", ".join(sorted(elsewhere))
        sentences.append(
            f"the alarms on metrics of {namespaces} ({elsewhere.total()}), which are not about a "
            "cluster"
        )
    return sentences

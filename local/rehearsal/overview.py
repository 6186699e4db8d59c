"""One row per cluster: its newest rollup by its lines, its alarms by the evaluator."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from local.alarms import State, Template
from local.rehearsal.alarm_board import AlarmBoard
from local.rehearsal.table import FIGURES, ClusterRow
from neuron_emf.page.alarms import is_about_clusters
from neuron_wire.names import CLUSTER_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from local.alarms import Alarm, AlarmState, LeftOut, MetricHistory
    from local.rehearsal.figures import RollupLines

_WORST_FIRST: Final = (State.ALARM, State.INSUFFICIENT_DATA, State.OK)


class Overview:
    """
    What is shown of the clusters, now.

    Attributes:
        board: The template's alarms.

        left_out: Which of them are not evaluated, and why, as sentences.

        rules: The template's rules that pass events of alarms on.
    """

    def __init__(
        self,
        template: Path,
        parameters: Mapping[str, str],
        resources: Mapping[str, str],
        history: MetricHistory,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        """Evaluate the alarms that *template* has with *parameters* on an account."""
        read = Template.read(template, parameters, resources)
        self.board = AlarmBoard(read, history, now_s)
        self.left_out = _sentences(self.board.left_out)
        self.rules = [
            rule
            for _, rule in read.resources("AWS::Events::Rule")
            if rule["EventPattern"]["source"] == ["aws.cloudwatch"]
        ]

    def states(self) -> list[AlarmState]:
        """Of all alarms on clusters' metrics."""
        return [
            one
            for name, states in self.board.states().items()
            if is_about_clusters(self.board.properties[name])
            for one in states
        ]

    def rows(self, clusters: Sequence[str], rollups: RollupLines) -> list[ClusterRow]:
        """One row for each of *clusters*, in their order, by its newest rollup of *rollups*."""
        states = self.states()
        return [_row(cluster, rollups, states) for cluster in clusters]


def _row(cluster: str, rollups: RollupLines, states: Sequence[AlarmState]) -> ClusterRow:
    minutes = [minute_s for one, minute_s in rollups.minutes if one == cluster]
    if not minutes:
        return ClusterRow(cluster=cluster, minute_s=None)
    newest = rollups.minutes[cluster, max(minutes)]
    told = {name: newest.gauge(name) for name in FIGURES}
    figures = {name: value for name, value in told.items() if value is not None}
    mine = [state for state in states if dict(state.contributor).get(CLUSTER_DIMENSION) == cluster]
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

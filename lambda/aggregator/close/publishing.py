"""
The rollups of a minute, printed and remembered.

A line is printed, then kept as the last rollup, then remembered: a crash in
between repeats it under the same RollupId.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.findings.detail import RollupFacts
from aggregator.minutes import expires_s
from aggregator.rollups.line import rollup_id, rollup_line
from aggregator.rollups.publication import due
from aggregator.rollups.rollup import RollupInProgress
from neuron_wire import WireFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aggregator.close.reduction import CloseOutcome, ReducedMinute
    from aggregator.environment import Rules
    from aggregator.rollups.rollup import Rollup
    from aggregator.storage.table import Table
    from aggregator.storage.values import LastRollup
    from neuron_wire.catalogue import Member
    from neuron_wire.prices import Prices

KEPT_FOR: Final[Mapping[LastRollup, str]] = {
    "hardware": "HardwareErrors",
    "errors": "ExecutionErrors",
}
"""The tallies whose last minute above 0 is kept beside the last minute."""


class SupersededError(Exception):
    """Another run published at the same time: this one must write nothing more."""


@dataclass(slots=True)
class Publisher:
    """
    Publishes minutes.

    Attributes:
        table: Where it is remembered what was published.

        rules: What counts as idle, how long it is remembered.

        prices: What a core costs.

        metrics: Numbers of a rollup that are metrics.

        emit: Prints one line and returns once it is out.

        outcome: Where it is counted.

        check_time: Raises when the run must stop.
    """

    table: Table
    rules: Rules
    prices: Prices
    metrics: Mapping[str, Member]
    emit: Callable[[str], None]
    outcome: CloseOutcome
    check_time: Callable[[], None]

    def publish(self, minute: int, reduced: ReducedMinute) -> dict[str, RollupFacts]:
        """
        Print what *reduced* adds to what was published of *minute*.

        Returns what findings say of the rollup of each cluster.

        Raises:
            SupersededError: If somebody else publishes it, too.
        """
        clusters, silent = reduced.clusters, reduced.silent
        published = self.table.read_publications(minute)
        facts: dict[str, RollupFacts] = {}
        # Also those that only an earlier publication knows: what it said of them may have changed.
        for cluster in sorted(clusters.keys() | silent.keys() | published.keys()):
            self.check_time()
            in_progress = clusters.get(cluster) or RollupInProgress(
                cluster, self.rules.idle_after_minutes, self.prices
            )
            rollup = in_progress.finish(silent.get(cluster, []), self.rules.teams)
            before = published.get(cluster)
            lacking = due(rollup, before)
            number = lacking.publication.number if lacking else before.number if before else 1
            facts[cluster] = _facts(
                rollup,
                rollup_id(cluster, minute, number),
                in_progress.awaited(),
                is_incomplete=cluster in reduced.incomplete,
            )
            if lacking is None:
                continue
            try:
                line = rollup_line(rollup, minute, lacking, self.metrics)
            except WireFormatError:
                self.outcome.lines_refused += 1
                continue
            self.emit(line)
            self.outcome.lines_printed += 1
            self._keep(rollup, minute, line)
            if not self.table.write_publication(
                minute, cluster, lacking.publication, expires_s(minute, self.rules.late_minutes)
            ):
                raise SupersededError
        return facts

    def _keep(self, rollup: Rollup, minute: int, line: str) -> None:
        """Keep *line* for explain: an alarm may fire when its minute is no longer the last."""
        self.table.write_last_rollup("minute", rollup.cluster, minute, line)
        for about, tally in KEPT_FOR.items():
            if rollup.tallies.get(tally, 0) > 0:
                self.table.write_last_rollup(about, rollup.cluster, minute, line)


def _facts(
    rollup: Rollup, name: str, awaited: Mapping[str, bool], *, is_incomplete: bool
) -> RollupFacts:
    gauges = rollup.gauges
    is_all_known = not (is_incomplete or gauges.get("UnknownCores") or gauges["SilentInstances"])
    return RollupFacts(name, gauges.get("CoveragePercent"), is_all_known, awaited)

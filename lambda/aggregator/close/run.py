"""
Which minutes are reduced and published, in what order, and what is remembered.

Every step may be cut short and every step may be repeated. A run works from
what the table says, not from which runs there were: a run that never happened
is made up by the next, and a run that happened twice prints nothing new.

Minutes that nobody has closed come first, so that a flood of late records
cannot keep the present from being published. Both kinds go oldest first: who
is silent since when is learnt in the order in which it happened. What does not
fit into the time of a run is left to the next. A minute that no run can read
whole is given up after a while, or it would keep all later ones waiting.

The order within a run is what makes a crash harmless:

1. the lines of instance types are printed, then the cluster's own, then that
   one is kept as the last rollup, then all of it is remembered: a crash in
   between repeats the lines under the same RollupIds;
2. the registry is written after the minutes it was learnt from, and before
   progress says that nobody needs to look at them again;
3. markers go last, each only with the token that was read before the records.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregator.close.attempts import Attempts
from aggregator.close.bucket_reader import BucketReader
from aggregator.close.outcome import CloseOutcome
from aggregator.close.registry import Registry
from aggregator.minutes import EARLIEST_CLOSE_S, RECORD_LIFE_MINUTES, end_s, expires_s, minute_at
from aggregator.rollups.line import lines_of
from aggregator.rollups.publication import due
from aggregator.rollups.rollup import RollupInProgress
from aggregator.storage.item import BUCKETS
from aggregator.storage.values import CloseProgress, LastRollup
from neuron_wire import WireFormatError
from neuron_wire.merging import merge
from neuron_wire.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aggregator.environment import Rules
    from aggregator.rollups.rollup import Rollup
    from aggregator.storage.table import Table

LEASE_MARGIN_S: Final = 2
"""How long a lease outlives the run that took it: clocks differ."""

STOP_BEFORE_S: Final = 5
"""Seconds before its end at which a run starts nothing new and writes down what it did."""

FIRST_LOOK_BACK_MINUTES: Final = 5
"""
Minutes before its first run that closing looks at: records that came in time
leave no marker, and the other function may have been deployed minutes earlier.
"""

KEPT_FOR: Final[Mapping[LastRollup, str]] = {
    "ecc": "EccUncorrectedRise",
    "faults": "HardwareFaults",
    "errors": "ExecutionErrors",
}
"""The tallies whose last minute above 0 is kept beside the last minute."""

MARKER_SLACK_MINUTES: Final = 5
"""How much older than LateMinutes a marked minute may be: records wait for retries."""


class OutOfTimeError(Exception):
    """The run must stop here; the next one goes on."""


class SupersededError(Exception):
    """Another run published at the same time: this one must write nothing more."""


@dataclass(slots=True)
class CloseRun:
    """
    One run.

    Attributes:
        table: Where everything is kept.

        rules: When a minute closes and what counts as idle or silent.

        emit: Prints one line and returns once it is out.

        now_s: The clock, seconds since the epoch.

        remaining_s: Seconds until this run is killed.

        prices: What a core costs.
    """

    table: Table
    rules: Rules
    emit: Callable[[str], None]
    now_s: Callable[[], float]
    remaining_s: Callable[[], float]
    prices: Prices = field(default_factory=Prices)
    _outcome: CloseOutcome = field(default_factory=CloseOutcome)
    _stuck: int | None = None  # the minute that took more than half of the run and is not done

    def run(self) -> CloseOutcome:
        """
        Close every minute that is due and restate every marked one.

        Raises:
            TableError: If the table did not answer; the next run starts over.
        """
        owner = secrets.token_hex(8)
        now_s = self.now_s()
        if not self.table.take_lease(owner, now_s, now_s + self.remaining_s() + LEASE_MARGIN_S):
            return CloseOutcome(left=True)
        try:
            self._work(now_s)
        except SupersededError:
            self._outcome.superseded = True
        finally:
            self.table.release_lease(owner)
        return self._outcome

    def _work(self, now_s: float) -> None:
        this_minute = minute_at(now_s)
        progress = self.table.read_progress()
        if progress is None:
            progress = CloseProgress(
                next_minute=this_minute - FIRST_LOOK_BACK_MINUTES,
                open_minutes=(),
                markers_from=this_minute - self._marker_minutes,
            )
            # At once: however this run ends and whenever the next one comes, it starts from here.
            self.table.write_progress(progress)
        oldest = this_minute - self.rules.late_minutes - RECORD_LIFE_MINUTES
        markers_from = max(progress.markers_from, oldest)
        # Read before any record: a marker set later keeps another token and is not cleared.
        tokens = self.table.read_markers(range(markers_from, this_minute + 1))
        registry = Registry(
            self.rules.silent_after_minutes,
            self.rules.silent_forget_minutes,
            self.rules.max_clusters,
        )
        registry.load(self.table.read_registry())

        next_minute = max(progress.next_minute, minute_at(now_s - EARLIEST_CLOSE_S))
        unclosed = [*progress.open_minutes, *range(progress.next_minute, next_minute)]
        open_minutes = [minute for minute in unclosed if minute >= oldest]
        self._outcome.minutes_dropped = len(unclosed) - len(open_minutes)
        late = tokens.keys() - set(open_minutes)
        marked = sorted(minute for minute in late if minute < next_minute)
        first_minute = min([*open_minutes, *marked, next_minute])
        registry.depart(
            self.table.read_departures(first_minute - self.rules.silent_forget_minutes, this_minute)
        )
        done = self._reduce_all(open_minutes, marked, registry, now_s)
        attempts = Attempts.of(progress)
        if attempts.after(self._stuck, open_minutes, out_of_time=self._outcome.out_of_time):
            done.update([] if self._stuck is None else [self._stuck])
            self._outcome.minutes_dropped += 1

        still_open = tuple(minute for minute in open_minutes if minute not in done)
        still_marked = [minute for minute in marked if minute not in done]
        markers_from = min([*still_marked, *still_open, this_minute - self._marker_minutes])
        registry.forget(markers_from - self.rules.silent_forget_minutes)
        for bucket, payload in registry.packed():
            self.table.write_registry(bucket, payload)
        self.table.write_progress(
            CloseProgress(
                next_minute, still_open, markers_from, attempts.tried, attempts.tried_late
            )
        )
        for minute in sorted(done & tokens.keys()):
            self.table.clear_marker(minute, tokens[minute])

        self._outcome.minutes_waiting = len(still_marked) + sum(
            1 for minute in still_open if self._grace_is_over(minute, now_s)
        )
        first_open = still_open[0] if still_open else next_minute
        self._outcome.seconds_behind = round(now_s - end_s(first_open - 1), 3)

    @property
    def _marker_minutes(self) -> int:
        return self.rules.late_minutes + MARKER_SLACK_MINUTES

    def _grace_is_over(self, minute: int, now_s: float) -> bool:
        return now_s >= end_s(minute) + self.rules.grace_s

    def _reduce_all(
        self, open_minutes: Sequence[int], marked: Sequence[int], registry: Registry, now_s: float
    ) -> set[int]:
        """Reduce and publish; the minutes that need nothing more."""
        done: set[int] = set()
        whole_s = begun_s = self.remaining_s()
        minute = 0
        try:
            for minute in open_minutes:
                begun_s = self.remaining_s()
                wait = not self._grace_is_over(minute, now_s)
                if self._reduce(minute, registry, wait=wait):
                    done.add(minute)
                    self._outcome.minutes_closed += 1
            for minute in marked:
                begun_s = self.remaining_s()
                self._reduce(minute, registry, wait=False)
                done.add(minute)
                self._outcome.minutes_restated += 1
        except OutOfTimeError:
            self._outcome.out_of_time = True
            self._stuck = minute if begun_s > whole_s / 2 else None
        return done

    def _check_time(self) -> None:
        if self.remaining_s() < STOP_BEFORE_S:
            raise OutOfTimeError

    def _reduce(self, minute: int, registry: Registry, *, wait: bool) -> bool:
        """Publish *minute*; with *wait*, only if every live instance reported."""
        clusters: dict[str, RollupInProgress] = {}
        reader = BucketReader(self.table, registry, self._outcome, self._check_time, minute)
        for bucket in range(BUCKETS):
            self._check_time()
            found = reader.read(bucket)
            if wait and registry.lacks(bucket, minute, found.keys()):
                return False
            for (cluster, instance_id), records in found.items():
                instance = merge(records)
                registry.see(
                    cluster, instance_id, minute, instance.record.instance_type, gone=instance.gone
                )
                if cluster not in clusters:
                    clusters[cluster] = RollupInProgress(
                        cluster, self.rules.idle_after_minutes, self.prices
                    )
                clusters[cluster].add(instance)
        self._publish(minute, clusters, registry)
        return True

    def _publish(
        self, minute: int, clusters: dict[str, RollupInProgress], registry: Registry
    ) -> None:
        silent = registry.silent_by_cluster(minute)
        published = self.table.read_publications(minute)
        # Also those that only an earlier publication knows: what it said of them may have changed.
        for cluster in sorted(clusters.keys() | silent.keys() | published.keys()):
            self._check_time()
            in_progress = clusters.get(cluster) or RollupInProgress(
                cluster, self.rules.idle_after_minutes, self.prices
            )
            rollup = in_progress.finish(silent.get(cluster, []))
            lacking = due(rollup, published.get(cluster))
            if lacking is None:
                continue
            try:
                lines = lines_of(rollup, minute, lacking)
            except WireFormatError:
                self._outcome.lines_refused += 1
                continue
            for line in lines:
                self.emit(line)
            self._outcome.lines_printed += len(lines)
            self._keep(rollup, minute, lines[-1])
            if not self.table.write_publication(
                minute, cluster, lacking.publication, expires_s(minute, self.rules.late_minutes)
            ):
                raise SupersededError

    def _keep(self, rollup: Rollup, minute: int, line: str) -> None:
        """Keep *line* for explain: an alarm may fire when its minute is no longer the last."""
        self.table.write_last_rollup("minute", rollup.cluster, minute, line)
        for about, tally in KEPT_FOR.items():
            if rollup.tallies.get(tally, 0) > 0:
                self.table.write_last_rollup(about, rollup.cluster, minute, line)

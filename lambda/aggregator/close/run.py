"""
Select the minutes to reduce and publish, their order, and what is stored.

Every step may be interrupted and every step may be repeated. A run works from the table's content,
not from the history of runs: the next run makes up for a run that never happened, and a run that
happened twice prints nothing new.

The order of minutes:

1. Open minutes, oldest first, so that a flood of late records cannot delay the present.
2. One minute that closed before an earlier one, once more, because findings take minutes in order.
3. Marked minutes, first those that have waited for the greatest part of their age: no minute
   starves, and the newest change is published soonest.

Minutes that do not fit into the time of a run are left to the next. A minute that no run can read
completely is given up after a while, because it would delay all later ones.

The order within a run makes a crash in any process harmless:

1. every minute is published before anything is written about it;
2. the registry and findings are written after the minutes behind them, and before progress
   records that these minutes are done;
3. then each marker is removed, unless its token has changed since it was read;
4. events of findings are sent last, so that an event bus never delays a rollup.
"""

from __future__ import annotations

import mmap
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

from aggregator.close.backlog import Attempts, due_minutes
from aggregator.close.reduction import BucketShare, CloseOutcome, Reduction
from aggregator.findings.book import FindingsBook, NoFindings
from aggregator.findings.detail import RollupFacts
from aggregator.minutes import (
    MARKER_SLACK_MINUTES,
    RECORD_LIFE_MINUTES,
    SILENT_FORGET_MINUTES,
    Clock,
    end_s,
    expires_s,
    minute_at,
)
from aggregator.reading.workers import OutOfTimeError, RunClock, forked_workers
from aggregator.rollups.rollup import RollupInProgress
from aggregator.rollups.rollup_line import due, rollup_id, rollup_line
from aggregator.storage.record_items import TABLE_BUCKETS
from aggregator.storage.values import CloseProgress
from neuron_wire import WireFormatError
from neuron_wire.catalogue import ALARMS, DEFAULT_ROLLUP_METRICS, MembersOf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aggregator.close.backlog import DueMinutes
    from aggregator.close.reduction import MinuteShare
    from aggregator.environment import Rules
    from aggregator.findings.outbox import FindingsOutlet
    from aggregator.rollups.rollup import Rollup
    from aggregator.rollups.rollup_line import Due
    from aggregator.storage.table import Table


KEPT_FOR: Final = {
    alarm.about: alarm.metric for alarm in ALARMS.values() if alarm.about != "minute"
}
"""Tallies whose last minute above 0 is stored in addition to the last minute."""


class SupersededError(Exception):
    """Another run published at the same time: this one must not write anything more."""


SEND_EVENTS_BEFORE_S: Final = 10
"""Seconds before its end up to which a run puts events on the bus."""

LEASE_MARGIN_S: Final = 2
"""Seconds for which a lease outlives its run: clocks differ."""

FIRST_LOOK_BACK_MINUTES: Final = 5
"""
Minutes before its first run that close reads: records that came in time leave no marker, and ingest
may have been deployed minutes earlier.
"""


@dataclass(slots=True)
class CloseRun:
    """
    One run.

    Attributes:
        table: The stack's table.

        rules: When a minute closes, and which cores and instances count as idle or silent.

        emit: Prints one line and returns after it is written.

        now_s: The clock, seconds since the epoch.

        remaining_s: Seconds until this run is killed.

        processes: The number of processes that read at the same time; with one, no process is
            forked.

        connect: Opens the table again: forked processes must not share a client.

        outlet: Destination of finding events; None if FindingsBus is empty.

        metrics: Numbers of a rollup that are metrics.
    """

    table: Table
    rules: Rules
    emit: Callable[[str], None]
    now_s: Clock
    remaining_s: Clock
    processes: int = 1
    connect: Callable[[], Table] | None = None
    outlet: FindingsOutlet | None = None
    metrics: MembersOf = field(default_factory=lambda: DEFAULT_ROLLUP_METRICS)
    _outcome: CloseOutcome = field(default_factory=CloseOutcome)
    _clock: RunClock = field(init=False)
    _reduction: Reduction = field(init=False)
    _book: FindingsBook | NoFindings = field(init=False)
    _done: set[int] = field(default_factory=set)  # minutes that need no further work in this run
    _restated: list[int] = field(default_factory=list)  # marked minutes that this run read
    _stuck: int | None = None  # the minute that took more than half of the run and is not done

    def run(self) -> CloseOutcome:
        """
        Close every due minute and restate every marked one.

        Raises:
            TableError: If the table did not answer; the next run starts over.
            ProcessLostError: If a process ended; the next run starts over.
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
        """Read the due minutes at *now_s*, publish them, store the results, and send events."""
        this_minute = minute_at(now_s)
        progress = self._read_progress(this_minute)
        oldest_minute = this_minute - self.rules.late_minutes - RECORD_LIFE_MINUTES
        markers_from = max(progress.markers_from, oldest_minute)
        # Read before any record: a marker set later has another token and is not cleared.
        tokens = self.table.read_markers(range(markers_from, this_minute + 1))
        due = due_minutes(progress, tokens.keys(), oldest_minute, now_s)
        self._outcome.minutes_dropped = due.dropped
        self._book = self._open_book(progress, due)
        attempts = Attempts(*progress.tried)
        first_minute = min([*due.unpublished, *due.early_minutes, due.next_minute])
        with self._processes(first_minute, this_minute):
            self._reduce_due(due, now_s)
            given_up = attempts.count_run(
                self._stuck, due.open_minutes, out_of_time=self._outcome.out_of_time
            )
            if given_up is not None:
                self._done.add(given_up)
                self._book.untaken.discard(given_up)
                self._outcome.minutes_dropped += 1
            left = due.without(self._done)
            markers_from = min([*left.unpublished, this_minute - self._marker_minutes])
            self._write_learnt(markers_from - SILENT_FORGET_MINUTES)
        restated = {**progress.restated, **dict.fromkeys(self._restated, this_minute)}
        self.table.write_progress(
            CloseProgress(
                next_minute=due.next_minute,
                open_minutes=tuple(left.open_minutes),
                markers_from=markers_from,
                tried=(attempts.tried, attempts.tried_late),
                restated={minute: at for minute, at in restated.items() if minute >= markers_from},
                findings_minute=self._book.minute,
                early_minutes=tuple(sorted(self._book.untaken.difference(left.open_minutes))),
            )
        )
        for minute in sorted(self._done & tokens.keys()):
            self.table.clear_marker(minute, tokens[minute])
        self._count_left(left, now_s)
        self._outcome.findings_failed = self._book.send_events(
            lambda: self.remaining_s() > SEND_EVENTS_BEFORE_S
        )
        self._outcome.findings_waiting = self._book.steps_waiting

    def _read_progress(self, this_minute: int) -> CloseProgress:
        """Return the stored progress; before the first run, the minute where closing begins."""
        progress = self.table.read_progress()
        if progress is None:
            progress = CloseProgress(
                next_minute=this_minute - FIRST_LOOK_BACK_MINUTES,
                open_minutes=(),
                markers_from=this_minute - self._marker_minutes,
            )
            # Stored at once: the next run continues from here, however this one ends.
            self.table.write_progress(progress)
        return progress

    def _open_book(self, progress: CloseProgress, due: DueMinutes) -> FindingsBook | NoFindings:
        if self.outlet is None:
            return NoFindings(progress.findings_minute)
        return FindingsBook(
            table=self.table,
            rules=self.rules,
            outlet=self.outlet,
            minute=progress.findings_minute,
            untaken={*due.open_minutes, *due.early_minutes},
            faults_from=progress.markers_from,
        )

    def _write_learnt(self, forget_before: int) -> None:
        """Store registry and findings, without instances last seen before *forget_before*."""
        workers = self._reduction.workers
        packed = workers.call_each(
            BucketShare.pack_registry, forget_before, self._reduction.clusters
        )
        for bucket, payload in sorted(chain.from_iterable(packed)):
            self.table.write_registry(bucket, payload)
        findings = workers.call_each(BucketShare.pack_findings)
        if not self._book.write_findings(chain.from_iterable(findings)):
            raise SupersededError

    def _count_left(self, left: DueMinutes, now_s: float) -> None:
        """Count the due minutes that are *left* to the next run."""
        overdue = [minute for minute in left.open_minutes if self._grace_is_over(minute, now_s)]
        self._outcome.minutes_waiting = len(left.marked_minutes) + len(overdue)
        first_open = min([*left.open_minutes, left.next_minute])
        self._outcome.seconds_behind = round(now_s - end_s(first_open - 1), 3)

    @property
    def _marker_minutes(self) -> int:
        return self.rules.late_minutes + MARKER_SLACK_MINUTES

    def _grace_is_over(self, minute: int, now_s: float) -> bool:
        return now_s >= end_s(minute) + self.rules.grace_s

    @contextmanager
    def _processes(self, first_minute: int, this_minute: int) -> Iterator[None]:
        """Run the reading processes from *first_minute* on, each with its part of the registry."""
        self._clock = RunClock(self.remaining_s)
        connect = self.connect
        is_missing = mmap.mmap(-1, 1)  # anonymous memory, which forked processes share
        registered = self.table.read_registry()
        departures = self.table.read_departures(first_minute - SILENT_FORGET_MINUTES, this_minute)
        shares = [
            BucketShare(
                buckets=range(first, TABLE_BUCKETS, self.processes),
                connect=connect if connect and self.processes > 1 else lambda: self.table,
                rules=self.rules,
                check_time=self._clock.check,
                registered=registered,
                departures=departures,
                is_missing=is_missing,
                findings=self._book.bucket_findings(range(first, TABLE_BUCKETS, self.processes)),
            )
            for first in range(self.processes)
        ]
        with is_missing, forked_workers(shares, self.remaining_s) as workers:
            known = set[str]().union(*workers.call_each(BucketShare.load_registry))
            self._reduction = Reduction(
                workers, self.rules.max_clusters, self._outcome, is_missing, known
            )
            yield

    def _reduce_due(self, due: DueMinutes, now_s: float) -> None:
        """Publish the *due* minutes, as far as the time of the run allows."""
        try:
            self._close_minutes(due, now_s)
            self._restate_minutes(due.marked_minutes)
        except OutOfTimeError:
            self._outcome.out_of_time = True

    def _close_minutes(self, due: DueMinutes, now_s: float) -> None:
        """Publish open minutes, and read early ones again once findings can fold them."""
        for minute in sorted([*due.open_minutes, *due.early_minutes]):
            if minute in due.early_minutes:
                if self._book.takes_in(minute):
                    self._reduce(minute, wait=False)
            elif self._reduce(minute, wait=not self._grace_is_over(minute, now_s)):
                self._outcome.minutes_closed += 1

    def _restate_minutes(self, marked_minutes: Sequence[int]) -> None:
        """Publish *marked_minutes* again, until the next one may not fit into the run."""
        longest_s = 0.0
        for minute in marked_minutes:
            if minute in self._done:  # already read again for findings
                continue
            begun_s = self.remaining_s()
            if not self._clock.allows_restating(begun_s, longest_s):
                self._outcome.out_of_time = True
                break
            self._restated.append(minute)
            self._reduce(minute, wait=False)
            self._outcome.minutes_restated += 1
            longest_s = max(longest_s, begun_s - self.remaining_s())

    def _reduce(self, minute: int, *, wait: bool) -> bool:
        """
        Publish *minute*; with *wait*, only if every live instance reported.

        Raises:
            OutOfTimeError: If the run must stop; the minute is stuck if it had half of the run.
        """
        begun_s = self.remaining_s()
        takes_in = self._book.takes_in(minute)
        taken_in = self._book.minute if takes_in else None
        try:
            reduced = self._reduction.reduce_minute(minute, wait=wait, taken_in=taken_in)
            if reduced is None:
                return False
            facts = self._publish(minute, reduced)
            if takes_in:
                kept = self._reduction.workers.call_each(BucketShare.keep_findings, facts)
                self._book.take_in_minute(minute, reduced.clusters, facts, sum(kept))
        except OutOfTimeError:
            if begun_s > self._clock.whole_s / 2:
                self._stuck = minute
            raise
        self._done.add(minute)
        return True

    def _publish(self, minute: int, reduced: MinuteShare) -> dict[str, RollupFacts]:
        """
        Print the amounts in *reduced* that earlier publications of *minute* lack.

        A line is printed, then stored as the last rollup, then recorded as published: after a crash
        in between, the line is repeated with the same RollupId. Return the facts of each cluster's
        rollup for findings.

        Raises:
            SupersededError: If another run publishes it, too.
        """
        clusters = reduced.clusters
        silent = reduced.silent
        published = self.table.read_publications(minute)
        facts: dict[str, RollupFacts] = {}
        # Also clusters that only an earlier publication has: their numbers may have changed.
        for cluster in sorted(clusters.keys() | published.keys()):
            self._clock.check()
            in_progress = clusters.get(cluster) or RollupInProgress(cluster, self.rules)
            rollup = in_progress.finish(silent.get(cluster, []))
            owed = due(rollup, published.get(cluster))
            publication = owed.publication if owed else published[cluster]
            facts[cluster] = RollupFacts(
                rollup_id(cluster, minute, publication.number),
                rollup.gauges.get("CoveragePercent"),
                in_progress.idle.awaited(),
            )
            if owed:
                self._print_rollup(rollup, minute, owed)
        return facts

    def _print_rollup(self, rollup: Rollup, minute: int, owed: Due) -> None:
        """Print the line of *rollup* and store it, unless CloudWatch would not extract it."""
        cluster = rollup.cluster
        try:
            line = rollup_line(rollup, minute, owed, self.metrics)
        except WireFormatError:
            self._outcome.lines_refused += 1
            return
        self.emit(line)
        self._outcome.lines_printed += 1
        # An alarm may fire when its minute is no longer the last one.
        self.table.write_last_rollup("minute", cluster, minute, line)
        for about, tally in KEPT_FOR.items():
            if rollup.tallies.get(tally, 0) > 0:
                self.table.write_last_rollup(about, cluster, minute, line)
        if "SilentInstanceNames" in rollup.lists:
            self.table.write_last_rollup("silent", cluster, minute, line)
        expiry_s = expires_s(minute, self.rules.late_minutes)
        if not self.table.write_publication(minute, cluster, owed.publication, expiry_s):
            raise SupersededError

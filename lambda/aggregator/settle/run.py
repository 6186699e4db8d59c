"""
Select due hours, settle them and save the progress.

An hour is due if none of its minutes can change any more: LateMinutes and the time for a late
record's marker are over, close has read it, and it has no marker left. Hours are settled oldest
first; the next run makes up for a missed one while the minutes exist. A run writes the eight
objects of an hour, then their summary, then the progress. A killed run is repeated and writes the
same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregator.aws import AwsError
from aggregator.minutes import (
    MARKER_SLACK_MINUTES,
    RECORD_LIFE_MINUTES,
    SILENT_FORGET_MINUTES,
    Clock,
    expires_s,
    minute_at,
)
from aggregator.reading.bucket_reader import ReadingCounts
from aggregator.reading.workers import OutOfTimeError, RunClock, forked_workers
from aggregator.settle.ledger_hour import LedgerParts
from neuron_accounts.instance_hours import OwnerWork
from neuron_accounts.ledger import PARTS_OF_HOUR
from neuron_accounts.then import Then, summary_key
from neuron_wire.line_members import stands_as
from neuron_wire.names import HOUR_MINUTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from aggregator.environment import Rules
    from aggregator.reading.workers import Workers
    from aggregator.storage.ledger_objects import LedgerObjects
    from aggregator.storage.table import Table

LONGEST_RUN_HOURS: Final = 48
"""Hours that one run settles at most: the next run follows within the hour."""


@dataclass(slots=True)
class SettleOutcome(ReadingCounts):
    """
    The results of one run.

    Attributes:
        hours_settled: Hours whose eight objects and summary were put.

        hours_waiting: Due hours that are left to the next run.

        hours_dropped: Hours given up, because their minutes no longer exist.

        rows: Rows of the ledger.

        bytes: Bytes of its objects.
    """

    hours_settled: int = stands_as("HoursSettled", 0)
    hours_waiting: int = stands_as("HoursWaiting", 0)
    hours_dropped: int = stands_as("HoursDropped", 0)
    rows: int = stands_as("LedgerRows", 0)
    bytes: int = stands_as("LedgerBytes", 0)


@dataclass(slots=True)
class SettleRun:
    """
    One run.

    Attributes:
        table: The table with minutes and progress.

        rules: When a minute can no longer change, the cost of a minute and its owner.

        ask_ec2: Returns EC2's answer about instances, packed by part; nothing if it is denied.

        now_s: The clock, seconds since the epoch.

        remaining_s: Seconds until this run is killed.

        connect: Opens table and bucket again: forked processes must not share a client.

        processes: The number of processes that settle at the same time; with one, no process is
            forked.
    """

    table: Table
    rules: Rules
    ask_ec2: Callable[[], list[bytes]]
    now_s: Clock
    remaining_s: Clock
    connect: Callable[[], tuple[Table, LedgerObjects]]
    processes: int = 1
    _outcome: SettleOutcome = field(default_factory=SettleOutcome)
    _purchases: list[bytes] = field(default_factory=list)

    def run(self, only_hour: int | None = None) -> SettleOutcome:
        """
        Settle every due hour, or *only_hour* again, due or not.

        Raises:
            TableError: If the table did not answer; the next run starts over.
            LedgerError: If the bucket rejected an object.
            AwsError: If EC2 did not answer about *only_hour*.
            OutOfTimeError: If *only_hour* takes longer than the run.
            ProcessLostError: If a process ended.
        """
        clock = RunClock(self.remaining_s)
        shares = [
            LedgerParts(
                range(first, PARTS_OF_HOUR, self.processes),
                self.connect,
                self.rules,
                clock.check,
            )
            for first in range(self.processes)
        ]
        with forked_workers(shares, self.remaining_s) as workers:
            if only_hour is not None:
                self._settle(workers, only_hour)
            else:
                self._settle_due(workers)
        return self._outcome

    def _settle_due(self, workers: Workers[LedgerParts]) -> None:
        now_minute = minute_at(self.now_s())
        next_hour = self.table.read_settled()
        if next_hour is None:
            # Stored at once, so that a late second run still starts with this hour.
            next_hour = now_minute // HOUR_MINUTES
            self.table.write_settled(next_hour)
        settled_minutes = now_minute - self.rules.late_minutes - MARKER_SLACK_MINUTES
        end = max(next_hour, settled_minutes // HOUR_MINUTES)
        # An hour is read with the minutes that show missed instances.
        oldest = -(-(settled_minutes - RECORD_LIFE_MINUTES) // HOUR_MINUTES)
        if next_hour < oldest:
            self._outcome.hours_dropped = min(oldest, end) - next_hour
            next_hour = min(oldest, end)
            self.table.write_settled(next_hour)
        longest_s = 0.0
        for hour in range(next_hour, min(end, next_hour + LONGEST_RUN_HOURS)):
            started_s = self.remaining_s()
            if started_s < 2 * longest_s or not self._is_closed(hour):
                break
            try:
                self._settle(workers, hour)
            except (AwsError, OutOfTimeError):  # from EC2: its answer is stored permanently
                break
            next_hour = hour + 1
            self.table.write_settled(next_hour)
            longest_s = max(longest_s, started_s - self.remaining_s())
        self._outcome.hours_waiting = end - next_hour

    def _is_closed(self, hour: int) -> bool:
        progress = self.table.read_progress()
        minutes = range(hour * HOUR_MINUTES, (hour + 1) * HOUR_MINUTES)
        if progress is None or progress.next_minute < minutes.stop:
            return False
        if any(minute in minutes for minute in progress.open_minutes):
            return False
        return not self.table.read_markers(minutes)

    def _settle(self, workers: Workers[LedgerParts], hour: int) -> None:
        first = hour * HOUR_MINUTES
        last = first + HOUR_MINUTES - 1
        departures = self.table.read_departures(first - SILENT_FORGET_MINUTES, last)
        expiry_s = expires_s(last, self.rules.late_minutes)
        self._purchases = self._purchases or self.ask_ec2()
        for part, payload in enumerate(self._purchases):  # the first run with an answer stores it
            self.table.put_purchases(hour, part, payload, expiry_s)
        works: dict[str, OwnerWork] = {}
        for seen, counts in workers.call_each(LedgerParts.read_hour, hour, departures):
            self._outcome.fold_counts(counts)
            for cluster, work in seen.items():
                works.setdefault(cluster, OwnerWork()).fold_work(work)
        done = workers.call_each(LedgerParts.put_hour, hour, works)
        summaries: dict[int, bytes] = {}
        for share in done:
            self._outcome.rows += share.rows
            self._outcome.bytes += share.bytes
            summaries |= share.summaries
        whole = Then()
        for part in range(PARTS_OF_HOUR):  # in the order of parts, not of processes
            whole.fold_summary(hour, summaries[part])
        summary = whole.summary()
        _, objects = self.connect()
        objects.put(summary_key(hour), summary)
        self._outcome.bytes += len(summary)
        self._outcome.hours_settled += 1

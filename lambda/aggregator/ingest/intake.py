"""
Decide which log lines become records, and which are dropped and why.

An invalid line costs only itself. No text here quotes a line: it names the log stream and the event
ID under which the log group still has the line.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregator.minutes import MARK_AFTER_S, Clock, end_s, expires_s, minute_at
from aggregator.storage.record_items import Identity, identity_of, item_of, packs_of
from neuron_wire import MinuteRecord, WireFormatError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aggregator.arrivals import LogLine
    from aggregator.storage.table import Table

MAX_AHEAD_MINUTES: Final = 120
"""CloudWatch Logs accepts no event more than two hours in the future."""

MAX_EVENT_IDS: Final = 5
AHEAD: Final = "ahead_of_time"
TOO_LATE: Final = "too_late"
"""The two reasons that `neuron_wire` does not have."""


@dataclass(slots=True)
class Drop:
    """
    The lines that were dropped for one reason.

    Attributes:
        count: The number of lines.

        event_ids: The IDs of the first few.

        log_streams: The streams of these few, each once.
    """

    count: int = 0
    event_ids: list[str] = field(default_factory=list)
    log_streams: list[str] = field(default_factory=list)

    def count_line(self, line: LogLine) -> None:
        """Count *line*, and note its place if there are few."""
        self.count += 1
        if len(self.event_ids) < MAX_EVENT_IDS:
            self.event_ids.append(line.event_id)
            if line.log_stream not in self.log_streams:
                self.log_streams.append(line.log_stream)


@dataclass(frozen=True, slots=True)
class Intake:
    """
    The results for the lines of one invocation.

    Attributes:
        stored: Distinct records put into the table.

        dropped: Lines dropped, by reason.
    """

    stored: int
    dropped: Mapping[str, Drop]

    @property
    def rejected(self) -> int:
        """The number of lines dropped as unreadable."""
        return sum(drop.count for reason, drop in self.dropped.items() if reason != TOO_LATE)

    @property
    def too_late(self) -> int:
        """The number of records dropped because their minute is too old."""
        return self.dropped[TOO_LATE].count if TOO_LATE in self.dropped else 0


def take_in(
    lines: Iterable[LogLine],
    table: Table,
    late_minutes: int,
    now_s: Clock,
    *,
    in_packs: bool = False,
) -> Intake:
    """
    Store the minute records among *lines*, each in its own item or *in_packs*.

    Storing the same line again changes nothing, so after a failure everything may be delivered once
    more.

    Raises:
        TableError: If a record could not be stored.
    """
    this_minute = minute_at(now_s())
    records: dict[tuple[int, Identity], MinuteRecord] = {}
    dropped: dict[str, Drop] = {}
    for line in lines:
        try:
            record = parse(line.message)
            reason = ""
        except WireFormatError as error:
            record = None
            reason = error.reason
        if isinstance(record, MinuteRecord):
            minute = record.epoch_minute
            reason = _untimely(minute - this_minute, late_minutes)
            if not reason:
                records[minute, identity_of(record)] = record
        if reason:
            dropped.setdefault(reason, Drop()).count_line(line)
    if in_packs:
        items = packs_of(records.values(), late_minutes)
    else:
        items = [
            item_of(record, expires_s(minute, late_minutes))
            for (minute, _), record in records.items()
        ]
    try:
        table.put_records(items)
    finally:
        # Also after a failure: stored records must count even if no retry succeeds.
        _mark_late({minute for minute, _ in records}, table, late_minutes, now_s())
    return Intake(len(records), dropped)


def _untimely(ahead_minutes: int, late_minutes: int) -> str:
    """Return the drop reason for a minute too far from now, or an empty string."""
    if ahead_minutes > MAX_AHEAD_MINUTES:
        return AHEAD
    return TOO_LATE if ahead_minutes < -late_minutes else ""


def _mark_late(minutes: Iterable[int], table: Table, late_minutes: int, now_s: float) -> None:
    """
    Put a marker on every minute that may have been closed without its record.

    *now_s* was read after the records were stored: a minute that closes later is also read later,
    and finds them.
    """
    late = [minute for minute in minutes if now_s >= end_s(minute) + MARK_AFTER_S]
    if late:
        table.put_markers(sorted(late), secrets.token_hex(8), expires_s(max(late), late_minutes))

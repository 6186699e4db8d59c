"""
Which log lines become records, and which are dropped and why.

One bad line costs itself only. Nothing here quotes a line: the log group it
came from still has it, under the event id that is named.
"""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aggregator.item import item_of
from aggregator.minutes import MARK_AFTER_S, end_s, expires_s, minute_at, minute_at_ms
from neuron_wire import MinuteRecord, WireFormatError, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from aggregator.table import RecordItem, Table

MAX_AHEAD_MINUTES: Final = 120
"""CloudWatch Logs takes no event further in the future than two hours."""

MAX_EVENT_IDS: Final = 5
AHEAD: Final = "ahead_of_time"
"""The one reason beside those of `neuron_wire`."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """
    One event of a log group.

    Attributes:
        event_id: CloudWatch's own identity of the event.

        message: The line.
    """

    event_id: str
    message: str


@dataclass(frozen=True, slots=True)
class Intake:
    """
    What became of the lines of one invocation.

    Attributes:
        stored: Distinct records put into the table.

        rejected: Lines dropped as unreadable, by reason.

        examples: Event ids of the first few of them, by reason.

        too_late: Records dropped because their minute is too old.

        other: Lines of other kinds, which are not for the stack.
    """

    stored: int
    rejected: Mapping[str, int]
    examples: Mapping[str, list[str]]
    too_late: int
    other: int


def take_in(
    lines: Iterable[LogLine], table: Table, late_minutes: int, now_s: Callable[[], float]
) -> Intake:
    """
    Store the minute records among *lines*.

    Storing the same line again changes nothing, so a failure may be answered
    by delivering everything once more.

    Raises:
        TableError: If a record could not be stored.
    """
    this_minute = minute_at(now_s())
    rejected: Counter[str] = Counter()
    examples: dict[str, list[str]] = defaultdict(list)
    too_late = other = 0
    items: dict[tuple[int, int, str], RecordItem] = {}
    for line in lines:
        try:
            record = _minute_record(line.message, this_minute)
        except WireFormatError as error:
            rejected[error.reason] += 1
            if len(examples[error.reason]) < MAX_EVENT_IDS:
                examples[error.reason].append(line.event_id)
            continue
        if record is None:
            other += 1
            continue
        minute = minute_at_ms(record.minute_ms)
        if minute < this_minute - late_minutes:
            too_late += 1
            continue
        item = item_of(record, expires_s(minute, late_minutes))
        items[item.minute, item.bucket, item.key] = item
    try:
        table.put_records(list(items.values()))
    finally:
        # Also after a failure: what was stored must count even if no retry succeeds.
        _mark_late({item.minute for item in items.values()}, table, late_minutes, now_s())
    return Intake(len(items), dict(rejected), dict(examples), too_late, other)


def _minute_record(message: str, this_minute: int) -> MinuteRecord | None:
    """
    The minute record in *message*, or None when it is a line of another kind.
    """
    record = parse(message)
    if not isinstance(record, MinuteRecord):
        return None
    ahead_minutes = minute_at_ms(record.minute_ms) - this_minute
    if ahead_minutes > MAX_AHEAD_MINUTES:
        raise WireFormatError(AHEAD, f"the record is {ahead_minutes} minutes ahead of the clock")
    return record


def _mark_late(minutes: Iterable[int], table: Table, late_minutes: int, now_s: float) -> None:
    """
    Leave a marker on every minute that may have been closed without its record.

    *now_s* was read after the records were stored: a minute that closes after
    that moment is also read after it, and finds them.
    """
    late = [minute for minute in minutes if now_s >= end_s(minute) + MARK_AFTER_S]
    if late:
        table.put_markers(sorted(late), secrets.token_hex(8), expires_s(max(late), late_minutes))

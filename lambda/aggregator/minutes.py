"""
Minutes and hours as numbers and as text, and the times of their processing.

A minute is the number of whole minutes between the Unix epoch and its start, an hour is 60 of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from neuron_accounts.ledger import parse_hour
from neuron_wire import WireFormatError
from neuron_wire.names import MINUTE_MS, MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from neuron_wire.line_members import JsonObject


TimeCheck: TypeAlias = "Callable[[], None]"
"""Raises when a run must stop."""

Clock: TypeAlias = "Callable[[], float]"
"""Returns seconds: the time since the epoch, or the rest of a run."""

Departures: TypeAlias = "Mapping[str, Sequence[int]]"
"""The minutes in which each instance was stopped or terminated, by instance ID."""

EARLIEST_CLOSE_S: Final = 45
"""
Seconds after its end before which no minute is closed: emitters spread their writes over 30 s.
"""

MARK_AFTER_S: Final = EARLIEST_CLOSE_S - 5
"""
Seconds after its end from which a record leaves a marker on its minute. The 5 seconds are the
possible difference between the clocks of ingest and close.
"""

MARKER_SLACK_MINUTES: Final = 5
"""Minutes by which a marked minute may be older than LateMinutes: records wait for retries."""

SILENT_FORGET_MINUTES: Final = 60
"""Minutes without a record after which an instance is forgotten."""

RECORD_LIFE_MINUTES: Final = 24 * 60
"""Minutes for which records outlive their lateness: the longest pause from which close recovers."""


def minute_at(moment_s: float) -> int:
    """Return the minute that contains *moment_s*, seconds since the epoch."""
    return int(moment_s // MINUTE_S)


def start_ms(minute: int) -> int:
    """Return the start of *minute*, milliseconds since the epoch."""
    return minute * MINUTE_MS


def end_s(minute: int) -> int:
    """Return the end of *minute*, seconds since the epoch."""
    return (minute + 1) * MINUTE_S


def expires_s(minute: int, late_minutes: int) -> int:
    """Return when the table may delete its items of *minute*, seconds since the epoch."""
    return end_s(minute) + (late_minutes + RECORD_LIFE_MINUTES) * MINUTE_S


def has_departed(departures: Departures, instance_id: str, seen: int, minute: int) -> bool:
    """Return True if EC2 reported a stop of the instance between *seen* and *minute*."""
    return any(seen <= departure < minute for departure in departures.get(instance_id, ()))


class NoHourError(ValueError):
    """The event names an invalid hour; the caller of the function must correct it."""


def hour_of(event: JsonObject, member: str = "Hour") -> int | None:
    """
    Return the hour in *member* of *event*, whole hours since the epoch; None if there is none.

    >>> hour_of({"Hour": "1970-01-02T03:00Z"}), hour_of({})
    (27, None)

    Raises:
        NoHourError: If the member is not an hour.
    """
    text = event.get(member)
    if text is None:
        return None
    try:
        return parse_hour(text)
    except WireFormatError as error:
        msg = f"Invalid {member} {str(text)[:40]!r}. Use an hour, such as 2026-11-22T08:00Z."
        raise NoHourError(msg) from error

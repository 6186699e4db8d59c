"""
Minutes and hours as numbers and as text, and the moments at which something happens to them.

A minute is named by the whole minutes between the Unix epoch and its start, an hour by 60 of them.
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
"""Returns seconds: the time since the epoch, or what is left of a run."""

Departures: TypeAlias = "Mapping[str, Sequence[int]]"
"""The minutes in which each instance was stopped or terminated, by instance ID."""

EARLIEST_CLOSE_S: Final = 45
"""Seconds after its end before which no minute is closed: emitters spread over 30."""

MARK_AFTER_S: Final = EARLIEST_CLOSE_S - 5
"""
Seconds after its end from which a record leaves a marker on its minute. The 5
are how far the clocks of the machines that run ingest and close may differ.
"""

MARKER_SLACK_MINUTES: Final = 5
"""How much older than LateMinutes a marked minute may be: records wait for retries."""

SILENT_FORGET_MINUTES: Final = 60
"""Minutes without a record after which an instance is forgotten."""

RECORD_LIFE_MINUTES: Final = 24 * 60
"""How long records outlive their lateness: the longest pause closing recovers from."""


def minute_at_ms(timestamp_ms: int) -> int:
    """The minute that holds *timestamp_ms*."""
    return timestamp_ms // MINUTE_MS


def minute_at(moment_s: float) -> int:
    """The minute that holds *moment_s*, seconds since the epoch."""
    return int(moment_s // MINUTE_S)


def start_ms(minute: int) -> int:
    """When *minute* starts, milliseconds since the epoch."""
    return minute * MINUTE_MS


def end_s(minute: int) -> int:
    """When *minute* ends, seconds since the epoch."""
    return (minute + 1) * MINUTE_S


def expires_s(minute: int, late_minutes: int) -> int:
    """When the table may forget what it holds of *minute*, seconds since the epoch."""
    return end_s(minute) + (late_minutes + RECORD_LIFE_MINUTES) * MINUTE_S


class NoHourError(ValueError):
    """The event names an hour that is none; whoever invoked the function must correct it."""


def hour_of(event: JsonObject, member: str = "Hour") -> int | None:
    """
    The hour that *event* names in *member*, whole hours since the epoch; None when it names none.

    Raises:
        NoHourError: If it names something else.
    """
    text = event.get(member)
    if text is None:
        return None
    try:
        return parse_hour(text)
    except WireFormatError as error:
        msg = f"Invalid {member} {str(text)[:40]!r}. Use an hour, such as 2026-11-22T08:00Z."
        raise NoHourError(msg) from error

"""The days of a report, and the weeks and months that they make."""

from __future__ import annotations

from calendar import monthrange
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

from neuron_emf.report.counting import DAY_MS, HOUR_MS, DayTime
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from neuron_emf.report.counting import Counting

_WEEK_DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class DayRow:
    """
    One day of the period, from midnight to midnight UTC.

    Attributes:
        start_ms: Its midnight.

        minutes: That it has in the period.

        told_minutes: Those of them with a line of anybody.
    """

    start_ms: int
    minutes: int
    told_minutes: int
    time: DayTime


@dataclass(frozen=True, slots=True)
class TrendRow:
    """
    A week from Monday, or a month, of the period.

    Attributes:
        name: Its first day, or the month.

        minutes: That it has in the period.

        told_minutes: Those of them with a line of anybody, or settled.

        is_whole: It lies in the period from end to end, and all its minutes are told.
    """

    name: str
    minutes: int
    told_minutes: int
    is_whole: bool
    time: DayTime


def days_of(counting: Counting, start_ms: int, end_ms: int) -> list[DayRow]:
    """Every day from *start_ms* to *end_ms* in its order, also those without a line."""
    told = Counter(
        minute_ms - minute_ms % DAY_MS
        for minute_ms in {minute_ms for _, minute_ms in counting.minutes}
    )
    for hour in counting.settled_hours:
        told[hour * HOUR_MS - hour * HOUR_MS % DAY_MS] += HOUR_MS // MINUTE_MS
    return [
        DayRow(
            start_ms=day_ms,
            minutes=(min(end_ms, day_ms + DAY_MS) - max(start_ms, day_ms)) // MINUTE_MS,
            told_minutes=told[day_ms],
            time=counting.days.get(day_ms) or DayTime(),
        )
        for day_ms in range(start_ms - start_ms % DAY_MS, end_ms, DAY_MS)
    ]


def weeks_of(days: Sequence[DayRow]) -> list[TrendRow]:
    """From Monday to Monday UTC."""
    return _trend(days, _monday, lambda _: _WEEK_DAYS)


def months_of(days: Sequence[DayRow]) -> list[TrendRow]:
    """Of the calendar, UTC."""
    return _trend(days, lambda day: f"{day:%Y-%m}", _days_of_month)


def _trend(
    days: Sequence[DayRow], name_of: Callable[[datetime], str], length_of: Callable[[str], int]
) -> list[TrendRow]:
    spans: dict[str, list[DayRow]] = {}
    for day in days:
        midnight = datetime.fromtimestamp(day.start_ms / 1000, timezone.utc)
        spans.setdefault(name_of(midnight), []).append(day)
    rows = []
    for name, theirs in spans.items():
        time = DayTime()
        for day in theirs:
            time.cores.merge(day.time.cores)
            time.idle.merge(day.time.idle)
        told = sum(day.told_minutes for day in theirs)
        is_whole = told == length_of(name) * DAY_MS // MINUTE_MS
        minutes = sum(day.minutes for day in theirs)
        rows.append(TrendRow(name, minutes, told, is_whole, time))
    return rows


def _monday(day: datetime) -> str:
    return f"{day - timedelta(days=day.weekday()):%Y-%m-%d}"


def _days_of_month(name: str) -> int:
    return monthrange(int(name[:4]), int(name[5:]))[1]

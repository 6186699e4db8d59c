"""Moments and periods: the clock, times that a person types, and whole minutes between times."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

from neuron_emitter.errors import SettingsError
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Collection

_PERIOD: Final = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}

_END_OF_TIME_MS: Final = 253_402_300_740_000  # the last minute of 9999: no calendar has a later one


@dataclass(frozen=True, slots=True)
class Period:
    """
    A period of whole minutes.

    Attributes:
        start_ms: Start of the first minute, milliseconds since the Unix epoch.

        end_ms: End of the last minute, always after *start_ms*.
    """

    start_ms: int
    end_ms: int

    def __contains__(self, minute_ms: int) -> bool:
        return self.start_ms <= minute_ms < self.end_ms


WHOLE_TIME: Final = Period(0, _END_OF_TIME_MS)
"""The period without bounds, which files have by default."""


def now_ms() -> int:
    """Return the current time in milliseconds since the Unix epoch."""
    return time.time_ns() // 1_000_000


def gaps(times: range, known: Collection[int]) -> list[list[int]]:
    """
    Return the gaps of *times* without a *known* time, each as its start and its end.

    >>> gaps(range(0, 50, 10), {20})
    [[0, 20], [30, 50]]
    """
    found: list[list[int]] = []
    for start in times:
        if start in known:
            continue
        if found and found[-1][1] == start:
            found[-1][1] += times.step
        else:
            found.append([start, start + times.step])
    return found


def moment_ms(text: str, flag: str, now_ms: int) -> int:
    """
    Return the moment *text* in milliseconds: a period back from *now_ms*, or a calendar time.

    A period is `90s`, `5m`, `2h`, `7d` or `1w`. A calendar time is in ISO 8601; without a zone it
    is UTC.

    >>> moment_ms("2h", flag="--since", now_ms=1_795_165_200_000)
    1795158000000

    Raises:
        SettingsError: If *text*, the value of *flag*, is neither.
    """
    given = text.strip()
    if (match := _PERIOD.fullmatch(given)) and int(match[1]):
        return max(0, now_ms - int(match[1]) * _UNITS_MS[match[2]])
    try:
        # Python 3.10 does not parse Z.
        moment = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", given))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return max(0, round(moment.timestamp() * 1000))
    except (ValueError, OverflowError) as error:
        msg = f"Invalid {flag} {text[:40]!r}. Use a time, such as 7d or 2026-11-20T08:00:00Z."
        raise SettingsError(msg) from error


def month_period(text: str, now_ms: int) -> Period:
    """
    Return a month of UTC such as `2026-11`; the current month ends at *now_ms*.

    >>> month_period("2026-10", now_ms=1_795_165_200_000)
    Period(start_ms=1790812800000, end_ms=1793491200000)

    Raises:
        SettingsError: If *text* is not a month, or begins after *now_ms*.
    """
    try:
        start = datetime.strptime(text.strip(), "%Y-%m").replace(tzinfo=timezone.utc)
        next_ms = (start + timedelta(days=31)).replace(day=1).timestamp() * 1000
        over_ms = now_ms // MINUTE_MS * MINUTE_MS
        period = Period(round(start.timestamp()) * 1000, min(round(next_ms), over_ms))
        if 0 <= period.start_ms < period.end_ms:
            return period
    except (ValueError, OverflowError):
        pass
    msg = f"Invalid --month {text[:40]!r}. Use a month that has started, such as 2026-11."
    raise SettingsError(msg)


def period_between(since: str, until: str, now_ms: int) -> Period:
    """
    Return the period from *since* to *until*, each a period back from *now_ms* or a moment.

    An empty *until* is now. The current minute is left out.

    Raises:
        SettingsError: If one of them is neither, or no whole minute lies between them.
    """
    end_ms = moment_ms(until, "--until", now_ms) if until else now_ms
    start_ms = moment_ms(since, "--since", now_ms)
    between = Period(-(-start_ms // MINUTE_MS) * MINUTE_MS, end_ms // MINUTE_MS * MINUTE_MS)
    if between.start_ms >= between.end_ms:
        msg = "There is no whole minute between --since and --until. Change one of them."
        raise SettingsError(msg)
    return between

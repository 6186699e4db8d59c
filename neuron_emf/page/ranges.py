"""
Ranges of the page, and the ledger's hours in the long ones.

Ranges up to 24 hours come from rollups, 7 and 30 days from the ledger. Only the summaries of its
hours are read, each once. An hour without a summary is missing, never an hour without cost.
"""

from __future__ import annotations

import functools
import threading
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emf.page.amounts import Amounts
from neuron_emf.reading.ledger_bucket import stack_ledger
from neuron_wire.names import DAY_HOURS, HOUR_MINUTES, HOUR_MS, MINUTE_MS, WEEK_HOURS

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emf.account import Account

MAX_HOURS: Final = 30 * DAY_HOURS
RANGES: Final = {
    "15m": 15,
    **{f"{hours}h": hours * HOUR_MINUTES for hours in (1, 3, 6, 12, 24)},
    "7d": WEEK_HOURS * HOUR_MINUTES,
    "30d": MAX_HOURS * HOUR_MINUTES,
}
"""Minutes of each range."""

DEFAULT_RANGE: Final = "1h"
UNASKED_MINUTES: Final = 3 * HOUR_MINUTES
"""A longer range of rollups is read only if a person requests it."""

_LOOK_AGAIN_MS: Final = 5 * MINUTE_MS
"""Milliseconds after which an hour without a summary is searched for again."""


class Span(NamedTuple):
    """
    One range that ends now.

    Attributes:
        name: One of `RANGES`.

        x: The start of each of its minutes, or of its hours if it comes from the ledger.
    """

    name: str
    x: range

    @property
    def minutes(self) -> int:
        """Its length in minutes."""
        return RANGES[self.name]

    @property
    def is_ledger(self) -> bool:
        """True if it comes from the ledger."""
        return self.x.step == HOUR_MS

    @property
    def hours(self) -> range:
        """Its hours since the epoch, if it comes from the ledger."""
        return range(self.x.start // HOUR_MS, self.x.stop // HOUR_MS)


def span_of(name: str, now_ms: int) -> Span:
    """Return the range *name*, or the default if there is no such range."""
    name = name if name in RANGES else DEFAULT_RANGE
    step_ms = HOUR_MS if RANGES[name] > DAY_HOURS * HOUR_MINUTES else MINUTE_MS
    stop_ms = now_ms // step_ms * step_ms
    if step_ms == MINUTE_MS:  # the present minute is shown, the present hour is not settled
        stop_ms += step_ms
    return Span(name, range(stop_ms - RANGES[name] * MINUTE_MS, stop_ms, step_ms))


class SettledHours:
    """The hours of the ledger of one stack; any thread may ask."""

    def __init__(self, account: Account, now_ms: Callable[[], int]) -> None:
        """Read nothing yet."""
        self._account = account
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._payloads: dict[int, bytes] = {}
        self.hours_left = 0  # hours that the present reading has still to read, for its progress
        self._looked_ms: dict[range, int] = {}
        self._days = functools.lru_cache(maxsize=MAX_HOURS // DAY_HOURS + 8)(self._fold_day)
        self._periods = functools.lru_cache(maxsize=4)(self._fold_days)

    def read_period(self, hours: range) -> Amounts:
        """
        Return the sums of *hours*.

        Raises:
            SourceError: If the stack has no ledger, or S3 refuses or does not answer.
        """
        with self._lock:
            now_ms = self._now_ms()
            missing = [hour for hour in hours if hour not in self._payloads]
            if missing and now_ms - self._looked_ms.get(hours, 0) >= _LOOK_AGAIN_MS:
                between = range(missing[0], missing[-1] + 1)
                self.hours_left = len(between)
                for hour, payload in stack_ledger(self._account).read_summaries(between):
                    self._payloads[hour] = payload
                    self.hours_left = between.stop - 1 - hour
                self._looked_ms[hours] = now_ms
            oldest = now_ms // HOUR_MS - MAX_HOURS
            self._payloads = {
                hour: payload for hour, payload in self._payloads.items() if hour >= oldest
            }
            return self._periods(frozenset(self._payloads.keys() & {*hours}))

    def _fold_days(self, settled: frozenset[int]) -> Amounts:
        period = Amounts()
        for _, hours in groupby(sorted(settled), lambda hour: hour // DAY_HOURS):
            period.fold_amounts(self._days(frozenset(hours)))
        return period

    def _fold_day(self, hours: frozenset[int]) -> Amounts:
        """Add up *hours* of one day: after an hour has passed, only two days have changed."""
        day = Amounts()
        day.fold_summaries({hour: self._payloads[hour] for hour in hours})
        return day

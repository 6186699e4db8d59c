"""
What is added up: idle core minutes and what they cost, core time, coverage.

Money is counted in whole numbers by price and multiplied at the end: the sum of many
small floats depends on their order, and lines come in any.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import fsum
from typing import Final

from neuron_wire.names import ATTACHED_IDLE, BUSY, UNATTACHED

MINUTES_IN_HOUR: Final = 60


@dataclass(slots=True)
class IdleAmount:
    """
    So much idle time.

    Attributes:
        core_minutes: Idle cores times minutes.

        unpriced_core_minutes: Those of them whose price nobody knows.
    """

    core_minutes: int = 0
    unpriced_core_minutes: int = 0
    _by_price: Counter[float] = field(default_factory=Counter)

    def add(self, cores: int, usd_per_core_hour: float | None) -> None:
        """Add one minute of *cores* idle cores."""
        self.core_minutes += cores
        if usd_per_core_hour is None:
            self.unpriced_core_minutes += cores
        else:
            self._by_price[usd_per_core_hour] += cores

    def merge(self, other: IdleAmount) -> None:
        """Add all of *other*."""
        self.core_minutes += other.core_minutes
        self.unpriced_core_minutes += other.unpriced_core_minutes
        self._by_price.update(other._by_price)

    @property
    def usd(self) -> float | None:
        """Price of the part whose price is known; None when idle time has none at all."""
        if self.core_minutes and self.core_minutes == self.unpriced_core_minutes:
            return None
        return fsum(price * minutes for price, minutes in self._by_price.items()) / MINUTES_IN_HOUR


@dataclass(slots=True)
class CoreTime:
    """
    What there is to say of cores, in core minutes.

    Attributes:
        busy: At or above the busy threshold.

        attached_idle: Held, but not busy, for however long.

        unattached: Neither.

        unknown: Without telemetry. Never counted as idle.
    """

    busy: int = 0
    attached_idle: int = 0
    unattached: int = 0
    unknown: int = 0

    def add(self, state: str) -> None:
        """Add one minute of an instance by the letters of its cores."""
        busy, attached, unattached = map(state.count, (BUSY, ATTACHED_IDLE, UNATTACHED))
        self.busy += busy
        self.attached_idle += attached
        self.unattached += unattached
        self.unknown += len(state) - busy - attached - unattached

    def merge(self, other: CoreTime) -> None:
        """Add all of *other*."""
        self.busy += other.busy
        self.attached_idle += other.attached_idle
        self.unattached += other.unattached
        self.unknown += other.unknown

    @property
    def known(self) -> int:
        """Core minutes with telemetry."""
        return self.busy + self.attached_idle + self.unattached


@dataclass(slots=True)
class Coverage:
    """
    How much of the time telemetry covers.

    Attributes:
        minutes: Instance minutes with a line.

        missing: Those without, between two lines of an instance that did not
            shut down cleanly.

        covered_hundredths: Hundredths of a second that samples cover.
    """

    minutes: int = 0
    missing: int = 0
    covered_hundredths: int = 0

    def merge(self, other: Coverage) -> None:
        """Add all of *other*."""
        self.minutes += other.minutes
        self.missing += other.missing
        self.covered_hundredths += other.covered_hundredths

    @property
    def percent(self) -> float | None:
        """Share of the minutes with and without a line; None when there is none."""
        expected = self.minutes + self.missing
        return self.covered_hundredths / (60 * expected) if expected else None

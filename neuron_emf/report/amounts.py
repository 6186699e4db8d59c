"""
Idle core minutes, and what they cost.

Counted in whole numbers by price and multiplied at the end: the sum of many
small floats depends on their order, and lines come in any.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import fsum
from typing import Final

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
    def core_hours(self) -> float:
        """The same in hours."""
        return self.core_minutes / MINUTES_IN_HOUR

    @property
    def usd(self) -> float | None:
        """Price of the part whose price is known; None when idle time has none at all."""
        if self.core_minutes and self.core_minutes == self.unpriced_core_minutes:
            return None
        return fsum(price * minutes for price, minutes in self._by_price.items()) / MINUTES_IN_HOUR

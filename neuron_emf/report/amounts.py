"""
What is added up: idle core minutes and what they cost, core time, coverage.

Time is counted in whole numbers by price and multiplied at the end, exactly: the sum of
many small floats depends on their order, and lines come in any.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from neuron_emf.payment import Saving
from neuron_wire.core_owners import MICRO
from neuron_wire.names import ATTACHED_IDLE, BUSY, UNATTACHED
from neuron_wire.peaks import MICRO as MICRO_TERA_FLOPS
from neuron_wire.peaks import flops_of

if TYPE_CHECKING:
    from neuron_wire import MinuteRecord

MINUTES_IN_HOUR: Final = 60


Number = int | float


@dataclass(slots=True)
class IdleAmount:
    """So much idle time, by what it takes to save its price."""

    _micros: Counter[tuple[Saving, float | None]] = field(default_factory=Counter)

    def add(self, saving: Saving, micros: int, usd_per_core_hour: float | None) -> None:
        """Add one minute of *micros* millionths of an idle core; None is no price."""
        self._micros[saving, usd_per_core_hour] += micros

    def merge(self, other: IdleAmount) -> None:
        """Add all of *other*."""
        self._micros.update(other._micros)

    @property
    def micros(self) -> int:
        """Millionths of a core minute."""
        return self.micros_of(*Saving)

    def micros_of(self, *savings: Saving) -> int:
        """Those of them that are one of *savings*."""
        return sum(micros for (saving, _), micros in self._micros.items() if saving in savings)

    @property
    def core_minutes(self) -> Number:
        """Idle cores times minutes, to six decimals."""
        return _core_minutes(self.micros)

    @property
    def unpriced_core_minutes(self) -> Number:
        """Those of them whose price nobody knows."""
        return _core_minutes(
            sum(micros for (_, price), micros in self._micros.items() if price is None)
        )

    @property
    def usd(self) -> float | None:
        """Price of the part whose price is known; None when idle time has none at all."""
        return self.usd_of(*Saving)

    def usd_of(self, *savings: Saving) -> float | None:
        """The part of the price that is one of *savings*; None if none of that has a price."""
        exact = self.exact_usd_of(*savings)
        return None if exact is None else float(exact)

    def exact_usd_of(self, *savings: Saving) -> Fraction | None:
        """The same before it is rounded."""
        prices: Counter[float | None] = Counter()
        for (saving, price), micros in self._micros.items():
            if saving in savings:
                prices[price] += micros
        unpriced = prices.pop(None, 0)
        if (unpriced and not prices) or self._has_no_price:
            return None
        total = sum(
            (Fraction(price) * micros for price, micros in prices.items() if price is not None),
            Fraction(),
        )
        return total / (MICRO * MINUTES_IN_HOUR)

    @property
    def _has_no_price(self) -> bool:
        return bool(self._micros) and all(price is None for _, price in self._micros)


def _core_minutes(micros: int) -> Number:
    whole, rest = divmod(micros, MICRO)
    return whole if not rest else micros / MICRO


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
class FlopsTime:
    """
    FLOP/s of the minutes that tell any, and the dense BF16 peak of the same, added up.

    Attributes:
        micros: Achieved, millionths of a TFLOPS, each minute rounded.

        peak_micros: What the chips could do.
    """

    micros: int = 0
    peak_micros: int = 0

    def add(self, record: MinuteRecord) -> None:
        """Add a minute of an instance; one without FLOPs or of an unknown chip is in no share."""
        if (flops := flops_of(record)) is not None:
            self.micros += round(flops.tera_flops * MICRO_TERA_FLOPS)
            self.peak_micros += flops.peak_micros

    def merge(self, other: FlopsTime) -> None:
        """Add all of *other*."""
        self.micros += other.micros
        self.peak_micros += other.peak_micros

    @property
    def percent_of_peak(self) -> float | None:
        """Share of the peak; None where nobody told any."""
        return 100 * self.micros / self.peak_micros if self.peak_micros else None


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

"""
What is added up: idle core minutes and what they cost, core time, coverage.

Amounts are those of rows of the ledger, which `settle` writes and lines are made into: so both
come to the same. All is added up in whole numbers, because the sum of many small floats depends
on their order, and lines come in any.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from neuron_emf.payment import Saving
from neuron_wire.core_owners import MICRO
from neuron_wire.ledger import USD_PLACES
from neuron_wire.names import UNALLOCATED_OWNER, UNKNOWN_OWNER
from neuron_wire.peaks import MICRO as MICRO_TERA_FLOPS
from neuron_wire.peaks import flops_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_wire import MinuteRecord
    from neuron_wire.ledger import LedgerRow

NANO: Final = 10**USD_PLACES
MINUTES_IN_HOUR: Final = 60


Number = int | float


IdlePart = tuple[Saving, int, int | None]
"""
Of the idle time of a row what one saving has: millionths of a core minute, and their price
in billionths of a dollar, None without one.
"""


def idle_parts(row: LedgerRow) -> list[IdlePart]:
    """What is idle of *row*, each micro-core-minute in exactly one of the parts."""
    idle, cost, avoidable_cost = row.idle, row.idle_cost, row.avoidable_cost
    if not idle:
        return []
    rest = None
    if cost is None or avoidable_cost is None:
        cost = avoidable_cost = None
    else:
        rest = cost - avoidable_cost - row.sunk_cost
    parts: list[IdlePart] = []
    if row.avoidable:
        saving = Saving.UNHELD if row.owner == UNALLOCATED_OWNER else Saving.HELD
        parts.append((saving, row.avoidable, avoidable_cost))
    if shared := idle - row.avoidable - row.sunk:
        parts.append((Saving.SHARED, shared, rest))
    if row.sunk:
        parts.append((Saving.SUNK, row.sunk, None if cost is None else row.sunk_cost))
    return parts


@dataclass(slots=True)
class IdleAmount:
    """
    So much idle time, by what it takes to save its price.

    Of rows of the ledger the price is theirs, rounded once for an instance-hour; of what
    only lines tell, such as single cores, it is multiplied here.
    """

    _micros: Counter[tuple[Saving, float | None]] = field(default_factory=Counter)
    _row_micros: Counter[Saving] = field(default_factory=Counter)
    _row_nano_usd: Counter[Saving] = field(default_factory=Counter)

    def add(self, saving: Saving, micros: int, usd_per_core_hour: float | None) -> None:
        """Add one minute of *micros* millionths of an idle core; None is no price."""
        self._micros[saving, usd_per_core_hour] += micros

    def add_parts(self, parts: Iterable[IdlePart]) -> None:
        """Add what is idle of a row."""
        for saving, micros, nano_usd in parts:
            if nano_usd is None:
                self._micros[saving, None] += micros
            else:
                self._row_micros[saving] += micros
                self._row_nano_usd[saving] += nano_usd

    def merge(self, other: IdleAmount) -> None:
        """Add all of *other*."""
        self._micros.update(other._micros)
        self._row_micros.update(other._row_micros)
        self._row_nano_usd.update(other._row_nano_usd)

    @property
    def micros(self) -> int:
        """Millionths of a core minute."""
        return self.micros_of(*Saving)

    def micros_of(self, *savings: Saving) -> int:
        """Those of them that are one of *savings*."""
        by_price = sum(micros for (saving, _), micros in self._micros.items() if saving in savings)
        return by_price + sum(self._row_micros[saving] for saving in savings)

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
        has_rows = any(self._row_micros[saving] for saving in savings)
        if (unpriced and not prices and not has_rows) or self._has_no_price:
            return None
        total = sum(
            (Fraction(price) * micros for price, micros in prices.items() if price is not None),
            Fraction(),
        )
        of_rows = Fraction(sum(self._row_nano_usd[saving] for saving in savings), NANO)
        return total / (MICRO * MINUTES_IN_HOUR) + of_rows

    @property
    def _has_no_price(self) -> bool:
        is_unpriced = bool(self._micros) and all(price is None for _, price in self._micros)
        return is_unpriced and not self._row_micros


def _core_minutes(micros: int) -> Number:
    whole, rest = divmod(micros, MICRO)
    return whole if not rest else micros / MICRO


@dataclass(slots=True)
class CoreTime:
    """What there is to say of cores, in core minutes; kept in millionths of one."""

    _busy: int = 0
    _attached_idle: int = 0
    _unattached: int = 0
    _unknown: int = 0

    def add(self, row: LedgerRow) -> None:
        """Add what one owner had of an instance in an hour."""
        if row.owner == UNKNOWN_OWNER:
            self._unknown += row.held
        elif row.owner == UNALLOCATED_OWNER:
            self._unattached += row.held
        else:
            busy = row.busy or 0
            self._busy += busy
            self._attached_idle += row.held - busy

    def merge(self, other: CoreTime) -> None:
        """Add all of *other*."""
        self._busy += other._busy
        self._attached_idle += other._attached_idle
        self._unattached += other._unattached
        self._unknown += other._unknown

    @property
    def busy(self) -> int:
        """At or above the busy threshold."""
        return self._busy // MICRO

    @property
    def attached_idle(self) -> int:
        """Held, but not busy, for however long."""
        return self._attached_idle // MICRO

    @property
    def unattached(self) -> int:
        """Neither."""
        return self._unattached // MICRO

    @property
    def unknown(self) -> int:
        """Without telemetry. Never counted as idle."""
        return self._unknown // MICRO

    @property
    def known(self) -> int:
        """Core minutes with telemetry."""
        return (self._busy + self._attached_idle + self._unattached) // MICRO


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

"""
Cores, idle time and money: of an instance, of a cluster, or of all of them.

Added up as the rollups do it. What nobody knows is None: without a known core
there is no utilization, without a price there is no cost.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_S, UNATTACHED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_wire.merging import InstanceMinute
    from neuron_wire.prices import Prices

_NOT_BUSY: Final = ATTACHED_IDLE + UNATTACHED
_LARGEST: Final = "idle_minutes"
_SUMS_OF_CENTS: Final = 6  # decimals: no tail of binary noise


@dataclass(frozen=True, slots=True)
class Figures:
    """
    What there is to say of some instances.

    Attributes:
        instances: That report.

        silent: That reported before and do so no more.

        stopped: That said goodbye.

        duplicates: On which two emitters report.

        cores: Of those that report, as they tell it.

        busy: Cores at or above the busy threshold.

        attached_idle: Cores that are held, but not busy.

        unattached: Cores that are neither.

        unknown: Cores without telemetry; in no other figure.

        hundredths: Utilization of the known cores, added up, in hundredths of a percent.

        idle_cores: Known cores that have not been busy for long enough to be called idle.

        idle_minutes: Of the core that is idle for longest.

        idle_core_minutes: Of all idle cores, added up: how long they have been idle by now.

        usd: Price of the idle cores per hour, of those with a price.

        priced_known_cores: Known cores with a price.

        unpriced_cores: Cores of a type whose price is unknown.

        unpriced_idle_cores: The idle ones among them; not in *usd*.

        covered_s: Seconds that telemetry covers.
    """

    instances: int = 0
    silent: int = 0
    stopped: int = 0
    duplicates: int = 0
    cores: int = 0
    busy: int = 0
    attached_idle: int = 0
    unattached: int = 0
    unknown: int = 0
    hundredths: int = 0
    idle_cores: int = 0
    idle_minutes: int = 0
    idle_core_minutes: int = 0
    usd: float = 0.0
    priced_known_cores: int = 0
    unpriced_cores: int = 0
    unpriced_idle_cores: int = 0
    covered_s: float = 0.0

    @property
    def known(self) -> int:
        """Cores with telemetry."""
        return self.busy + self.attached_idle + self.unattached

    @property
    def utilization_percent(self) -> float | None:
        """Mean over the known cores."""
        return self.hundredths / self.known / 100 if self.known else None

    @property
    def usd_per_hour(self) -> float | None:
        """List price of the idle cores; None when no known core has a price."""
        return round(self.usd, _SUMS_OF_CENTS) if self.priced_known_cores else None

    @property
    def coverage_percent(self) -> float | None:
        """Share of the minute that telemetry covers, over those that report and those silent."""
        expected = self.instances + self.silent
        return 100 * self.covered_s / (MINUTE_S * expected) if expected else None


def idle_cores(state: str, idle_minutes: Iterable[int], idle_after: int) -> list[int]:
    """Indexes of the cores that are known not to be busy for *idle_after* minutes or longer."""
    return [
        core_index
        for core_index, (letter, minutes) in enumerate(zip(state, idle_minutes, strict=True))
        if minutes >= idle_after and letter in _NOT_BUSY
    ]


def figures_of(minute: InstanceMinute, idle_after: int, prices: Prices) -> Figures:
    """What one instance that reports did in its newest minute."""
    record = minute.record
    state = record.core_state
    idle = idle_cores(state, record.idle_minutes, idle_after)
    price = prices.usd_per_core_hour(record.instance_type, len(state))
    known = len(state) - state.count(UNKNOWN)
    return Figures(
        instances=1,
        duplicates=int(minute.duplicate_emitters),
        cores=len(state),
        busy=state.count(BUSY),
        attached_idle=state.count(ATTACHED_IDLE),
        unattached=state.count(UNATTACHED),
        unknown=len(state) - known,
        hundredths=sum(
            round(100 * percent) for percent in record.utilization_percent if percent is not None
        ),
        idle_cores=len(idle),
        idle_minutes=max((record.idle_minutes[core_index] for core_index in idle), default=0),
        idle_core_minutes=sum(record.idle_minutes[core_index] for core_index in idle),
        usd=0.0 if price is None else price * len(idle),
        priced_known_cores=0 if price is None else known,
        unpriced_cores=len(state) if price is None else 0,
        unpriced_idle_cores=len(idle) if price is None else 0,
        covered_s=record.covered_seconds,
    )


def total(all_of_them: Iterable[Figures]) -> Figures:
    """The figures of all of them together."""
    found = list(all_of_them)
    sums = {
        one.name: sum(getattr(figures, one.name) for figures in found) for one in fields(Figures)
    }
    sums[_LARGEST] = max((figures.idle_minutes for figures in found), default=0)
    return Figures(**sums)

"""
The idle cores of a cluster in one minute: how many, what they cost, what ends and who holds them.

What close adds up for a rollup, and whoever reads minute lines where no rollup is: one sum,
in whole numbers, whatever the order of instances.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuron_wire.core_owners import MICRO
from neuron_wire.core_time import AVOIDABLE, CoreTime, Part, idle_parts
from neuron_wire.cores import idle_cores
from neuron_wire.idle_owners import IdleOwners
from neuron_wire.money import FINE, rounded
from neuron_wire.names import ATTACHED_IDLE, UNKNOWN
from neuron_wire.payment import is_sunk
from neuron_wire.prices import PriceBasis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.prices import Prices


@dataclass(slots=True)
class ClusterIdle:
    """
    The sums.

    A core is idle from *after_minutes* minutes without work on, and only while
    it is known what it does.

    Attributes:
        after_minutes: How long it must not have been busy.

        prices: What a core costs.

        paid_by_type: How instances of a type are paid, where their lines do not say it.

        cores: Idle cores so far.

        instance_count: Instances with some.

        wholly_idle_instances: Wholly idle ones that cost less when they stop.

        unpriced_cores: Cores, idle or not, whose price nobody knows.

        basis: What the amounts are based on, and what has no price.

        owners: Who holds the idle cores.
    """

    after_minutes: int
    prices: Prices
    paid_by_type: Mapping[str, str] = field(default_factory=dict)
    cores: int = 0
    instance_count: int = 0
    wholly_idle_instances: int = 0
    unpriced_cores: int = 0
    basis: PriceBasis = field(default_factory=PriceBasis)
    owners: IdleOwners = field(default_factory=IdleOwners)
    _priced_known_cores: int = 0
    _time: CoreTime = field(default_factory=CoreTime)  # of which only what is idle is counted

    def fold_record(self, record: MinuteRecord) -> tuple[Sequence[int], float | None]:
        """Add an instance by its merged record; gives its idle cores and the price of one."""
        state = record.core_state
        price = self.basis.usd_per_core_hour(
            self.prices, record.instance_type, len(state), record.region
        )
        if price is None:
            self.unpriced_cores += len(state)
        else:
            self._priced_known_cores += len(state) - state.count(UNKNOWN)
        idle = idle_cores(state, record.idle_minutes, self.after_minutes)
        fine_price = None if price is None else round(price * FINE)
        parts = idle_parts(record, idle, is_sunk=is_sunk(record, self.paid_by_type))
        self.owners.add(record, idle, parts, fine_price)
        if idle:
            held = sum([state[core_index] == ATTACHED_IDLE for core_index in idle])
            for part, cores in zip(parts, (held, len(idle) - held), strict=True):
                self._time.fold_idle(part, MICRO * cores, fine_price)
            self.cores += len(idle)
            self.instance_count += 1
            self.wholly_idle_instances += parts == AVOIDABLE
        return idle, price

    def fold_sums(self, other: ClusterIdle) -> None:
        """Add the instances of *other*."""
        self.cores += other.cores
        self.instance_count += other.instance_count
        self.wholly_idle_instances += other.wholly_idle_instances
        self.unpriced_cores += other.unpriced_cores
        self.basis.include(other.basis)
        self._priced_known_cores += other._priced_known_cores
        self._time.fold(other._time)
        self.owners.include(other.owners)

    def usd_per_hour(self) -> dict[str, float]:
        """
        The members of a rollup, six decimals each: the parts add up to IdleCostPerHour.

        Empty when no core with a price is known.
        """
        if not self._priced_known_cores:
            return {}
        micro_usd_of = rounded(self._time.cost_by_part, FINE)
        micro_usd = {
            "IdleCostPerHour": sum(micro_usd_of),
            "AvoidableCostPerHour": sum(micro_usd_of[part] for part in AVOIDABLE),
            "AvoidableHeldCostPerHour": micro_usd_of[Part.AVOIDABLE_HELD],
            "SharedCostPerHour": micro_usd_of[Part.SHARED],
            "SunkCostPerHour": micro_usd_of[Part.SUNK],
        }
        return {name: amount / MICRO for name, amount in micro_usd.items()}

"""
The idle cores of a cluster in one minute: how many, what they cost, what ends and who has them.

What close adds up for a rollup, and whoever reads minute lines where no rollup is: one sum,
in whole numbers, whatever the order of instances. Whether a stop wastes no work is known once
all instances are added: their owners may work on others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuron_wire.core_owners import MICRO, core_owners, cores_by_owner
from neuron_wire.core_time import AVOIDABLE, CoreTime, Part
from neuron_wire.cores import idle_cores
from neuron_wire.idle_owners import IdleOwners
from neuron_wire.money import FINE, rounded
from neuron_wire.names import UNATTACHED, UNKNOWN
from neuron_wire.owner_minutes import waits_for
from neuron_wire.payment import is_sunk
from neuron_wire.prices import PriceBasis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.prices import Prices


@dataclass(slots=True)
class _Waiting:
    """Instances that are wholly idle themselves, and their idle cores, of the same owners."""

    instances: int = 0
    time: CoreTime = field(default_factory=CoreTime)


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

        unpriced_cores: Cores, idle or not, whose price nobody knows.

        basis: What the amounts are based on, and what has no price.

        owners: Who has the idle cores.
    """

    after_minutes: int
    prices: Prices
    paid_by_type: Mapping[str, str] = field(default_factory=dict)
    cores: int = 0
    instance_count: int = 0
    unpriced_cores: int = 0
    basis: PriceBasis = field(default_factory=PriceBasis)
    owners: IdleOwners = field(default_factory=IdleOwners)
    _priced_known_cores: int = 0
    _time: CoreTime = field(default_factory=CoreTime)  # of which only what is idle is counted
    _waiting: dict[tuple[str, ...], _Waiting] = field(default_factory=dict)

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
        cores_of = cores_by_owner(record)
        minutes = self.owners.minutes.fold_record(record, cores_of)
        if idle:
            self.cores += len(idle)
            self.instance_count += 1
            fine_price = None if price is None else round(price * FINE)
            names, teams = core_owners(record, idle, cores_of)
            reserved = record.reserved
            free = {core for core in idle if state[core] == UNATTACHED and core not in reserved}
            self.owners.fold_idle(record, names, teams, free, fine_price)
            had, unheld = MICRO * (len(idle) - len(free)), MICRO * len(free)
            waits = waits_for(record, idle, names, minutes, self.after_minutes)
            if is_sunk(record, self.paid_by_type):
                self._time.fold_idle(Part.SUNK, had + unheld, fine_price)
            elif waits is None:
                self._time.fold_idle(Part.SHARED, had + unheld, fine_price)
            else:
                waiting = self._waiting.setdefault(waits, _Waiting())
                waiting.instances += 1
                waiting.time.fold_idle(Part.AVOIDABLE_HELD, had, fine_price)
                waiting.time.fold_idle(Part.AVOIDABLE_UNHELD, unheld, fine_price)
        return idle, price

    def fold_sums(self, other: ClusterIdle) -> None:
        """Add the instances of *other*."""
        self.cores += other.cores
        self.instance_count += other.instance_count
        self.unpriced_cores += other.unpriced_cores
        self.basis.include(other.basis)
        self._priced_known_cores += other._priced_known_cores
        self._time.fold(other._time)
        for waits, theirs in other._waiting.items():
            mine = self._waiting.setdefault(waits, _Waiting())
            mine.instances += theirs.instances
            mine.time.fold(theirs.time)
        self.owners.fold_sums(other.owners)

    @property
    def wholly_idle_instances(self) -> int:
        """Those whose owners are so in the cluster, and that cost less when they stop."""
        awaited = self.awaited().keys()
        return sum(
            one.instances for waits, one in self._waiting.items() if awaited.isdisjoint(waits)
        )

    def awaited(self) -> dict[str, bool]:
        """
        Owners of idle instances who are not wholly idle in the cluster, once all are added.

        True of those of whom it is known that they work, or siblings of theirs do.
        """
        minutes = self.owners.minutes
        owners = {owner for waits in self._waiting for owner in waits}
        return {
            owner: minutes.has_working_sibling(owner)
            for owner in owners
            if minutes.wholly_idle_minutes(owner) < self.after_minutes
        }

    def usd_per_hour(self) -> dict[str, float]:
        """
        The members of a rollup, six decimals each: the parts add up to IdleCostPerHour.

        Empty when no core with a price is known.
        """
        if not self._priced_known_cores:
            return {}
        awaited, costs = self.awaited().keys(), list(self._time.cost_by_part)
        for waits, one in self._waiting.items():
            is_avoidable = awaited.isdisjoint(waits)
            for part in AVOIDABLE:
                costs[part if is_avoidable else Part.SHARED] += one.time.cost_by_part[part]
        micro_usd_of = rounded(costs, FINE)
        micro_usd = {
            "IdleCostPerHour": sum(micro_usd_of),
            "AvoidableCostPerHour": sum(micro_usd_of[part] for part in AVOIDABLE),
            "AvoidableHeldCostPerHour": micro_usd_of[Part.AVOIDABLE_HELD],
            "SharedCostPerHour": micro_usd_of[Part.SHARED],
            "SunkCostPerHour": micro_usd_of[Part.SUNK],
        }
        return {name: amount / MICRO for name, amount in micro_usd.items()}

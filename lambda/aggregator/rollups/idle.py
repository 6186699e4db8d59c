"""Which cores are idle, for how long, what they cost and who holds them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from aggregator.rollups.owners import IdleOwners
from aggregator.rollups.ranking import Ranking
from neuron_wire.core_owners import MICRO
from neuron_wire.core_time import AVOIDABLE, CoreTime, Part, idle_parts
from neuron_wire.cores import idle_cores
from neuron_wire.idle_holders import holders_of
from neuron_wire.money import FINE, rounded
from neuron_wire.names import ATTACHED_IDLE, UNKNOWN
from neuron_wire.payment import is_sunk
from neuron_wire.prices import PriceBasis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.holders import Holder
    from neuron_wire.prices import Prices

MAX_IDLE_INSTANCES: Final = 20


@dataclass(frozen=True, slots=True)
class IdleInstance:
    """
    An instance with idle cores.

    Attributes:
        instance_id: Its name.

        instance_type: As reported, or None.

        state: What all its cores did, a letter each.

        executions: How many ended in the minute; None where nobody read it.

        cores: Indexes of its idle cores, ascending.

        minutes: For how long the longest idle of them has not been busy.

        usd_per_hour: Price of those cores, or None when unknown.

        holders: Who holds the attached ones, the most idle first.

        holders_more: How many more hold some.
    """

    instance_id: str
    instance_type: str | None
    state: str
    executions: int | None
    cores: Sequence[int]
    minutes: int
    usd_per_hour: float | None
    holders: Sequence[Holder]
    holders_more: int

    @property
    def attached(self) -> list[int]:
        """Those of its idle cores that a runtime holds."""
        return [core for core in self.cores if self.state[core] == ATTACHED_IDLE]


@dataclass(slots=True)
class IdleCores:
    """
    The idle cores of a cluster.

    A core is idle from *after_minutes* minutes without work on, and only while
    it is known what it does.

    Attributes:
        after_minutes: How long it must not have been busy.

        prices: What a core costs.

        paid_by_type: How instances of a type are paid, where their lines do not say it.

        cores: Idle cores so far.

        wholly_idle_instances: Wholly idle ones that cost less when they stop.

        unpriced_cores: Cores, idle or not, whose price nobody knows.

        basis: What the amounts are based on, and what has no price.

        owners: Who holds the idle cores.
    """

    after_minutes: int
    prices: Prices
    paid_by_type: Mapping[str, str] = field(default_factory=dict)
    cores: int = 0
    wholly_idle_instances: int = 0
    unpriced_cores: int = 0
    basis: PriceBasis = field(default_factory=PriceBasis)
    owners: IdleOwners = field(default_factory=IdleOwners)
    _priced_known_cores: int = 0
    _time: CoreTime = field(default_factory=CoreTime)  # of which only what is idle is counted
    _most: Ranking[IdleInstance] = field(default_factory=lambda: Ranking(MAX_IDLE_INSTANCES))

    def add(self, record: MinuteRecord) -> None:
        """Add an instance."""
        state, instance_type = record.core_state, record.instance_type
        price = self.basis.usd_per_core_hour(self.prices, instance_type, len(state), record.region)
        if price is None:
            self.unpriced_cores += len(state)
        else:
            self._priced_known_cores += len(state) - state.count(UNKNOWN)
        idle = idle_cores(state, record.idle_minutes, self.after_minutes)
        fine_price = None if price is None else round(price * FINE)
        parts = idle_parts(record, idle, is_sunk=is_sunk(record, self.paid_by_type))
        self.owners.add(record, idle, parts, fine_price)
        if not idle:
            return
        held = sum([state[core_index] == ATTACHED_IDLE for core_index in idle])
        for part, cores in zip(parts, (held, len(idle) - held), strict=True):
            self._time.fold_idle(part, MICRO * cores, fine_price)
        self.cores += len(idle)
        self.wholly_idle_instances += parts == AVOIDABLE
        longest = max([record.idle_minutes[core_index] for core_index in idle])
        instance = IdleInstance(
            record.instance_id,
            instance_type,
            state,
            record.executions,
            idle,
            longest,
            None if price is None else price * len(idle),
            record.holders,
            record.holders_more,
        )
        self._most.add((-len(idle), -longest, record.instance_id), instance)

    def include(self, other: IdleCores) -> None:
        """Add the instances of *other*."""
        self.cores += other.cores
        self.wholly_idle_instances += other.wholly_idle_instances
        self.unpriced_cores += other.unpriced_cores
        self.basis.include(other.basis)
        self._priced_known_cores += other._priced_known_cores
        self._time.fold(other._time)
        self.owners.include(other.owners)
        self._most.include(other._most)

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

    @property
    def instance_count(self) -> int:
        """Instances with idle cores."""
        return self._most.count

    def instances(self) -> list[IdleInstance]:
        """Those with most idle cores first, then those idle for longest, at most 20."""
        found = []
        for one in self._most.first():
            # Only of those that are listed: in a fleet of small clusters nearly every one waits.
            holders, more = holders_of((one.holders, one.holders_more), set(one.attached))
            found.append(replace(one, holders=holders, holders_more=more))
        return found

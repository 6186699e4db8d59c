"""Which cores are idle, for how long, what they cost and who holds them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Final

from aggregator.rollups.ranking import Ranking
from neuron_wire.idle_holders import holders_of
from neuron_wire.names import ATTACHED_IDLE, UNATTACHED, UNKNOWN
from neuron_wire.prices import PriceBasis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.holders import Holder
    from neuron_wire.prices import Prices

MAX_IDLE_INSTANCES: Final = 20
_NOT_BUSY: Final = ATTACHED_IDLE + UNATTACHED


@dataclass(frozen=True, slots=True)
class IdleInstance:
    """
    An instance with idle cores.

    Attributes:
        instance_id: Its name.

        instance_type: As reported, or None.

        cores: Indexes of its idle cores, ascending.

        attached: Those of them that a runtime holds.

        minutes: For how long the longest idle of them has not been busy.

        usd_per_hour: Price of those cores, or None when unknown.

        holders: Who holds the attached ones, the most idle first.

        holders_more: How many more hold some.
    """

    instance_id: str
    instance_type: str | None
    cores: Sequence[int]
    attached: Sequence[int]
    minutes: int
    usd_per_hour: float | None
    holders: Sequence[Holder]
    holders_more: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    # What is needed of an instance once it is known to be among the most idle.
    # Not its record: in a fleet of many small clusters nearly every one waits here.
    instance_id: str
    instance_type: str | None
    state: str
    cores: Sequence[int]
    minutes: int
    usd_per_core_hour: float | None
    holders: Sequence[Holder]
    holders_more: int


@dataclass(slots=True)
class IdleCores:
    """
    The idle cores of a cluster.

    A core is idle from *after_minutes* minutes without work on, and only while
    it is known what it does.

    Attributes:
        after_minutes: How long it must not have been busy.

        prices: What a core costs.

        cores: Idle cores so far.

        unpriced_cores: Cores, idle or not, whose price nobody knows.

        basis: What the amounts are based on, and what has no price.
    """

    after_minutes: int
    prices: Prices
    cores: int = 0
    unpriced_cores: int = 0
    basis: PriceBasis = field(default_factory=PriceBasis)
    _priced_known_cores: int = 0
    _by_price: Counter[float] = field(default_factory=Counter)
    _most: Ranking[_Candidate] = field(default_factory=lambda: Ranking(MAX_IDLE_INSTANCES))

    def add(self, record: MinuteRecord) -> None:
        """Add an instance."""
        state, instance_type = record.core_state, record.instance_type
        price = self.basis.usd_per_core_hour(self.prices, instance_type, len(state), record.region)
        if price is None:
            self.unpriced_cores += len(state)
        else:
            self._priced_known_cores += len(state) - state.count(UNKNOWN)
        after = self.after_minutes
        if max(record.idle_minutes, default=0) < after:
            return
        idle = [
            core_index
            for core_index, minutes in enumerate(record.idle_minutes)
            if minutes >= after and state[core_index] in _NOT_BUSY
        ]
        if not idle:
            return
        self.cores += len(idle)
        if price is not None:
            self._by_price[price] += len(idle)
        longest = max([record.idle_minutes[core_index] for core_index in idle])
        candidate = _Candidate(
            record.instance_id,
            instance_type,
            state,
            idle,
            longest,
            price,
            record.holders,
            record.holders_more,
        )
        self._most.add((-len(idle), -longest, record.instance_id), candidate)

    def include(self, other: IdleCores) -> None:
        """Add the instances of *other*."""
        self.cores += other.cores
        self.unpriced_cores += other.unpriced_cores
        self.basis.include(other.basis)
        self._priced_known_cores += other._priced_known_cores
        self._by_price.update(other._by_price)
        self._most.include(other._most)

    @property
    def usd_per_hour(self) -> float | None:
        """Price of the idle cores; None when no core with a price is known."""
        if not self._priced_known_cores:
            return None
        return fsum(price * cores for price, cores in self._by_price.items())

    @property
    def instance_count(self) -> int:
        """Instances with idle cores."""
        return self._most.count

    def instances(self) -> list[IdleInstance]:
        """Those with most idle cores first, then those idle for longest, at most 20."""
        return [_idle_instance(one) for one in self._most.first()]


def _idle_instance(candidate: _Candidate) -> IdleInstance:
    attached = [core for core in candidate.cores if candidate.state[core] == ATTACHED_IDLE]
    holders, holders_more = holders_of((candidate.holders, candidate.holders_more), set(attached))
    price = candidate.usd_per_core_hour
    return IdleInstance(
        instance_id=candidate.instance_id,
        instance_type=candidate.instance_type,
        cores=candidate.cores,
        attached=attached,
        minutes=candidate.minutes,
        usd_per_hour=None if price is None else price * len(candidate.cores),
        holders=holders,
        holders_more=holders_more,
    )

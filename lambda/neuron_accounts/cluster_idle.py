"""
The idle cores of a cluster in one minute: their number, cost, avoidable part and owners.

Close adds them up for a rollup, and so does a reader of minute lines without rollups. All sums are
whole numbers and do not depend on the order of instances: the rows of the owners add up to the idle
cores and their cost. A core of several owners is split evenly. Whether a stop wastes no work is
known only after all instances are added, because their owners may work on others.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from neuron_accounts.core_time import FINE, OwnerTime, Part, round_shares, time_of
from neuron_accounts.owner_minutes import (
    OwnerMinutes,
    core_owners,
    cores_by_owner,
    even_shares,
    waits_for,
)
from neuron_accounts.payment import is_committed
from neuron_accounts.prices import PriceBasis
from neuron_wire.core_members import idle_cores
from neuron_wire.names import (
    MICRO,
    NOT_REPORTED_OWNER,
    OTHER_OWNERS,
    UNALLOCATED_OWNER,
    UNATTACHED_STATE,
    UNKNOWN_STATE,
)
from neuron_wire.owners import UNNAMED_OWNER

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from neuron_accounts.core_time import CostRules
    from neuron_accounts.now import IdleOwner
    from neuron_accounts.owner_minutes import OwnedCores
    from neuron_wire import MinuteRecord
    from neuron_wire.line_members import Amounts

MAX_OWNER_ROWS: Final = 20
_ALWAYS_ROWS: Final = frozenset({UNALLOCATED_OWNER, NOT_REPORTED_OWNER, UNNAMED_OWNER})
"""Placeholder rows that are never merged into `[others]`, however few idle cores they have."""

_DIVIDED: Final = ("AvoidableCostPerHour", "AvoidableAllocatedCostPerHour", "SharedCostPerHour")

MAX_OWNERS_IN_CLUSTER_ROWS: Final = 10_000
"""
The owners of one cluster's idle cores that each process adds up separately, in about 5 MB. Beyond
them, the half with the highest cost stays, and the others are counted and merged into `[others]`.
"""


@dataclass(slots=True)
class IdleOwners:
    """
    The owners of a cluster's idle cores.

    Attributes:
        left_out: Sums of owners that were merged into `[others]` because there was no room: later
            minutes of such an owner start a new count.

        minutes: The minutes of the owners, including those without idle cores.
    """

    left_out: int = 0
    minutes: OwnerMinutes = field(default_factory=OwnerMinutes)
    _sums: dict[str, OwnerTime] = field(default_factory=lambda: defaultdict(OwnerTime))

    def fold_idle(
        self, record: MinuteRecord, owned: OwnedCores, free: Collection[int], price: int | None
    ) -> None:
        """
        Add the idle cores of an instance; *owned* has their owners.

        *free* are the cores neither held nor reserved. *price* is the price of one core, in `FINE`
        parts of a dollar per hour.
        """
        idle_minutes = record.idle_minutes
        state = record.core_state
        micros: dict[str, int] = {}
        longest: dict[str, int] = {}
        for owners, cores in owned.cores_of.items():
            minutes = max([idle_minutes[core] for core in cores])
            reserved = sum([state[core] == UNATTACHED_STATE and core not in free for core in cores])
            for owner, share in zip(owners, even_shares(len(owners)), strict=True):
                micros[owner] = micros.get(owner, 0) + share * len(cores)
                longest[owner] = max(longest.get(owner, 0), minutes)
                if reserved:
                    self._sums[owner].reserved += share * reserved
        for owner, theirs in micros.items():
            self._sums[owner].fold_instance(theirs, price, longest[owner], owned.teams.get(owner))
        if free:
            free_row = NOT_REPORTED_OWNER if record.is_allocation_unknown else UNALLOCATED_OWNER
            self._sums[free_row].unallocated += MICRO * len(free)
        self._make_room()

    def fold_sums(self, other: IdleOwners) -> None:
        """Add the instances of *other*."""
        self.left_out += other.left_out
        self.minutes.fold_minutes(other.minutes)
        for owner, owner_time in other._sums.items():
            self._sums[owner].fold_owner(owner_time)
        self._make_room()

    def sums(self) -> dict[str, OwnerTime] | None:
        """Return every owner, highest cost first; None if there were too many to keep each."""
        if self.left_out or self.minutes.are_too_many:
            return None
        return dict(sorted(self._sums.items(), key=_place))

    def rows(self, instances: int) -> list[IdleOwner]:
        """
        Return at most 20 rows with all idle cores: highest cost first, then most cores.

        *instances* have idle cores. Further owners are one row, `[others]`, which includes no
        placeholder.
        """
        others = OwnerTime()
        rows = [pair for pair in self._sums.items() if pair[0] in _ALWAYS_ROWS]
        ranked = self._ranked()
        room = MAX_OWNER_ROWS - len(rows)
        if OTHER_OWNERS in self._sums or len(ranked) > room:
            room -= 1
            others.fold_owner(self._sums.get(OTHER_OWNERS, OwnerTime()))
            for _, owner_time in ranked[room:]:
                others.fold_owner(owner_time)
            others.instances = min(others.instances, instances)
            others.teams = None  # several owners have no single team
            rows.append((OTHER_OWNERS, others))
        rows += ranked[:room]
        rows.sort(key=_place)
        costs = round_shares([sum(row.cost_by_part) for _, row in rows], FINE)
        return [self._row(*pair, cost) for pair, cost in zip(rows, costs, strict=True)]

    def _row(self, owner: str, owner_time: OwnerTime, cost: int) -> IdleOwner:
        row = self.minutes.row_of(owner)
        if owner == NOT_REPORTED_OWNER and owner_time.unallocated:  # its allocation is unknown
            row = replace(row, allocated=owner_time.idle - owner_time.unallocated)
        return replace(
            row,
            idle=owner_time.idle,
            team=owner_time.team,
            reserved=owner_time.reserved,
            instances=owner_time.instances,
            minutes=owner_time.minutes,
            cost=None if owner_time.idle_cost is None else cost,
            unpriced=owner_time.unpriced_idle,
        )

    def _ranked(self) -> list[tuple[str, OwnerTime]]:
        kept = _ALWAYS_ROWS | {OTHER_OWNERS}
        named = [pair for pair in self._sums.items() if pair[0] not in kept]
        return sorted(named, key=_place)

    def _make_room(self) -> None:
        if len(self._sums) <= MAX_OWNERS_IN_CLUSTER_ROWS:
            return
        for owner, owner_time in self._ranked()[MAX_OWNERS_IN_CLUSTER_ROWS // 2 :]:
            del self._sums[owner]
            self._sums[OTHER_OWNERS].fold_owner(owner_time)
            self.left_out += 1


def _place(pair: tuple[str, OwnerTime]) -> tuple[int, int, str]:
    owner, owner_time = pair
    return -sum(owner_time.cost_by_part), -owner_time.idle, owner


@dataclass(slots=True)
class ClusterIdle:
    """
    The sums of one cluster's idle cores.

    A core is idle after the minutes without work that *rules* set, and only while its state is
    known.

    Attributes:
        rules: The settings that decide the cost of a minute.

        total: All idle cores. Avoidable cores count as shared, because they are known only after
            all instances are added.

        unknown_allocation_cores: Idle cores that no process holds, of instances whose scheduler
            assignments are unknown.

        unpriced_cores: Cores, idle or not, without a price.

        basis: The prices behind the amounts, and the types without a price.

        owners: The owners of the idle cores.
    """

    rules: CostRules
    total: OwnerTime = field(default_factory=OwnerTime)
    unknown_allocation_cores: int = 0
    unpriced_cores: int = 0
    basis: PriceBasis = field(default_factory=PriceBasis)
    owners: IdleOwners = field(default_factory=IdleOwners)
    _priced_known_cores: int = 0
    _resting_owners: set[str] = field(default_factory=set)
    # Idle cores that are avoidable if all of their owners are fully idle, by these owners.
    _waiting: dict[tuple[str, ...], OwnerTime] = field(
        default_factory=lambda: defaultdict(OwnerTime)
    )

    def fold_record(
        self, record: MinuteRecord, *, in_other_clusters: bool = False
    ) -> tuple[Sequence[int], float | None]:
        """
        Add an instance by its merged record. Return its idle cores and the price of one.

        The cost of an instance that is also *in_other_clusters* is not avoidable.
        """
        state = record.core_state
        price = self.basis.usd_per_core_hour(
            self.rules.prices, record.instance_type, len(state), record.region
        )
        if price is None:
            self.unpriced_cores += len(state)
        else:
            self._priced_known_cores += len(state) - state.count(UNKNOWN_STATE)
        idle = idle_cores(state, record.idle_minutes, self.rules.idle_after_minutes)
        cores_of = cores_by_owner(record)
        minutes = self.owners.minutes.fold_record(record, cores_of)
        if len(idle) == len(state):
            self._resting_owners.update(minutes)
        if idle:
            fine_price = None if price is None else round(price * FINE)
            owned = core_owners(record, idle, cores_of)
            reserved = record.reserved if UNATTACHED_STATE in state else ()
            free = {
                core for core in idle if state[core] == UNATTACHED_STATE and core not in reserved
            }
            self.owners.fold_idle(record, owned, free, fine_price)
            is_paid_anyway = is_committed(record, self.rules.paid_by_type)
            part = Part.COMMITTED if is_paid_anyway else Part.SHARED
            unallocated = MICRO * len(free)
            self.total.instances += 1
            self.total.fold_idle(part, MICRO * len(idle), fine_price)
            if record.is_allocation_unknown:
                self.unknown_allocation_cores += len(free)
            else:
                self.total.unallocated += unallocated
            waits = waits_for(
                record,
                idle,
                owned.cores_of,
                minutes,
                self.rules.idle_after_minutes,
                is_excluded=is_paid_anyway or in_other_clusters,
            )
            if waits is not None:
                waiting = self._waiting[waits]
                waiting.instances += 1
                allocated = MICRO * len(idle) - unallocated
                waiting.fold_idle(Part.AVOIDABLE_ALLOCATED, allocated, fine_price)
                waiting.fold_idle(Part.AVOIDABLE_UNALLOCATED, unallocated, fine_price)
        return idle, price

    @property
    def cores(self) -> int:
        """The number of idle cores."""
        return self.total.idle // MICRO

    def fold_sums(self, other: ClusterIdle) -> None:
        """Add the instances of *other*."""
        self.total.fold_owner(other.total)
        self.unknown_allocation_cores += other.unknown_allocation_cores
        self.unpriced_cores += other.unpriced_cores
        self.basis.fold_basis(other.basis)
        self._priced_known_cores += other._priced_known_cores
        self._resting_owners |= other._resting_owners
        for waits, waiting in other._waiting.items():
            self._waiting[waits].fold_owner(waiting)
        self.owners.fold_sums(other.owners)

    def core_members(self) -> dict[str, int | None]:
        """Return the idle counts of a rollup that knows a core; an unknown count is None."""
        return {
            "IdleCores": self.cores,
            "UnallocatedIdleCores": self.total.unallocated // MICRO,
            "UnknownAllocationIdleCores": self.unknown_allocation_cores,
            "UnpricedIdleCores": self.total.unpriced_idle // MICRO,
            "FullyIdleInstances": self.fully_idle_instances,
        }

    @property
    def fully_idle_instances(self) -> int | None:
        """
        The number of fully idle instances whose owners are fully idle too, without committed ones.

        None if instances that have not reported could change the number.
        """
        avoidable, unknown = self._groups()
        return None if unknown else sum(group.instances for group in avoidable)

    def awaited(self) -> dict[str, bool]:
        """
        Return the owners of instances without a busy core that are not fully idle.

        The value is True for owners that are known to work, themselves or through a sibling. Call
        this after all instances are added.
        """
        minutes = self.owners.minutes
        return {
            owner: minutes.has_working_sibling(owner)
            for owner in self._resting_owners
            if owner != UNNAMED_OWNER
            and minutes.fully_idle_minutes(owner) < self.rules.idle_after_minutes
        }

    def _groups(self) -> tuple[list[OwnerTime], list[OwnerTime]]:
        """Return the waiting instances that are avoidable, and those that may be avoidable."""
        minutes = self.owners.minutes
        avoidable: list[OwnerTime] = []
        unknown: list[OwnerTime] = []
        for waits, group in self._waiting.items():
            if all(
                minutes.seen_idle_minutes(owner) >= self.rules.idle_after_minutes for owner in waits
            ):
                is_unseen = any(owner in minutes.unseen for owner in waits)
                (unknown if is_unseen else avoidable).append(group)
        return avoidable, unknown

    def usd_per_hour(self) -> Amounts:
        """
        Return the members of a rollup, six decimals each: the parts add up to IdleCostPerHour.

        Empty if no core with a price is known. Parts that instances without a report could change
        are absent.
        """
        if not self._priced_known_cores:
            return {}
        avoidable, unknown = self._groups()
        costs = time_of([self.total, *avoidable]).cost_by_part
        costs[Part.SHARED] -= sum(sum(group.cost_by_part) for group in avoidable)
        allocated, unallocated, shared, committed = round_shares(costs, FINE)
        micro_usd = {
            "IdleCostPerHour": allocated + unallocated + shared + committed,
            "AvoidableCostPerHour": allocated + unallocated,
            "AvoidableAllocatedCostPerHour": allocated,
            "SharedCostPerHour": shared,
            "CommittedCostPerHour": committed,
        }
        if any(sum(group.cost_by_part) for group in unknown):
            for name in _DIVIDED:
                del micro_usd[name]
        return {name: amount / MICRO for name, amount in micro_usd.items()}

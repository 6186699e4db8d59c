"""
Core time of owners, instances and clusters: allocated, busy and idle, and its cost.

Each idle core of a minute is in exactly one part. *Avoidable* cost ends at most when the instance
stops: all its cores are idle, their owners are fully idle in the whole cluster, and the instance is
not paid for anyway. *Shared* idle cores are on an instance that works, whose owners work elsewhere,
or that is not fully known. *Committed* cost is paid whether the instance runs or not. Cores without
a price are in no amount. All sums are of whole numbers and do not depend on the order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from operator import add
from typing import TYPE_CHECKING, Final

from neuron_accounts.prices import Prices
from neuron_accounts.teams import TeamRules
from neuron_wire.core_members import round_half_even
from neuron_wire.names import UNALLOCATED_OWNER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_accounts.payment import PaidByType

DEFAULT_IDLE_AFTER_MINUTES: Final = 15
"""Minutes without work after which a core is idle, unless a setting has another number."""


@dataclass(frozen=True, slots=True)
class CostRules:
    """
    The settings that decide the cost of a minute and its team.

    Attributes:
        prices: The price of a core.

        idle_after_minutes: Minutes after which a core that is not busy is idle.

        paid_by_type: How instances of a type are paid, if their lines do not report it.

        teams: The team of each owner.
    """

    prices: Prices = field(default_factory=Prices)
    idle_after_minutes: int = DEFAULT_IDLE_AFTER_MINUTES
    paid_by_type: PaidByType = field(default_factory=dict)
    teams: TeamRules = field(default_factory=TeamRules)


class Part(IntEnum):
    """The parts of idle time, by how their cost can be saved."""

    AVOIDABLE_ALLOCATED = 0
    AVOIDABLE_UNALLOCATED = 1
    SHARED = 2
    COMMITTED = 3


def avoidable_part(owner: str) -> Part:
    """Return the part of avoidable idle time of *owner*."""
    is_unallocated = owner == UNALLOCATED_OWNER
    return Part.AVOIDABLE_UNALLOCATED if is_unallocated else Part.AVOIDABLE_ALLOCATED


class Leaf(IntEnum):
    """Kinds of cost that add up to the whole cost; three of them are idle."""

    NOT_IDLE = 0  # part of the known time
    AVOIDABLE = 1
    SHARED = 2
    COMMITTED = 3
    UNKNOWN = 4  # without telemetry


IDLE_LEAVES: Final = slice(Leaf.AVOIDABLE, Leaf.UNKNOWN)


_NO_PARTS: Final = [0] * len(Part)


@dataclass(slots=True)
class CoreTime:
    """
    Core time of an owner, an instance, a cluster or a day, with its price.

    Time is in micro-core-minutes: a minute of a millionth of a core. In sums of minutes, money is
    that time multiplied by a price in `FINE` parts of a dollar per hour. In sums of ledger rows, it
    is in billionths of a dollar.

    Attributes:
        allocated: Busy, idle or reserved time; for `[unallocated]` the time without an owner.

        unknown: The allocated time without telemetry: the whole time for `[unknown]`, otherwise 0.

        busy: The allocated time that was busy.

        used: Utilization of the allocated time.

        unpriced: The allocated time without a price.

        cost: The price of the other allocated time.

        unpriced_idle: Idle time without a price.

        idle_by_part: Idle time by `Part`.

        cost_by_part: The price of idle time by `Part`.

        executions: Executions of its owner that ended or failed, if known.

        priced_executions: Executions of hours in which all allocated time has a price.

        executions_cost: The price of the allocated time in those hours.

        unknown_cost: The price of unknown time, for rows of the ledger; a part of the cost.
    """

    allocated: int = 0
    unknown: int = 0
    busy: int = 0
    used: int = 0
    unpriced: int = 0
    cost: int = 0
    unpriced_idle: int = 0
    idle_by_part: list[int] = field(default_factory=_NO_PARTS.copy)
    cost_by_part: list[int] = field(default_factory=_NO_PARTS.copy)
    executions: int | None = None
    priced_executions: int = 0
    executions_cost: int = 0
    unknown_cost: int = 0

    def fold_allocated(self, micros: int, price: int | None) -> None:
        """Count *micros* of cores; *price* is the price of one core, None if unknown."""
        self.allocated += micros
        if price is None:
            self.unpriced += micros
        else:
            self.cost += price * micros

    def fold_idle(self, part: Part, micros: int, price: int | None) -> None:
        """Count *micros* of idle cores of one *part*."""
        self.idle_by_part[part] += micros
        if price is None:
            self.unpriced_idle += micros
        else:
            self.cost_by_part[part] += price * micros

    def fold_time(self, other: CoreTime) -> None:
        """Count all of *other*, whose money is in the same unit."""
        self.allocated += other.allocated
        self.unknown += other.unknown
        self.busy += other.busy
        self.used += other.used
        self.unpriced += other.unpriced
        self.cost += other.cost
        self.unpriced_idle += other.unpriced_idle
        self.idle_by_part = list(map(add, self.idle_by_part, other.idle_by_part))
        self.cost_by_part = list(map(add, self.cost_by_part, other.cost_by_part))
        self.fold_executions(other.executions)
        self.priced_executions += other.priced_executions
        self.executions_cost += other.executions_cost
        self.unknown_cost += other.unknown_cost

    def fold_executions(self, executions: int | None) -> None:
        """Count *executions*; None adds nothing, and is not 0."""
        if executions is not None:
            self.executions = executions + (self.executions or 0)

    @property
    def known(self) -> int:
        """The allocated time with telemetry."""
        return self.allocated - self.unknown

    @property
    def idle(self) -> int:
        """All idle time."""
        return sum(self.idle_by_part)

    @property
    def avoidable(self) -> int:
        """The avoidable idle time, allocated or not."""
        return sum(self.idle_by_part[: Part.SHARED])

    @property
    def has_idle_price(self) -> bool:
        """True if any idle time has a price, or there is no idle time, which costs 0."""
        return not self.unpriced_idle or self.unpriced_idle < self.idle

    @property
    def idle_cost(self) -> int | None:
        """The price of idle time; None if no idle time has a price."""
        return sum(self.cost_by_part) if self.has_idle_price else None

    @property
    def leaves(self) -> list[int]:
        """The price by `Leaf`, together the cost."""
        allocated, unallocated, *others = self.cost_by_part
        not_idle = self.cost - sum(self.cost_by_part) - self.unknown_cost
        return [not_idle, allocated + unallocated, *others, self.unknown_cost]

    @property
    def million_executions_cost(self) -> int | None:
        """The price of a million executions of priced hours; None without any."""
        if not self.priced_executions:
            return None
        return round_half_even(10**6 * self.executions_cost, self.priced_executions)


@dataclass(slots=True)
class OwnerTime(CoreTime):
    """
    Core time of one owner on several instances.

    Attributes:
        reserved: Idle micro-cores that the owner has reserved and not opened.

        unallocated: Idle micro-cores that no owner holds or has reserved.

        instances: Number of instances with idle cores.

        minutes: Minutes since the longest idle core was busy.

        teams: The first and the last, by name, of the teams that lines report.
    """

    reserved: int = 0
    unallocated: int = 0
    instances: int = 0
    minutes: int = 0
    teams: tuple[str, str] | None = None

    @property
    def team(self) -> str | None:
        """The team that all lines report; None if they report several or none."""
        first, last = self.teams or (None, None)
        return first if first == last else None

    def fold_team(self, team: str) -> None:
        """Count the *team* that a line reports."""
        if self.teams != (team, team):  # usually the same, and min() is slow
            first, last = self.teams or (team, team)
            self.teams = min(first, team), max(last, team)

    def fold_instance(self, micros: int, price: int | None, minutes: int, team: str | None) -> None:
        """
        Count the idle cores of one instance, idle for up to *minutes*.

        Idle cores count as shared, because avoidable ones are known only after all are added.
        """
        self.fold_idle(Part.SHARED, micros, price)
        self.instances += 1
        if minutes > self.minutes:  # noqa: PLR1730  # max() takes thrice as long
            self.minutes = minutes
        if team is not None:
            self.fold_team(team)

    def fold_owner(self, other: OwnerTime) -> None:
        """Count all of *other*, which has other instances."""
        self.fold_time(other)
        self.reserved += other.reserved
        self.unallocated += other.unallocated
        self.instances += other.instances
        self.minutes = max(self.minutes, other.minutes)
        for team in other.teams or ():
            self.fold_team(team)


def time_of(times: Iterable[CoreTime]) -> CoreTime:
    """Return all *times* together."""
    total = CoreTime()
    for time in times:
        total.fold_time(time)
    return total


FINE: Final = 10**15
"""
Parts of a dollar in which the price of a core is rounded, once. Sums of whole numbers do not depend
on their order, and among ten million cores the rounding stays under a millionth of a dollar.
"""


def round_leaves(rows: Sequence[Sequence[int]], unit: int) -> list[tuple[int, ...]]:
    """
    Return *rows* of amounts by leaf in whole units, as people see them.

    The total is rounded first, then its leaves, then each leaf over all rows, always by largest
    remainder: each rounded amount is less than a unit away from the exact amount.
    """
    by_leaf = list(zip(*rows, strict=True))
    totals = round_shares([sum(amounts) for amounts in by_leaf], unit)
    columns = [
        round_shares(amounts, unit, total) for amounts, total in zip(by_leaf, totals, strict=True)
    ]
    return list(zip(*columns, strict=True))


def round_shares(amounts: Sequence[int], unit: int, total: int | None = None) -> list[int]:
    """
    Return *amounts* in multiples of *unit*, so that they add up to *total* or their rounded sum.

    Rounds by largest remainder. Each share is less than a unit away from its exact amount, if
    *total* is less than a unit away from the exact sum.
    """
    if total is None:
        total = round_half_even(sum(amounts), unit)
    shares = [amount // unit for amount in amounts]
    by_remainder = sorted(range(len(amounts)), key=lambda index: (-(amounts[index] % unit), index))
    for index in by_remainder[: total - sum(shares)]:
        shares[index] += 1
    return shares

"""
Who has the idle cores of a cluster, added up over all instances before anything is cut.

A core of several owners is split evenly between them. What nobody holds and nobody
has reserved is `[unallocated]`; what a line or the rows have no room for is
`[others]`. All of it is in whole numbers: together the rows are the idle cores and
what they cost, in whatever order the instances came. Who has idle cores may work on
others: what an owner has in all, how much of that is busy, what it executed, and its
siblings stand beside its idle cores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_wire.core_owners import MICRO, even_shares
from neuron_wire.core_time import CoreTime, Part
from neuron_wire.money import FINE, rounded
from neuron_wire.names import NOT_TOLD_OWNER, OTHER_OWNERS, UNALLOCATED_OWNER
from neuron_wire.now import IdleOwner
from neuron_wire.owner_minutes import OwnerMinutes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from neuron_wire import MinuteRecord

MAX_ROWS: Final = 20
_ALWAYS_ROWS: Final = (UNALLOCATED_OWNER, OTHER_OWNERS)

MAX_OWNERS: Final = 10_000
"""
Owners of one cluster's idle cores that each process adds up apart, in about 5 MB. Beyond them the
half with most cost stays, and the others are counted and go to `[others]`.
"""


@dataclass(slots=True)
class OwnerSum:
    """
    What has been added of one owner.

    Attributes:
        time: Its idle cores and their price; of no part, which owners alone do not decide.

        unheld: Of those, in millionths, what it neither holds nor has reserved.

        instances: On which they are.

        minutes: For how long the longest idle of them has not been busy.

        teams: Of those that were told, the first by name and the last.
    """

    time: CoreTime = field(default_factory=CoreTime)
    unheld: int = 0
    instances: int = 0
    minutes: int = 0
    teams: tuple[str, str] | None = None

    def fold_instance(self, micros: int, price: int | None, minutes: int, team: str | None) -> None:
        """Add what is idle of one instance, for up to so many *minutes*."""
        self.time.fold_idle(Part.SHARED, micros, price)
        self.instances += 1
        if minutes > self.minutes:  # noqa: PLR1730  # max() takes thrice as long
            self.minutes = minutes
        if team is not None:
            first, last = self.teams or (team, team)
            self.teams = min(first, team), max(last, team)

    def fold_sums(self, other: OwnerSum) -> None:
        """Add what was added to *other*."""
        self.time.fold(other.time)
        self.unheld += other.unheld
        self.instances += other.instances
        self.minutes = max(self.minutes, other.minutes)
        if other.teams is not None:
            teams = (*other.teams, *(self.teams or ()))
            self.teams = min(teams), max(teams)


@dataclass(slots=True)
class IdleOwners:
    """
    The owners of a cluster's idle cores.

    Attributes:
        left_out: Sums of owners that went to `[others]` for want of room: what comes
            of such an owner later is counted anew.

        minutes: What the owners did, and those that hold nothing idle.
    """

    left_out: int = 0
    minutes: OwnerMinutes = field(default_factory=OwnerMinutes)
    _sums: dict[str, OwnerSum] = field(default_factory=dict)

    def fold_idle(
        self, record: MinuteRecord, names: Mapping[int, Sequence[str]], teams: Mapping[str, str],
        free: Collection[int], price: int | None,
    ) -> None:  # fmt: skip
        """
        Add the idle cores of an instance, by the *names* of whose each is.

        *free* are those that nobody holds or has reserved; *price* is that of one core, in
        `FINE` parts of a dollar per hour.
        """
        idle_minutes = record.idle_minutes
        micros: dict[str, int] = {}
        longest: dict[str, int] = {}
        for core, owners in names.items():
            for owner, share in zip(owners, even_shares(len(owners)), strict=True):
                micros[owner] = micros.get(owner, 0) + share
                if idle_minutes[core] > longest.get(owner, 0):
                    longest[owner] = idle_minutes[core]
        for owner, theirs in micros.items():
            self._sum(owner).fold_instance(theirs, price, longest.get(owner, 0), teams.get(owner))
        if free:
            nobody = names[next(iter(free))][0]
            self._sum(nobody).unheld += MICRO * len(free)
        self._make_room()

    def fold_sums(self, other: IdleOwners) -> None:
        """Add the instances of *other*."""
        self.left_out += other.left_out
        self.minutes.fold(other.minutes)
        for owner, one in other._sums.items():
            self._include(owner, one)
        self._make_room()

    def sums(self) -> dict[str, OwnerSum] | None:
        """Every owner, most cost first; None where some had no room and are not told apart."""
        if self.left_out or self.minutes.are_too_many:
            return None
        return dict(sorted(self._sums.items(), key=_place))

    def rows(self, instances: int) -> list[IdleOwner]:
        """
        Those with most cost first, then those with most cores: at most 20, all idle cores in them.

        *instances* have idle cores.
        """
        others, rows = OwnerSum(), []
        ranked = self._ranked()
        room = MAX_ROWS - (UNALLOCATED_OWNER in self._sums)
        if OTHER_OWNERS in self._sums or len(ranked) > room:
            room -= 1
            others.fold_sums(self._sums.get(OTHER_OWNERS, OwnerSum()))
            for _, one in ranked[room:]:
                others.fold_sums(one)
            others.instances = min(others.instances, instances)
            others.teams = None  # of many owners, and of no team
            rows.append((OTHER_OWNERS, others))
        rows += ranked[:room]
        if UNALLOCATED_OWNER in self._sums:
            rows.append((UNALLOCATED_OWNER, self._sums[UNALLOCATED_OWNER]))
        rows.sort(key=_place)
        costs = rounded([sum(one.time.cost_by_part) for _, one in rows], FINE)
        return [self._row(owner, one, cost) for (owner, one), cost in zip(rows, costs, strict=True)]

    def _row(self, owner: str, one: OwnerSum, cost: int) -> IdleOwner:
        use = self.minutes.use_of(owner)
        if owner == NOT_TOLD_OWNER and one.unheld:  # of which nobody knows to whom it is given
            held: int | None = one.time.idle - one.unheld
        else:
            held = None if use is None else use.held
        return IdleOwner(
            owner,
            one.time.idle,
            team=one.teams[0] if one.teams and one.teams[0] == one.teams[1] else None,
            held=held,
            busy=None if use is None else use.busy,
            executions=None if use is None else use.executions,
            siblings=use.siblings if use and use.siblings > 1 else None,
            idle_siblings=use.idle_siblings if use and use.siblings > 1 else None,
            instances=one.instances,
            minutes=one.minutes,
            cost=cost if one.time.has_idle_price else None,
            unpriced=one.time.unpriced_idle,
        )

    def _ranked(self) -> list[tuple[str, OwnerSum]]:
        named = [pair for pair in self._sums.items() if pair[0] not in _ALWAYS_ROWS]
        return sorted(named, key=_place)

    def _sum(self, owner: str) -> OwnerSum:
        known = self._sums.get(owner)
        if known is None:
            known = self._sums[owner] = OwnerSum()
        return known

    def _include(self, owner: str, added: OwnerSum) -> None:
        known = self._sums.setdefault(owner, added)
        if known is not added:
            known.fold_sums(added)

    def _make_room(self) -> None:
        if len(self._sums) <= MAX_OWNERS:
            return
        for owner, one in self._ranked()[MAX_OWNERS // 2 :]:
            del self._sums[owner]
            self._include(OTHER_OWNERS, one)
            self.left_out += 1


def _place(pair: tuple[str, OwnerSum]) -> tuple[int, int, str]:
    owner, one = pair
    return -sum(one.time.cost_by_part), -one.time.idle, owner

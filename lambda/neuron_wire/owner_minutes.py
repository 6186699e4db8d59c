"""
What the owners of a cluster did in a minute, on all of its instances.

As far as its lines tell it: an execution is an owner's where a holder of its name says so, or
where nobody else holds a core of the instance. What a line does not tell is not idle.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from neuron_wire.core_owners import MICRO, cores_by_owner, even_shares, owner_name
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_MS, MINUTE_S, UNKNOWN
from neuron_wire.owners import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from neuron_wire import MinuteRecord

MAX_OWNERS: Final = 100_000
"""Owners of one cluster whose cores each process adds up, in about 30 MB; beyond, of nobody."""


@dataclass(slots=True)
class OwnerMinute:
    """
    What one owner did.

    Attributes:
        held: Known cores that it held, in millionths; of a core of several an even share.

        busy: Those of them that were busy.

        idle_minutes: For how long its least idle core has not been busy; 0 where one is unknown.

        executed: The last minute in which it is known to have executed; 0 where none is.
    """

    held: int
    busy: int
    idle_minutes: int
    executed: int

    def include(self, other: OwnerMinute) -> None:
        """Add what it did on other instances."""
        self.held += other.held
        self.busy += other.busy
        self.idle_minutes = min(self.idle_minutes, other.idle_minutes)
        self.executed = max(self.executed, other.executed)

    def wholly_idle_minutes(self, minute: int) -> int:
        """For how long, in *minute*, no core was busy and no execution known."""
        return min(self.idle_minutes, minute - self.executed)

    def worked(self, minute: int) -> bool:
        """Whether it is known to have worked in *minute*."""
        return self.busy > 0 or self.executed >= minute


@dataclass(slots=True)
class OwnerMinutes:
    """
    The owners of one cluster.

    Attributes:
        by_owner: What each did, by name.

        are_more: A line leaves out owners, or whose a busy core is.

        are_too_many: To add them up; then none is known.
    """

    by_owner: dict[str, OwnerMinute] = field(default_factory=dict)
    are_more: bool = False
    are_too_many: bool = False

    def add(self, record: MinuteRecord) -> None:
        """Add an instance by its merged record."""
        state = record.core_state
        cores_of = cores_by_owner(record)
        executed = _executed_by(record, cores_of)
        minutes: dict[str, OwnerMinute] = {}
        for name, cores in cores_of.items():
            letters = state if len(cores) == len(state) else [state[core] for core in cores]
            busy, attached_idle = letters.count(BUSY), letters.count(ATTACHED_IDLE)
            idle_minutes = 0
            if attached_idle and not busy and UNKNOWN not in letters:
                idle_minutes = min([record.idle_minutes[core] for core in cores])
            minutes[name] = OwnerMinute(
                MICRO * (busy + attached_idle), MICRO * busy, idle_minutes, executed.get(name, 0)
            )
        if len(minutes) > 1:
            _split_shared_cores(minutes, cores_of, state)
        hides = record.owners_more or (not record.owners and record.holders_more)
        told_busy = sum([one.busy for one in minutes.values()])
        if hides or told_busy < MICRO * state.count(BUSY):
            self.are_more = True
        self._include(minutes)

    def include(self, other: OwnerMinutes) -> None:
        """Add those of other instances."""
        self.are_more |= other.are_more
        self.are_too_many |= other.are_too_many
        self._include(other.by_owner)

    def _include(self, minutes: Mapping[str, OwnerMinute]) -> None:
        for name, minute in minutes.items():
            known = self.by_owner.setdefault(name, minute)
            if known is not minute:
                known.include(minute)
        self.are_too_many |= len(self.by_owner) > MAX_OWNERS
        if self.are_too_many:  # whoever comes later would seem to hold less
            self.by_owner.clear()

    def use_of(self, owner: str) -> OwnerMinute | None:
        """
        What *owner* holds in all; None where it is not one, or not all is told.

        That it is busy is told whatever is not. Some that are unnamed may work, and others not.
        """
        minute = self.by_owner.get(owner)
        if minute is None or not minute.held or owner == UNNAMED:
            return None
        return minute if minute.busy or not self.are_more else None


def _split_shared_cores(
    minutes: Mapping[str, OwnerMinute], cores_of: Mapping[str, Sequence[int]], state: str
) -> None:
    """Leave of a core of several to each its share; every one of them has the whole of it."""
    if len({*chain.from_iterable(cores_of.values())}) == sum(map(len, cores_of.values())):
        return
    owners_of: dict[int, list[str]] = defaultdict(list)
    for name, cores in sorted(cores_of.items()):
        for core in cores:
            owners_of[core].append(name)
    for core, owners in owners_of.items():
        for name, share in zip(owners, even_shares(len(owners)), strict=True):
            if state[core] in (ATTACHED_IDLE, BUSY):
                minutes[name].held -= MICRO - share
            if state[core] == BUSY:
                minutes[name].busy -= MICRO - share


def _executed_by(record: MinuteRecord, owners: Collection[str]) -> dict[str, int]:
    """The last minute in which each owner of an instance is known to have executed."""
    if record.has_executions and len(owners) == 1:
        return dict.fromkeys(owners, record.minute_ms // MINUTE_MS)
    executed: dict[str, int] = {}
    for one in record.holders:
        name = owner_name(one.name)
        executed[name] = max(executed.get(name, 0), _executed_in(one.last_execution))
    return executed


def last_executed(record: MinuteRecord) -> int:
    """The last minute in which an instance is known to have executed; 0 where none is."""
    if record.has_executions:
        return record.minute_ms // MINUTE_MS
    return max([_executed_in(one.last_execution) for one in record.holders], default=0)


@lru_cache(4096)
def _executed_in(last_execution: str | None) -> int:
    """The minute that a holder's *last_execution* names; 0 where it names none."""
    try:
        return int(datetime.fromisoformat(last_execution or "").timestamp() // MINUTE_S)
    except ValueError:
        return 0

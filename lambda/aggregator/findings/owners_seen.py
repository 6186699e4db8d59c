"""
What the owners of a cluster did in a minute, on all of its instances.

As far as its lines tell it: an execution is an owner's where a holder of its name says so, or
where nobody else holds a core of the instance. What a line does not tell is not idle.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from aggregator.minutes import minute_at, minute_at_ms
from aggregator.rollups.owners import MAX_OWNERS
from neuron_wire.core_owners import MICRO
from neuron_wire.errors import WireFormatError
from neuron_wire.holders import core_indexes
from neuron_wire.names import BUSY, NOBODY, UNKNOWN
from neuron_wire.owners import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_wire import MinuteRecord


@dataclass(slots=True)
class OwnerMinute:
    """
    What one owner did.

    Attributes:
        held: Cores that it held, in millionths; of a core of several an even share.

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
class OwnersSeen:
    """
    The owners of one cluster.

    Attributes:
        owners: By name.

        are_more: A line leaves out owners, or whose a busy core is.
    """

    owners: dict[str, OwnerMinute] = field(default_factory=dict)
    are_more: bool = False

    def see(self, record: MinuteRecord) -> None:
        """An instance was there, and this is its merged record."""
        state = record.core_state
        are_told = record.owners or record.owners_more
        cores_of: dict[str, Sequence[int]] = {}
        for one in record.owners if are_told else record.holders:
            name, cores = _name(one.name), _indexes(one.cores, len(state))
            cores_of[name] = cores if name not in cores_of else [*{*cores_of[name], *cores}]
        executed = {_name(one.name): _executed_in(one.last_execution) for one in record.holders}
        if record.has_executions and len(cores_of) == 1:
            executed = dict.fromkeys(cores_of, last_executed(record))
        ways = Counter(chain.from_iterable(cores_of.values())) if len(cores_of) > 1 else {}
        is_shared = len(ways) < sum(ways.values())
        told_busy = 0
        for name, cores in cores_of.items():
            letters = state if len(cores) == len(state) else [state[core] for core in cores]
            held, busy = MICRO * len(cores), MICRO * letters.count(BUSY)
            if is_shared:
                held = sum([MICRO // ways[core] for core in cores])
                busy = sum([MICRO // ways[core] for core in cores if state[core] == BUSY])
            told_busy += busy
            idle_minutes = 0
            if cores and not busy and UNKNOWN not in letters:
                idle_minutes = min([record.idle_minutes[core] for core in cores])
            self._add(name, OwnerMinute(held, busy, idle_minutes, executed.get(name, 0)))
        hides = record.owners_more if are_told else record.holders_more
        if hides or round(told_busy / MICRO) < state.count(BUSY):
            self.are_more = True

    def include(self, other: OwnersSeen) -> None:
        """Add those of other instances."""
        self.are_more |= other.are_more
        for name, did in other.owners.items():
            self._add(name, did)

    def _add(self, name: str, did: OwnerMinute) -> None:
        known = self.owners.get(name)
        if known is not None:
            known.include(did)
        elif len(self.owners) < MAX_OWNERS:
            self.owners[name] = did
        else:
            self.are_more = True


def last_executed(record: MinuteRecord) -> int:
    """The last minute in which an instance is known to have executed; 0 where none is."""
    if record.has_executions:
        return minute_at_ms(record.minute_ms)
    return max([_executed_in(one.last_execution) for one in record.holders], default=0)


@lru_cache(1024)
def _executed_in(last_execution: str | None) -> int:
    """The minute that a holder's *last_execution* names; 0 where it names none."""
    try:
        return minute_at(datetime.fromisoformat(last_execution or "").timestamp())
    except ValueError:
        return 0


def _name(name: str | None) -> str:
    return name if name and name not in NOBODY else UNNAMED


def _indexes(ranges: str, width: int) -> Sequence[int]:
    try:
        cores = core_indexes(ranges)
    except WireFormatError:  # nobody can tell which cores a holder has
        return ()
    return cores if not cores or cores[-1] < width else [core for core in cores if core < width]

"""The minute that was closed last, and the emitter itself, under our own names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.health.members import DROP_MEMBERS
from emitter.prometheus.families import (
    CORE_STATE,
    CORES,
    COVERED,
    HEALTH,
    HOLDER,
    IDLE_FOR,
    MINUTE_AT,
    RECORDS_DROPPED,
    Sample,
)
from neuron_wire.holders import printable
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_S, UNATTACHED, UNKNOWN
from neuron_wire.owners import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.fold.held_cores import Holdings
    from neuron_wire.minute import MinuteRecord

STATES: Final = {
    BUSY: "busy",
    ATTACHED_IDLE: "attached_idle",
    UNATTACHED: "unattached",
    UNKNOWN: "unknown",
}
MAX_OWNERS: Final = 4  # of one core


@dataclass(frozen=True, slots=True)
class ClosedMinute:
    """A minute as the line says it, and who held which core in it."""

    record: MinuteRecord
    holdings: Holdings


def minute_samples(minute: ClosedMinute) -> Iterable[Sample]:
    """States, idle minutes and holders of the cores, coverage, and the emitter's health."""
    record = minute.record
    for core, state in enumerate(record.core_state):
        for letter, name in STATES.items():
            yield Sample(CORE_STATE, (str(core), name), int(letter == state))
        if state != UNKNOWN:
            yield Sample(IDLE_FOR, (str(core),), MINUTE_S * record.idle_minutes[core])
    for core, owners in sorted(owners_by_core(minute.holdings).items()):
        for owner in owners:
            yield Sample(HOLDER, (str(core), owner), 1)
    if record.core_state:
        for letter, name in STATES.items():
            yield Sample(CORES, (name,), record.core_state.count(letter))
    yield Sample(COVERED, (), record.covered_seconds)
    yield Sample(MINUTE_AT, (), record.minute_ms / 1000)
    yield from _health(record.health)


def owners_by_core(holdings: Holdings) -> dict[int, list[str]]:
    """At most `MAX_OWNERS` names for each core that is held, each once, in their order."""
    owners: dict[int, set[str]] = {}
    for key, cores in holdings.cores.items():
        name = printable(holdings.owners[key].name) or UNNAMED
        for core in cores:
            owners.setdefault(core, set()).add(name)
    return {core: sorted(names)[:MAX_OWNERS] for core, names in owners.items()}


def _health(members: Mapping[str, int | float]) -> Iterable[Sample]:
    for member, family in HEALTH.items():
        if member in members:
            yield Sample(family, (), members[member])
    if "RecordsDropped" in members:
        for reason, member in DROP_MEMBERS.items():
            yield Sample(RECORDS_DROPPED, (reason,), members.get(member, 0))

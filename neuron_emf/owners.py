"""
Whose the cores of an instance are: the owners of a minute line, and what stands beside names.

A core that several hold is split evenly between them, in whole millionths, so that the
owners' sums are the whole to the last digit. A line of an older emitter names only who
holds its attached-idle cores.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.errors import WireFormatError
from neuron_wire.holders import core_indexes
from neuron_wire.names import OTHER_OWNERS, UNALLOCATED_OWNER, UNATTACHED
from neuron_wire.owners import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neuron_wire import MinuteRecord
    from neuron_wire.teams import TeamRules

MICROS: Final = 1_000_000
"""Millionths of a core, the least that an owner has of one."""

NOT_TOLD: Final = "[not told]"
"""Of a held core of which the line of an older emitter names no holder."""

UNKNOWN_OWNER: Final = "[unknown]"
"""Of cores without telemetry: nobody knows who held them, or whether they were idle."""

NO_TEAM: Final = "[no team]"
"""For people: of an owner of whom nobody says it, and of what nobody holds."""


class CoreOwner(NamedTuple):
    """
    Who holds a core.

    Attributes:
        name: Such as `namespace/pod/container`, other people's text; in brackets
            what is no name.

        team: Whose that is, None where nobody says.
    """

    name: str
    team: str | None = None


UNALLOCATED: Final = CoreOwner(UNALLOCATED_OWNER)

Holding = dict[int, list[tuple[CoreOwner, int]]]
"""By core, its owners and the millionths of it that each has; together a whole core."""


def owners_of(record: MinuteRecord, cores: Iterable[int], teams: TeamRules) -> Holding:
    """The owners of each of the known *cores* of a merged *record*."""
    named: dict[int, set[CoreOwner]] = defaultdict(set)
    for name, told, ranges in _claims(record):
        owner = CoreOwner(name, teams.team_of(record.cluster, name, told))
        for core in _indexes(ranges):
            named[core].add(owner)
    others = set(_indexes(record.owners_more))
    leaves_out = bool(record.holders_more) and not _tells_owners(record)
    holding: Holding = {}
    for core in cores:
        if record.core_state[core] == UNATTACHED:
            word = UNALLOCATED_OWNER
        elif core in named:
            holding[core] = list(_split(sorted(named[core], key=_place)))
            continue
        else:
            word = OTHER_OWNERS if core in others or leaves_out else NOT_TOLD
        holding[core] = [(CoreOwner(word, teams.team_of(record.cluster, word)), MICROS)]
    return holding


def _tells_owners(record: MinuteRecord) -> bool:
    return bool(record.owners or record.owners_more)


def _claims(record: MinuteRecord) -> Iterator[tuple[str, str | None, str]]:
    if _tells_owners(record):
        for owner in record.owners:
            yield owner.name, owner.team, owner.cores
        return
    for holder in record.holders:
        yield holder.name or UNNAMED, holder.team, holder.cores


def _indexes(ranges: str) -> tuple[int, ...]:
    try:
        return core_indexes(ranges)
    except WireFormatError:
        return ()  # nobody can tell its cores


def _place(owner: CoreOwner) -> tuple[str, str]:
    return owner.name, owner.team or ""


def _split(owners: list[CoreOwner]) -> Iterator[tuple[CoreOwner, int]]:
    whole, rest = divmod(MICROS, len(owners))
    for number, owner in enumerate(owners):
        yield owner, whole + (number < rest)

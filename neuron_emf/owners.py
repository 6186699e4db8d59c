"""Whose the cores of an instance are for people: names and teams, and what stands beside names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.core_owners import MICRO, core_owners, even_shares
from neuron_wire.names import UNALLOCATED_OWNER, UNATTACHED

if TYPE_CHECKING:
    from collections.abc import Collection

    from neuron_wire import MinuteRecord
    from neuron_wire.teams import TeamRules

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


def owners_of(record: MinuteRecord, cores: Collection[int], teams: TeamRules) -> Holding:
    """The owners of each of the known *cores* of a merged *record*."""
    held = [core for core in cores if record.core_state[core] != UNATTACHED]
    names, told = core_owners(record, held)
    owners = {
        name: CoreOwner(name, teams.team_of(record.cluster, name, told.get(name)))
        for name in {UNALLOCATED_OWNER}.union(*names.values())
    }
    holding: Holding = {core: [(owners[UNALLOCATED_OWNER], MICRO)] for core in cores}
    for core, theirs in names.items():
        shares = zip(theirs, even_shares(len(theirs)), strict=True)
        holding[core] = [(owners[name], share) for name, share in shares]
    return holding

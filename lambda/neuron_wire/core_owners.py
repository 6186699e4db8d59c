"""
Whose each core of an instance is in a minute, and how much of it where several hold it.

The member Owners says it of every held core. Lines of older emitters have none,
and name in Holders who holds their attached-idle cores. An owner that calls itself
`[others]` or the like is `[unnamed]`: in rows that stand for nobody no line puts a name.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.errors import WireFormatError
from neuron_wire.holders import core_indexes
from neuron_wire.names import ATTACHED_IDLE, NOBODY, NOT_TOLD_OWNER, OTHER_OWNERS
from neuron_wire.owners import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from neuron_wire import MinuteRecord

MICRO: Final = 1_000_000
"""Millionths of a core: an owner has no less of one."""


class CoreOwners(NamedTuple):
    """
    Who holds some cores of one instance.

    Attributes:
        names: By core its owners, ascending; at least one, which may be `[others]`
            or `[not told]`.

        teams: By owner the team that its scheduler knows, where it does.
    """

    names: dict[int, list[str]]
    teams: dict[str, str]


def core_owners(record: MinuteRecord, held: Collection[int]) -> CoreOwners:
    """
    Who holds the cores *held* of a merged *record*: some of those that are busy or attached idle.

    A line of an older emitter says it of attached-idle cores alone.
    """
    names: dict[int, list[str]] = {core: [] for core in held}
    teams: dict[str, str] = {}
    told = record.owners or record.owners_more
    for one in record.owners if told else record.holders:
        name = one.name if one.name and one.name not in NOBODY else UNNAMED
        for core in _indexes(one.cores):
            if core in names and name not in names[core]:
                names[core].append(name)
        if one.team:
            teams.setdefault(name, one.team)
    left_out = _indexes(record.owners_more)
    for core, owners in names.items():
        if not owners:
            is_idle_holders = record.holders_more and record.core_state[core] == ATTACHED_IDLE
            is_left_out = core in left_out if told else is_idle_holders
            owners.append(OTHER_OWNERS if is_left_out else NOT_TOLD_OWNER)
        else:
            owners.sort()
    return CoreOwners(names, teams)


def _indexes(ranges: str) -> Sequence[int]:
    try:
        return core_indexes(ranges)
    except WireFormatError:  # of a holder: nobody can tell which cores it holds
        return ()


@lru_cache(4096)
def even_shares(ways: int, micro: int = MICRO) -> tuple[int, ...]:
    """A core, or *micro* of it, between so many owners; the first have what is left over."""
    share, rest = divmod(micro, ways)
    return tuple(share + (number < rest) for number in range(ways))

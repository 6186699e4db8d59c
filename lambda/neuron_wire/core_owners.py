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
    from neuron_wire.holders import Holder
    from neuron_wire.owners import Owner

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
    for name, cores in sorted(cores_by_owner(record).items()):
        for core in cores:
            if core in names:
                names[core].append(name)
    teams: dict[str, str] = {}
    for one in _named(record):
        if one.team:
            teams.setdefault(owner_name(one.name), one.team)
    left_out = core_indexes(record.owners_more)
    for core, owners in names.items():
        if not owners:
            is_idle_holders = record.holders_more and record.core_state[core] == ATTACHED_IDLE
            is_left_out = core in left_out if _is_told(record) else is_idle_holders
            owners.append(OTHER_OWNERS if is_left_out else NOT_TOLD_OWNER)
    return CoreOwners(names, teams)


def cores_by_owner(record: MinuteRecord) -> dict[str, Sequence[int]]:
    """The cores of a merged *record* by the owners that it names; some may have several."""
    by_owner: dict[str, Sequence[int]] = {}
    width = len(record.core_state)
    for one in _named(record):
        name = owner_name(one.name)
        try:
            cores: Sequence[int] = core_indexes(one.cores)
        except WireFormatError:  # of a holder: nobody can tell which cores it holds
            cores = ()
        if cores and cores[-1] >= width:
            cores = [core for core in cores if core < width]
        by_owner[name] = [*{*by_owner[name], *cores}] if name in by_owner else cores
    return by_owner


def owner_name(name: str | None) -> str:
    """A *name* that a line gives, where it is one."""
    return name if name and name not in NOBODY else UNNAMED


def _is_told(record: MinuteRecord) -> bool:
    return bool(record.owners or record.owners_more)


def _named(record: MinuteRecord) -> Sequence[Owner | Holder]:
    return record.owners if _is_told(record) else record.holders


@lru_cache(4096)
def even_shares(ways: int, micro: int = MICRO) -> tuple[int, ...]:
    """A core, or *micro* of it, between so many owners; the first have what is left over."""
    share, rest = divmod(micro, ways)
    return tuple(share + (number < rest) for number in range(ways))

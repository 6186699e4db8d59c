"""
Whose each core of an instance is in a minute, and how much of it where several have it.

The member Owners says it of every held or reserved core. Lines of older emitters have none,
and name in Holders who holds their attached-idle cores. An owner that calls itself
`[others]` or the like is `[unnamed]`: in rows that stand for nobody no line puts a name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.errors import WireFormatError
from neuron_wire.holders import core_indexes
from neuron_wire.names import (
    ATTACHED_IDLE,
    NOBODY,
    NOT_TOLD_OWNER,
    OTHER_OWNERS,
    UNALLOCATED_OWNER,
    UNATTACHED,
    UNREAD,
)
from neuron_wire.owners import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from neuron_wire import MinuteRecord

MICRO: Final = 1_000_000
"""Millionths of a core: an owner has no less of one."""

_RANDOM: Final = "[bcdfghjklmnpqrstvwxz2456789]"  # of which Kubernetes makes the ends of names
_POD_ENDS: Final = re.compile(rf"-(?:[0-9]{{1,5}}|{_RANDOM}{{5}}|{_RANDOM}{{6,10}})$")
_ECS: Final = "ecs:"


class CoreOwners(NamedTuple):
    """
    Who has some cores of one instance.

    Attributes:
        names: By core its owners, ascending; at least one, which may be `[others]`,
            `[not told]` or `[unallocated]`.

        teams: By owner the team that its scheduler knows, where it does.
    """

    names: dict[int, list[str]]
    teams: dict[str, str]


def core_owners(
    record: MinuteRecord, cores: Collection[int], cores_of: Mapping[str, Sequence[int]]
) -> CoreOwners:
    """
    Who has each of the known *cores* of a merged *record*: holds it, or has it reserved.

    *cores_of* is `cores_by_owner` of it. A line of an older emitter says it of attached-idle
    cores alone.
    """
    names: dict[int, list[str]] = {core: [] for core in cores}
    for name, theirs in sorted(cores_of.items()):
        for core in theirs:
            if core in names:
                names[core].append(name)
    teams: dict[str, str] = {}
    is_told = bool(record.owners or record.owners_more)
    for one in record.owners if is_told else record.holders:
        if one.team:
            teams.setdefault(owner_name(one.name), one.team)
    left_out = core_indexes(record.owners_more)
    for core, owners in names.items():
        if owners:
            continue
        letter = record.core_state[core]
        if core in left_out:
            owners.append(OTHER_OWNERS)
        elif letter == UNATTACHED:
            owners.append(NOT_TOLD_OWNER if record.given == UNREAD else UNALLOCATED_OWNER)
        else:
            is_others = not is_told and record.holders_more and letter == ATTACHED_IDLE
            owners.append(OTHER_OWNERS if is_others else NOT_TOLD_OWNER)
    return CoreOwners(names, teams)


def cores_by_owner(record: MinuteRecord) -> dict[str, Sequence[int]]:
    """
    The cores of a merged *record* by the owners that it names; some may have several.

    What is unattached nobody holds: whoever names it can only have it reserved.
    """
    found: dict[str, Sequence[int]] = {}
    state, width = record.core_state, len(record.core_state)
    is_free = UNATTACHED in state
    for one in record.owners or (() if record.owners_more else record.holders):
        try:
            cores: Sequence[int] = core_indexes(one.cores)
        except WireFormatError:  # of a holder: nobody can tell which cores it holds
            found.setdefault(owner_name(one.name), ())
            continue
        if cores and (is_free or cores[-1] >= width):
            cores = [core for core in cores if core < width and state[core] != UNATTACHED]
        if cores:
            _append(found, one.name, cores)
    for owner in record.owners if is_free else ():
        reserved = [core for core in core_indexes(owner.reserved) if state[core] == UNATTACHED]
        if reserved:
            _append(found, owner.name, reserved)
    return found


def _append(found: dict[str, Sequence[int]], full_name: str | None, cores: Sequence[int]) -> None:
    name = owner_name(full_name)
    found[name] = [*dict.fromkeys((*found[name], *cores))] if name in found else cores


def owner_name(name: str | None) -> str:
    """A *name* that a line gives, where it is one."""
    return name if name and name not in NOBODY else UNNAMED


@lru_cache(16_384)
def stem_of(owner: str) -> str:
    """
    What siblings share, owners that may be one job; nobody else shares it.

    Of a pod its namespace and its name without the ends `-3`, `-x7k2p` or `-7d9f8c6b5-x7k2p`
    that Kubernetes gives; of an ECS task its service. All others are their own stem.
    """
    if owner.startswith(_ECS):
        return owner.partition("/")[0] if owner.count("/") > 1 else owner
    namespace, slash, rest = owner.partition("/")
    if not slash or ":" in namespace:
        return owner
    pod = rest.partition("/")[0]
    while end := _POD_ENDS.search(pod):
        if end.start() == 0:
            break
        pod = pod[: end.start()]
    return f"{namespace}/{pod}/"


@lru_cache(4096)
def even_shares(ways: int, micro: int = MICRO) -> tuple[int, ...]:
    """A core, or *micro* of it, between so many owners; the first have what is left over."""
    share, rest = divmod(micro, ways)
    return tuple(share + (number < rest) for number in range(ways))

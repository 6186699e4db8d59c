"""
The maximum length of a minute line, and the members that move to a second line if it is full.

AWS bills by the byte, so the length of a line is promised. An ordinary minute always fits. In a
minute with many kinds of failures, the members that a line has only above 0 move to a line of Kind
`more`: nothing is lost, and the minute line stays as short as promised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_wire.catalogue import ECC_MEMBERS, EXECUTION_MEMBERS, HEALTH_MEMBERS
from neuron_wire.line import encode

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from neuron_wire.line_members import JsonObject, Members

_BOUNDS: Final = ((32, 2_400), (64, 2_700), (128, 3_600))  # cores, bytes
_BYTES_PER_FURTHER_CORE: Final = 14

METADATA_BYTES: Final = 488
"""
Bytes of `_aws` in a line with the eight metrics at `--metrics instance`. Further metrics of that
tier, which `--metric` requests, come on top.
"""

INSTANCE_NAME_MEMBER: Final = "InstanceName"
SHORT_NAME_CHARS: Final = 24
"""The longest instance name for which an ordinary minute always has room."""

_SHORT_LIFECYCLE_CHARS: Final = len("on-demand")
SHORT_IDLE_MINUTES: Final = 999
"""
Idle minutes with three digits: half a day has more.

A fourth digit for each of 128 cores takes 128 bytes.
"""

_UNBOUNDED: Final = frozenset({"Holders", "HoldersMore", "Owners", "OwnersMore"})
_ASIDE: Final = (
    frozenset(
        {
            INSTANCE_NAME_MEMBER,
            "NeuronDeviceVersion",
            "NeuronCoreVersion",
            "LogicalNeuronCoreConfig",
            "AssignedUnverifiedCores",
        }
    ),
    *(
        frozenset(member.name for member in members if member.is_rare)
        for members in (EXECUTION_MEMBERS, (*HEALTH_MEMBERS, *ECC_MEMBERS))
    ),
)
"""
The members that move first: the instance's name and versions, which rarely change; then failures by
type, which runtime lines also have; then the other rare members.
"""

_NEEDS_MEASURING: Final = frozenset({"Paid", "UnknownReason"})
"""Members for which an ordinary line may have no room."""

_RARE: Final = frozenset[str]().union(*_ASIDE[1:])


def max_minute_bytes(cores: int) -> int:
    """Return the most bytes of a minute line of *cores* cores, without runtimes and tags."""
    for most, bound in _BOUNDS:
        if cores <= most:
            return bound
    most, bound = _BOUNDS[-1]
    return bound + (cores - most) * _BYTES_PER_FURTHER_CORE


def split_minute(
    members: JsonObject, chosen: AbstractSet[str] = frozenset()
) -> tuple[Members, Members]:
    """
    Split the *members* of a minute line in two.

    Without a rare member or a long text, an ordinary line is as short as promised. Members that the
    operator has *chosen* as metrics come on top, and stay in the line that defines them.

    Returns:
        The members of the minute line, and the members that need a line of their own, usually none.

    Raises:
        WireFormatError: If a line that is not ordinary has a number that is not finite.
    """
    if _is_ordinary(members) and (_RARE - chosen).isdisjoint(members):
        return dict(members), {}
    cores = members.get("NeuronCores")
    room = (
        max_minute_bytes(cores if isinstance(cores, int) else 0) - METADATA_BYTES - len('"_aws":,')
    )
    kept = dict(members)
    aside: Members = {}
    unbounded = _UNBOUNDED | (_RARE & chosen)
    for names in _ASIDE:
        bounded = {name: value for name, value in kept.items() if name not in unbounded}
        if len(encode(bounded).encode("utf-8", "surrogatepass")) <= room:
            break
        aside |= {name: kept.pop(name) for name in members if name in names - chosen}
    return kept, aside


def _is_ordinary(members: JsonObject) -> bool:
    """Return True if the long members need no more bytes than an ordinary line has room for."""
    name = members.get(INSTANCE_NAME_MEMBER)
    lifecycle = members.get("Lifecycle")
    idle = members.get("CoreIdleMinutes")
    return (
        _NEEDS_MEASURING.isdisjoint(members)
        and (not isinstance(name, str) or len(name) <= SHORT_NAME_CHARS)
        and (not isinstance(lifecycle, str) or len(lifecycle) <= _SHORT_LIFECYCLE_CHARS)
        and (not isinstance(idle, list) or max(idle, default=0) <= SHORT_IDLE_MINUTES)
    )

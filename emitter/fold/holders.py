"""Who holds the cores that are attached idle, the most idle first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_wire.holders import MAX_HOLDERS, Holder, core_ranges
from neuron_wire.names import ATTACHED_IDLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.fold.held import RuntimeKey


def idle_holders(
    held: Mapping[RuntimeKey, set[int]],
    owners: Mapping[RuntimeKey, str | None],
    states: str,
    idle_minutes: Sequence[int],
) -> tuple[tuple[Holder, ...], int]:
    """
    Name those who hold attached-idle cores.

    Ordered by the longest idle of their idle cores, then by how many these
    are, then by pid.

    Returns:
        At most `MAX_HOLDERS` of them, and how many more there are.
    """
    idle = {core for core, state in enumerate(states) if state == ATTACHED_IDLE}
    if not idle:
        return (), 0
    found = []
    for key, cores in held.items():
        if theirs := cores & idle:
            longest = max(idle_minutes[core] for core in theirs)
            pid, tag = key
            found.append(((-longest, -len(theirs), pid or 0, tag or ""), key, theirs))
    found.sort(key=lambda one: one[0])
    named = tuple(
        Holder(cores=core_ranges(theirs), name=owners.get(key), pid=key[0], tag=key[1])
        for _, key, theirs in found[:MAX_HOLDERS]
    )
    return named, len(found) - len(named)

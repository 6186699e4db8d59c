"""
Runtimes that may hang, written and read: facts of the emitter, to which the stack applies limits.

A line has them only where something stalls. A reader is as lenient as with holders:
what it cannot read is left out, because a minute is worth more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from neuron_wire.holders import Holder, holder_members, is_count, read_holder

MAX_STALLS: Final = 8
"""Stalls that one line names."""

COLLECTIVES: Final = "collectives"
"""The kernel logged that its device hangs on a collective."""

TIMEOUTS: Final = "timeouts"
"""Executions timed out."""

BUSY: Final = "busy"
"""Its cores are at work all the time, and executions ended in each minute before."""

CAUSES: Final = (COLLECTIVES, TIMEOUTS, BUSY)


@dataclass(frozen=True, slots=True)
class Stall(Holder):
    """
    One runtime that has ended no execution since something happened.

    Attributes:
        cause: What happened: one of `CAUSES`; a reader leaves out what has another.

        minutes: Known minutes since, in none of which an execution ended.
    """

    cause: str = ""
    minutes: int = 0


def stall_members(stalls: Iterable[Stall]) -> list[dict[str, object]]:
    """The objects of the member Stalls; absent values have no member."""
    return [
        {**members, "Minutes": stall.minutes, "Cause": stall.cause}
        for stall in stalls
        for members in holder_members([stall])
    ]


def read_stalls(line: Mapping[str, object]) -> tuple[Stall, ...]:
    """The stalls of a line; one that nothing stalls in, or of an older emitter, has none."""
    given = line.get("Stalls")
    if not isinstance(given, list):
        return ()
    return tuple(one for one in map(_stall, given[:MAX_STALLS]) if one is not None)


def _stall(value: object) -> Stall | None:
    holder = read_holder(value)
    if holder is None or not isinstance(value, Mapping):
        return None
    cause, minutes = value.get("Cause"), value.get("Minutes")
    if cause not in CAUSES or not is_count(minutes):
        return None
    known = {field.name: getattr(holder, field.name) for field in fields(holder)}
    return Stall(**known, cause=cause, minutes=minutes)

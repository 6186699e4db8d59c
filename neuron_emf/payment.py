"""
What becomes of the money of an idle core: avoidable, shared or sunk.

Each idle core of a minute is exactly one of them. *Avoidable* ends, at most, when the
instance stops: all its cores are idle, no execution of the minute is known, and it is not
paid for anyway. *Shared* are idle cores of any other instance that does work, or of which
not all is known. *Sunk* is what is paid whether the instance runs or not.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from neuron_wire.names import ATTACHED_IDLE
from neuron_wire.payment import is_sunk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_wire import MinuteRecord


class Saving(Enum):
    """What it takes to save the money of an idle core; the parts of every amount, in order."""

    HELD = "avoidable, held"
    UNHELD = "avoidable, unheld"
    SHARED = "shared"
    SUNK = "sunk"

    __hash__ = object.__hash__  # a key of every sum of a report; Enum's own is Python


AVOIDABLE: Final = frozenset({Saving.HELD, Saving.UNHELD})


def savings(
    record: MinuteRecord, idle: Sequence[int], by_type: Mapping[str, str]
) -> dict[int, Saving]:
    """What each of the *idle* cores of a merged *record* is."""
    if is_sunk(record, by_type):
        return dict.fromkeys(idle, Saving.SUNK)
    if len(idle) < len(record.core_state) or record.has_executions:
        return dict.fromkeys(idle, Saving.SHARED)
    return {
        core: Saving.HELD if record.core_state[core] == ATTACHED_IDLE else Saving.UNHELD
        for core in idle
    }

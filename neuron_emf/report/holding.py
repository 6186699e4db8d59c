"""
Who holds an idle core: the owner of its idle time.

A core has one owner in a minute, so that the owners' sums are the whole: of
several runtimes on one core the first that the line names, which is the one
that has been idle for longest.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire import WireFormatError
from neuron_wire.holders import core_indexes
from neuron_wire.names import UNATTACHED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_wire import MinuteRecord
    from neuron_wire.holders import Holder


class Kind(Enum):
    """How much is known of an owner."""

    NAMED = "named"
    TAG = "tag"
    PROCESS = "process"
    NOT_TOLD = "not told"
    NOBODY = "nobody"


class Owner(NamedTuple):
    """
    Whose an idle core is.

    Attributes:
        kind: How much is known.

        name: Name of a holder such as `namespace/pod`, or tag of a runtime
            without a name; empty otherwise. Other people's text.
    """

    kind: Kind
    name: str = ""


NOBODY: Final = Owner(Kind.NOBODY)
NOT_TOLD: Final = Owner(Kind.NOT_TOLD)


def owners(record: MinuteRecord, idle: Iterable[int]) -> dict[int, Owner]:
    """The owner of each of the *idle* cores of a merged *record*."""
    held: dict[int, Owner] | None = None
    found: dict[int, Owner] = {}
    for core in idle:
        if record.core_state[core] == UNATTACHED:
            found[core] = NOBODY
            continue
        if held is None:
            held = _held(record.holders)
        found[core] = held.get(core, NOT_TOLD)
    return found


def _held(holders: Iterable[Holder]) -> dict[int, Owner]:
    found: dict[int, Owner] = {}
    for holder in holders:
        try:
            cores = core_indexes(holder.cores)
        except WireFormatError:
            continue  # nobody can tell its cores, and so they are counted
        owner = _owner(holder)
        for core in cores:
            found.setdefault(core, owner)
    return found


def _owner(holder: Holder) -> Owner:
    if holder.name:
        return Owner(Kind.NAMED, holder.name)
    # A pid is one of many over a week; a tag is at least what somebody chose.
    return Owner(Kind.TAG, holder.tag) if holder.tag else Owner(Kind.PROCESS)

"""
Who holds an idle core: the owner of its idle time.

A core has one owner in a minute, so that the owners' sums are the whole: of
several runtimes on one core the first that the line names, which is the one
that has been idle for longest.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emf import figures
from neuron_wire import WireFormatError
from neuron_wire.holders import core_indexes
from neuron_wire.names import UNATTACHED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_wire import MinuteRecord
    from neuron_wire.holders import Holder


class OwnerKind(Enum):
    """How much is known of an owner."""

    NAMED = "named"
    TAG = "tag"
    PROCESS = "process"
    NOT_TOLD = "not told"
    NOBODY = "nobody"


class IdleOwner(NamedTuple):
    """
    Whose an idle core is.

    Attributes:
        kind: How much is known.

        name: Name of a holder such as `namespace/pod`, or tag of a runtime
            without a name; empty otherwise. Other people's text.
    """

    kind: OwnerKind
    name: str = ""

    @property
    def label(self) -> str:
        """For people; in brackets what is no name."""
        if self.kind is OwnerKind.TAG:
            return f"[no name, tag {figures.name(self.name)}]"
        return _WITHOUT_NAME.get(self.kind) or figures.name(self.name)


_WITHOUT_NAME: Final = {
    OwnerKind.PROCESS: "[no name, no tag]",
    OwnerKind.NOT_TOLD: "[held, holder not told]",
    OwnerKind.NOBODY: "[held by nobody]",
}


NOBODY: Final = IdleOwner(OwnerKind.NOBODY)
NOT_TOLD: Final = IdleOwner(OwnerKind.NOT_TOLD)


def owners(record: MinuteRecord, idle: Iterable[int]) -> dict[int, IdleOwner]:
    """The owner of each of the *idle* cores of a merged *record*."""
    holders = _by_core(record.holders)
    return {
        core: NOBODY if record.core_state[core] == UNATTACHED else holders.get(core, NOT_TOLD)
        for core in idle
    }


def _by_core(holders: Iterable[Holder]) -> dict[int, IdleOwner]:
    by_core: dict[int, IdleOwner] = {}
    for holder in holders:
        try:
            cores = core_indexes(holder.cores)
        except WireFormatError:
            continue  # nobody can tell its cores, and so they are counted
        owner = _owner(holder)
        for core in cores:
            by_core.setdefault(core, owner)
    return by_core


def _owner(holder: Holder) -> IdleOwner:
    if holder.name:
        return IdleOwner(OwnerKind.NAMED, holder.name)
    # A pid is one of many over a week; a tag is at least what somebody chose.
    return IdleOwner(OwnerKind.TAG, holder.tag) if holder.tag else IdleOwner(OwnerKind.PROCESS)

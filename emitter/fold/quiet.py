"""
For how many whole minutes in a row each owner has executed nothing.

Counted while it is there, from when it came, and only over minutes that were read: an owner
is not idle for the time before it had its cores. Kept by minute label as idle minutes are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.fold.idle import FORGOTTEN_AFTER_MINUTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_wire.owners import OwnerHolding

MAX_NAMES = 2_048
"""Owners that are remembered: a runtime and a reservation for each core there can be."""


class QuietMinutes:
    """
    The counters of one instance.

    Attributes:
        label: Epoch minute that last changed a count, or None.

        minutes: By owner.
    """

    def __init__(self, label: int | None = None, minutes: Mapping[str, int] | None = None) -> None:
        self.label = label
        self.minutes = dict(minutes or {})

    def close(
        self, label: int, owners: Mapping[str, OwnerHolding], *, is_whole: bool, is_known: bool
    ) -> None:
        """
        Count the minute *label*, and tell each of *owners* its count where it has one.

        Who executed, or in a whole minute did not tell it, begins again; a partial minute
        neither adds nor resets. Where it is not *known* who was there, nobody is forgotten.
        """
        if self.label is not None and abs(label - self.label) > FORGOTTEN_AFTER_MINUTES:
            self.label, self.minutes = None, {}
        if not is_known:
            return
        is_later = self.label is None or label > self.label
        minutes: dict[str, int] = {}
        for name, one in owners.items():
            count = self.minutes.get(name, 0)
            is_told = one.executions is not None or not one.cores
            if one.executions or (is_whole and not is_told):
                count = 0
            elif is_whole and is_later:
                count += 1
            minutes[name] = count
            one.quiet_minutes = count if is_told and count else None
        self.minutes = dict(list(minutes.items())[:MAX_NAMES])
        self.label = label if self.label is None else max(self.label, label)

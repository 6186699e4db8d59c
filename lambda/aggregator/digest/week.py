"""
Summaries of the ledger's hours become the sums of seven days.

An hour without a summary is missing, and never one in which nothing was idle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_wire.then import Then

if TYPE_CHECKING:
    from collections.abc import Iterable

WEEK_HOURS: Final = 7 * 24


@dataclass(slots=True)
class Week(Then):
    """
    Seven days, added up.

    Attributes:
        hours: All of them, whole ones since the epoch.

        settled: Those that are in the sums.
    """

    hours: range = field(kw_only=True)
    settled: list[int] = field(default_factory=list)

    def fold_hours(self, summaries: Iterable[tuple[int, bytes]]) -> None:
        """
        Add hours by their *summaries*, in the order of time.

        Raises:
            WireFormatError: If a summary is damaged.
        """
        for hour, payload in summaries:
            self.fold_summary(hour, payload)
            self.settled.append(hour)

    @property
    def missing(self) -> list[int]:
        """Hours that are in no sum."""
        return sorted(set(self.hours) - set(self.settled))

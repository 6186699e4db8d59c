"""
Rows of a bill, kept in little memory until their hour comes.

A bill has its rows in no order, and most of a row is the same in every hour: a
row is kept as three numbers, its hour and where its dimensions and its amounts
are. So a month of 1,000 instances takes tens of megabytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emf.chargeback.focus_columns import PLACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Frame = tuple[str, ...]
"""Texts of `focus_columns.FRAME`."""

Amounts = tuple[str, ...]
"""Texts of `focus_columns.SUMMABLE`, decimal numbers or empty."""

_BITS: Final = 40


class Charge(NamedTuple):
    """
    One charge in one hour.

    Attributes:
        frame: Its dimensions and unit prices.

        amounts: What can be summed of it.
    """

    frame: Frame
    amounts: Amounts

    def of(self, column: str) -> str:
        """The text of a dimension; empty where nobody says it."""
        return self.frame[PLACE[column]]

    def with_amounts(self, changes: Mapping[int, str]) -> Charge:
        """The same with other amounts, by their place in `SUMMABLE`."""
        amounts = (changes.get(place, text) for place, text in enumerate(self.amounts))
        return self._replace(amounts=tuple(amounts))

    def with_dimensions(self, changes: Mapping[str, str]) -> Charge:
        """The same with other dimensions, by column."""
        frame = list(self.frame)
        for column, text in changes.items():
            frame[PLACE[column]] = text
        return self._replace(frame=tuple(frame))


@dataclass(slots=True)
class ChargeStore:
    """Charges by hour."""

    _frames: dict[Frame, int] = field(default_factory=dict)
    _amounts: dict[Amounts, int] = field(default_factory=dict)
    _entries: list[int] = field(default_factory=list)

    def add(self, hour: int, charge: Charge) -> None:
        """Keep *charge* of *hour*, whole hours since the epoch."""
        frame = self._frames.setdefault(charge.frame, len(self._frames))
        amounts = self._amounts.setdefault(charge.amounts, len(self._amounts))
        self._entries.append((hour << _BITS | frame) << _BITS | amounts)

    def hours(self) -> Iterator[tuple[int, list[Charge]]]:
        """The charges of each hour that has any, in order of time."""
        frames, amounts = list(self._frames), list(self._amounts)
        last = (1 << _BITS) - 1
        self._entries.sort()
        for hour, entries in groupby(self._entries, key=lambda entry: entry >> 2 * _BITS):
            yield (
                hour,
                [Charge(frames[one >> _BITS & last], amounts[one & last]) for one in entries],
            )

"""
Amounts of money as whole millionths of a USD that add up to the last digit.

Rounded one by one, the rows of a table add up to something else than its total. Here the
total is rounded, its parts add up to it, and each column of rows adds up to its part: what
is left goes to the largest remainders.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from neuron_emf.payment import Saving

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.report.amounts import IdleAmount

MICRO_USD: Final = 1_000_000

Parts = dict[Saving, int | None]
"""Millionths of a USD by what it takes to save them; None where nobody knows the price."""


def total_parts(total: IdleAmount) -> Parts:
    """The parts of *total*; together its price, rounded."""
    exact = total.exact_usd_of(*Saving)
    whole = round((exact or Fraction()) * MICRO_USD)
    parts = [total.exact_usd_of(saving) for saving in Saving]
    return dict(zip(Saving, apportioned(whole, parts), strict=True))


def row_parts(total: Parts, rows: Sequence[IdleAmount]) -> list[Parts]:
    """The parts of each of *rows*, which together are *total*."""
    columns = [
        apportioned(total[saving] or 0, [row.exact_usd_of(saving) for row in rows])
        for saving in Saving
    ]
    return [dict(zip(Saving, row, strict=True)) for row in zip(*columns, strict=True)]


def sum_of(parts: Parts) -> int | None:
    """All *parts* together; None where none has a price."""
    told = [micros for micros in parts.values() if micros is not None]
    return sum(told) if told else None


def apportioned(whole: int, exact: Sequence[Fraction | None]) -> list[int | None]:
    """
    Each of *exact* USD as millionths, rounded so that they add up to *whole*.

    *whole* is the sum of *exact*, rounded up or down; None stays None.
    """
    scaled = [None if usd is None else usd * MICRO_USD for usd in exact]
    floors = [None if value is None else value.numerator // value.denominator for value in scaled]
    left = whole - sum(floor for floor in floors if floor is not None)
    by_remainder = sorted(
        (floor - value, number)
        for number, (floor, value) in enumerate(zip(floors, scaled, strict=True))
        if floor is not None and value is not None
    )
    rises = {number for _, number in by_remainder[:left]}
    return [
        None if floor is None else floor + (number in rises) for number, floor in enumerate(floors)
    ]

"""Amounts of money rounded so that together they are their rounded total."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

FINE: Final = 10**15
"""
Parts of a dollar in which the price of a core is rounded, once. Sums of whole numbers do not depend
on their order, and among ten million cores the rounding stays under a millionth of a dollar.
"""


def rounded(amounts: Sequence[int], unit: int) -> list[int]:
    """
    Each of *amounts* in whole *units*, so that they add up to their rounded total.

    By largest remainder: none is a whole unit away from what it was.
    """
    total = round_half_even(sum(amounts), unit)
    shares = [amount // unit for amount in amounts]
    by_remainder = sorted(range(len(amounts)), key=lambda index: (-(amounts[index] % unit), index))
    for index in by_remainder[: total - sum(shares)]:
        shares[index] += 1
    return shares


def round_half_even(amount: int, unit: int) -> int:
    """*amount* in whole *units*, a half to the even one."""
    whole, rest = divmod(amount, unit)
    return whole + (2 * rest > unit or (2 * rest == unit and whole % 2 == 1))

"""Percentiles of many values of which only the counts are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections import Counter

PERCENTILES: Final = (10, 50, 90, 99)


def percentiles(hundredths: Counter[int]) -> dict[int, float]:
    """
    The percentiles of values counted in hundredths; empty when there is none.

    By nearest rank: each percentile is a value that somebody has.
    """
    total = hundredths.total()
    if not total:
        return {}
    found: dict[int, float] = {}
    wanted = list(PERCENTILES)
    seen = 0
    for value in sorted(hundredths):
        seen += hundredths[value]
        while wanted and seen * 100 >= wanted[0] * total:
            found[wanted.pop(0)] = value / 100
    return found

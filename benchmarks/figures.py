"""
One figure: what was measured, how much of it, and how much it may be.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Figure:
    """
    One row of the table.

    Attributes:
        what: What was measured.

        value: How much.

        unit: Of value and limit.

        limit: The most it may be, None when nothing is promised.

        beside: What it was measured against, and how it varied.
    """

    what: str
    value: float
    unit: str
    limit: float | None = None
    beside: str = ""

    @property
    def is_over(self) -> bool:
        """
        Whether it is more than it may be.
        """
        return self.limit is not None and self.value > self.limit

    def document(self) -> dict[str, object]:
        """
        As JSON has it.
        """
        return {**asdict(self), "over": self.is_over}


def table(figures: Sequence[Figure]) -> str:
    """
    The figures as text, a line each.
    """
    heads = ("what", "measured", "limit", "", "beside")
    rows = [heads, *(_row(one) for one in figures)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(heads))]
    return "\n".join(
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}"
        f"  {row[3]:<{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    )


def _row(figure: Figure) -> tuple[str, str, str, str, str]:
    measured = f"{_number(figure.value)} {figure.unit}"
    if figure.limit is None:
        return figure.what, measured, "-", "", figure.beside
    verdict = "over" if figure.is_over else "ok"
    return figure.what, measured, f"{_number(figure.limit)}", verdict, figure.beside


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"

"""One figure: the measured quantity, its value and its limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADS: Final = ("what", "measured", "limit", "verdict", "beside")


@dataclass(frozen=True, slots=True)
class Figure:
    """
    One row of the table.

    Attributes:
        what: The measured quantity.

        value: The measured value.

        unit: The unit of value and limit.

        limit: The largest permitted value.

        beside: The reference it was compared with, and its variation.
    """

    what: str
    value: float
    unit: str
    limit: float
    beside: str = ""

    @property
    def is_over(self) -> bool:
        """True if it is above its limit."""
        return self.value > self.limit

    def row(self) -> tuple[str, ...]:
        """Return it as text, under `HEADS`."""
        verdict = "over" if self.is_over else "ok"
        measured = f"{number(self.value)} {self.unit}"
        return self.what, measured, number(self.limit), verdict, self.beside


def terminal(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text, one line per row."""
    lines = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def number(value: float) -> str:
    """Return a number: whole from 100, otherwise with two decimals unless they are zeros."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"

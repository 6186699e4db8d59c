"""One figure: what was measured, how much of it, and how much it may be."""

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
        """Whether it is more than it may be."""
        return self.limit is not None and self.value > self.limit

    def row(self) -> tuple[str, ...]:
        """As text, under `HEADS`."""
        measured = f"{number(self.value)} {self.unit}"
        if self.limit is None:
            return self.what, measured, "-", "", self.beside
        return (
            self.what,
            measured,
            number(self.limit),
            "over" if self.is_over else "ok",
            self.beside,
        )


def terminal(figures: Sequence[Figure]) -> str:
    """The figures as text, a line each."""
    rows = [HEADS, *(figure.row() for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


def number(value: float) -> str:
    """Whole from 100 on, with two decimals below, none of which say nothing."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"

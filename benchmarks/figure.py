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

        limit: The most it may be.

        beside: What it was measured against, and how it varied.
    """

    what: str
    value: float
    unit: str
    limit: float
    beside: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it is more than it may be."""
        return self.value > self.limit

    def row(self) -> tuple[str, ...]:
        """As text, under `HEADS`."""
        verdict = "over" if self.is_over else "ok"
        measured = f"{number(self.value)} {self.unit}"
        return self.what, measured, number(self.limit), verdict, self.beside


def terminal(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as text, a line each."""
    lines = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


def number(value: float) -> str:
    """Whole from 100 on, with two decimals below, none of which say nothing."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"

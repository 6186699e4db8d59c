"""One figure: what was measured, how much of it, beside what, and how much it may be."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADS: Final = ("part", "what", "measured", "reference", "times", "limit", "verdict", "beside")
NOT_MEASURED: Final = "not measured"


@dataclass(frozen=True, slots=True)
class Figure:
    """
    One row of the table.

    Attributes:
        what: What was measured.

        value: How much; None if it could not be measured, and `beside` says why.

        unit: Of value, limit and reference.

        limit: The most it may be, None when nothing is promised.

        beside: What it was measured against, and how it varied.

        reference: How much the other way takes, measured in the same run; None
            when there is no other, or when the value is itself a quotient.

        part: The part of the table it stands in.
    """

    what: str
    value: float | None
    unit: str
    limit: float | None = None
    beside: str = ""
    reference: float | None = None
    part: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it is more than it may be."""
        return self.limit is not None and self.value is not None and self.value > self.limit

    @property
    def times(self) -> float | None:
        """What the other way takes, as a multiple of the value; None without one."""
        if self.reference is None or not self.value:
            return None
        return self.reference / self.value

    def row(self) -> tuple[str, ...]:
        """As text, under `HEADS`."""
        times = "" if self.times is None else f"{self.times:.2f} x"
        reference = (
            "" if self.reference is None else f"{number(self.reference)} {self.unit}".rstrip()
        )
        limit = "-" if self.limit is None else number(self.limit)
        verdict = "" if self.limit is None else "over" if self.is_over else "ok"
        measured = NOT_MEASURED
        if self.value is None:
            verdict = ""
        else:
            measured = f"{number(self.value)} {self.unit}".rstrip()
        return self.part, self.what, measured, reference, times, limit, verdict, self.beside


def table(figures: Sequence[Figure]) -> str:
    """The figures as text, a line each, under the name of each part."""
    heads, rows = HEADS[1:], [one.row()[1:] for one in figures]
    widths = [max(len(row[place]) for row in [heads, *rows]) for place in range(len(heads))]
    lines = [_line(heads, widths)]
    for part, those in groupby(figures, key=lambda one: one.part):
        lines += ["", f"{part}:"] if part else []
        lines += [_line(one.row()[1:], widths) for one in those]
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    what, *numbers, verdict, beside = zip(cells, widths, strict=True)
    placed = [f"{cell:>{width}}" for cell, width in numbers]
    placed = [f"{what[0]:<{what[1]}}", *placed, f"{verdict[0]:<{verdict[1]}}", beside[0]]
    return "  ".join(placed).rstrip()


def number(value: float) -> str:
    """Whole from 100 on, with two decimals below, none of which say nothing."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2f}"

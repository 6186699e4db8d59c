"""
How wide the columns of a table are, and how many of them a terminal has room for.

Measured here and told to whoever draws: Textual measures a column when it is idle and keeps
what it drew before that, so that columns could stay as narrow as their titles until the next
minute. A column that does not fit as a whole is left out, because half of a number is another
number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def widths(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[int]:
    """Cells that each column takes, its title included."""
    columns = [[title] for title in titles]
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
    return [max(map(cell_len, column)) for column in columns]


def layout(
    natural: Sequence[int], room: int, gap: int, *, needed: int, least: Mapping[int, int]
) -> list[int]:
    """
    The widths of the first columns that *room* holds, each with a *gap*.

    So that the first *needed* are among them, those in *least*, by index, shrink to that width.
    """
    shown = list(natural)
    missing = sum(width + gap for width in shown[:needed]) - room
    for column, smallest in least.items():
        saved = max(0, min(missing, shown[column] - smallest))
        shown[column] -= saved
        missing -= saved
    while len(shown) > 1 and sum(shown) + gap * len(shown) > room:
        shown.pop()
    return shown

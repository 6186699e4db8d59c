"""
Amounts and tables as the page writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def amount(value: float, digits: int = 3) -> str:
    """
    So many digits that mean something, and M or G from a million on.
    """
    for size, unit in ((1e9, " G"), (1e6, " M")):
        if value >= size:
            return f"{value / size:.{digits}g}{unit}"
    return f"{float(f'{value:.{digits}g}'):,.0f}" if value >= 100 else f"{value:.{digits}g}"


def dollars(value: float) -> str:
    """
    With cents under a hundred.
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def percent(share: float) -> str:
    """
    0.031 as 3.1 %.
    """
    return f"{100 * share:.1f} %"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """
    A table in Markdown.
    """
    lines = [f"| {' | '.join(line)} |" for line in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])

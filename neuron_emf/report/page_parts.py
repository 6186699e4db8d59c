"""
The pieces that the page of an idle report is made of: tables, bars, facts.

Whatever comes in is text, other people's too, and is escaped here and nowhere else.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_emf.report.instances import CoreTime

STATES: Final = (
    ("busy", "busy"),
    ("attached", "attached idle"),
    ("unattached", "unattached"),
    ("unknown", "unknown"),
)
"""Class of a colour, and the word for what it stands for."""

_BAR: Final = 100  # units that a bar is wide
_SHORT: Final = 24  # characters of a name that stays on one line: an instance id has 19
_SHORT_CLASS: Final = ' class="short"'


class Bar(NamedTuple):
    """A drawn cell: shares of a whole by class of color; the same numbers stand beside it."""

    shares: Sequence[tuple[str, float]]


class Column(NamedTuple):
    """A column of a table."""

    title: str
    is_number: bool = False


Cell = str | Bar


def states_bar(cores: CoreTime) -> Bar:
    """What cores did, as shares of their time."""
    amounts = (cores.busy, cores.attached_idle, cores.unattached, cores.unknown)
    total = sum(amounts) or 1
    return Bar([(name, amount / total) for (name, _), amount in zip(STATES, amounts, strict=True)])


def share_bar(part: float, most: float, colour: str) -> Bar:
    """An amount as a share of the greatest one, in the *colour* of a state."""
    return Bar([(colour, part / most if most > 0 else 0.0)])


def table(caption: str, columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> str:
    """A table whose first column names its rows; on a narrow screen it scrolls by itself."""
    heads = "".join(
        f'<th scope="col"{_number(column)}>{escape(column.title)}</th>' for column in columns
    )
    body = "\n".join(f"<tr>{_cells(columns, row)}</tr>" for row in rows)
    label = escape(caption, quote=True)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">\n'
        f"<table>\n<caption>{escape(caption)}</caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>\n"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """The few numbers that everybody looks for."""
    rows = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>\n" for name, value in pairs
    )
    return f'<dl class="facts">\n{rows}</dl>\n'


def sentences(said: Sequence[str]) -> str:
    """Sentences, each on its own."""
    if len(said) == 1:
        return f"<p>{escape(said[0])}</p>\n"
    return "<ul>\n" + "".join(f"<li>{escape(one)}</li>\n" for one in said) + "</ul>\n"


def legend() -> str:
    """What the colours of a bar of states stand for."""
    rows = "".join(
        f'<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="{name}" width="10" '
        f'height="10"/></svg>{escape(word)}</li>\n'
        for name, word in STATES
    )
    return f'<ul class="legend" aria-label="Colours of the bars">\n{rows}</ul>\n'


def section(title: str, *content: str) -> str:
    """A part of the page under a heading."""
    anchor = "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    return (
        f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{escape(title)}</h2>\n'
        f"{''.join(content)}</section>\n"
    )


def _cells(columns: Sequence[Column], row: Sequence[Cell]) -> str:
    first, *others = row
    is_short = isinstance(first, str) and len(first) <= _SHORT
    head = f'<th scope="row"{_SHORT_CLASS if is_short else ""}>{_content(first)}</th>'
    return head + "".join(
        f"<td{_number(column)}>{_content(cell)}</td>"
        for column, cell in zip(columns[1:], others, strict=True)
    )


def _content(cell: Cell) -> str:
    return _drawn(cell) if isinstance(cell, Bar) else escape(cell)


def _drawn(bar: Bar) -> str:
    rects, at = [], 0.0
    for name, share in bar.shares:
        width = round(_BAR * share, 2)
        if width > 0:
            rects.append(f'<rect class="{name}" x="{at:g}" width="{width:g}" height="10"/>')
        at = round(at + width, 2)
    # A reader of the screen has the numbers in the cells beside it.
    return (
        f'<svg class="bar" viewBox="0 0 {_BAR} 10" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(rects)}</svg>"
    )


def _number(column: Column) -> str:
    return ' class="number"' if column.is_number else ""

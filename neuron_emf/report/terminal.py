"""The report on a terminal: one cost table with its sentences. HTML has the same cells."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.padding import Padding
from rich.text import Text

from neuron_emf.report.cost_table import COLUMNS, heading, row_name, shown_labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType

    from neuron_emf.report.cost_table import CostTable
    from neuron_emf.report.idle_report import IdleReport

_MORE_ROWS: Final = "--rows shows more; --csv and --html show all"
MAX_ROWS: Final = 10
"""Rows of the table, unless `--rows` gives another number."""

_INDENT: Final = 2  # of numbers below their name


def parts(report: IdleReport, rows: int) -> list[RenderableType]:
    """Return what to print, with at most *rows* rows in the table."""
    table = report.table(report.by)
    lines: list[RenderableType] = []
    if not report.problems:
        lines = [Text(), TableLines(table, rows, report.currency)]
    return [
        Text(report.headline, style="bold"),
        Text(report.period()),
        *map(Text, report.lead),
        *lines,
        *([Text(_MORE_ROWS)] if len(table.rows) > rows else []),
        Text(),
        *(Padding(Text(said), (0, 0, 0, 2), expand=False) for said in report.notes),
    ]


@dataclass(frozen=True, slots=True)
class TableLines:
    """
    A cost table that is as wide as its terminal and cuts no number.

    Names are before the numbers unless rows have fewer lines with the names above the numbers.
    Columns that do not fit on a line continue on the next line.
    """

    table: CostTable
    most: int
    currency: str
    columns: Sequence[str] = COLUMNS

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Return the lines for a terminal of the width of *options*."""
        columns = [column for column in self.table.columns() if column in self.columns]
        rows = self.table.printed(self.most)
        labels = ", ".join(map(heading, shown_labels(self.table)))
        names = [labels, *(row_name(self.table.by, row.labels) for row in rows)]
        headings = [reversed(heading_lines(column, self.currency)) for column in columns]
        blocks: list[Sequence[Sequence[str]]] = [[*zip_longest(*headings, fillvalue="")][::-1]]
        for row in rows:
            cells = row.cells()
            blocks.append([[cells[column] for column in columns]])
        heading_block, *body, total = _numbers_beside_names(names, blocks, options.max_width)
        rule = "─" * max(map(cell_len, heading_block))
        for line in (*heading_block, rule, *chain(*body), rule, *total):
            yield Text(line, overflow="fold")


def _numbers_beside_names(
    names: Sequence[str], blocks: Sequence[Sequence[Sequence[str]]], max_width: int
) -> list[list[str]]:
    """Return the lines of each row: its name, and the texts of its block in columns."""
    widths = [max(map(len, column)) for column in zip(*chain(*blocks), strict=True)]
    name_width = max(map(cell_len, names))
    indents = (name_width + 2, 2), (name_width + 1, 1), (_INDENT, 2), (_INDENT, 1)
    layouts = [(indent, gap, _groups(widths, gap, max_width - indent)) for indent, gap in indents]
    indent, gap, groups = min(layouts, key=lambda layout: len(layout[2]))
    rows = []
    for name, block in zip(names, blocks, strict=True):
        lines = []
        for group in groups:
            for texts in block:
                if any(texts[at] for at in group):
                    padded = [texts[at].rjust(widths[at]) for at in group]
                    lines.append(" " * indent + (" " * gap).join(padded))
        if indent > name_width:
            last = len(block) - 1
            lines[last] = name + lines[last][cell_len(name) :]
        else:
            lines.insert(0, name)
        rows.append(lines)
    return rows


def _groups(widths: Sequence[int], gap: int, width: int) -> list[list[int]]:
    """Return the columns of each line, on as many lines as *width* makes necessary."""
    groups: list[list[int]] = [[]]
    used = 0
    for at, column_width in enumerate(widths):
        if groups[-1] and used + column_width > width:
            groups.append([])
            used = 0
        groups[-1].append(at)
        used += column_width + gap
    return groups


def heading_lines(column: str, currency: str) -> list[str]:
    """Return the heading of a *column* of numbers, a word a line."""
    if column == "per million":
        return [f"{currency} per", "million"]
    return column.split()

"""The report on a terminal: one cost table with its sentences. HTML has the same cells."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.padding import Padding
from rich.text import Text

from neuron_emf import command_output
from neuron_emf.report.cost_table import COLUMNS, ROW_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType

    from neuron_emf.report.cost_table import CostTable, Labels
    from neuron_emf.report.idle_report import IdleReport

_MORE_ROWS: Final = "--rows shows more; --csv and --html show all"
MAX_ROWS: Final = 10
"""Rows of the table, unless `--rows` gives another number."""

_INDENT: Final = "  "  # of numbers below their name
MAX_LINE_CHARS: Final = 10_000
"""A bound above the length of any line of numbers."""


def parts(report: IdleReport, rows: int) -> list[RenderableType]:
    """Return what to print, with at most *rows* rows in the table."""
    table = report.table(report.by)
    return [
        Text(report.headline, style="bold"),
        Text(report.period()),
        *map(Text, report.lead),
        Text(),
        TableLines(table, rows, report.currency),
        *([Text(_MORE_ROWS)] if len(table.rows) > rows else []),
        Text(),
        *(Padding(Text(said), (0, 0, 0, 2), expand=False) for said in report.notes),
    ]


@dataclass(frozen=True, slots=True)
class TableLines:
    """
    A cost table that is as wide as its terminal and cuts no number.

    Names are before the numbers if all fit on a line, otherwise above them. Columns that do not fit
    on a line continue on the next line.
    """

    table: CostTable
    most: int
    currency: str
    columns: Sequence[str] = COLUMNS

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Return the lines for a terminal of the width of *options*."""
        columns = [column for column in self.table.columns() if column in self.columns]
        printed = self.table.printed(self.most)
        names = [
            ", ".join(map(heading, shown_labels(self.table))),
            *(row_name(self.table.by, row.labels) for row in printed),
        ]
        rows = [[heading_lines(column, self.currency) for column in columns]]
        for row in printed:
            cells = row.cells()
            rows.append([[cells[column]] for column in columns])
        for gap in (2, 1):
            blocks = _side_by_side(names, rows, gap)
            if cell_len(blocks[0][0]) <= options.max_width:
                break
        else:
            blocks = _below_names(names, rows, options.max_width)
        rule = "─" * max(map(cell_len, blocks[0]))
        *body, total = blocks
        body[0].append(rule)
        lines = [line for block in (*body, [rule], total) for line in block]
        yield from (Text(line, overflow="fold") for line in lines)


def _side_by_side(
    names: Sequence[str], rows: Sequence[Sequence[Sequence[str]]], gap: int
) -> list[list[str]]:
    """Return the lines of each row: its name, then its numbers. All lines have the same length."""
    width = max(map(cell_len, names))
    blocks = []
    for name, numbers in zip(names, _number_lines(rows, gap, MAX_LINE_CHARS), strict=True):
        padded = name + " " * (width - cell_len(name))
        starts = [" " * width] * (len(numbers) - 1) + [padded]
        pairs = zip(starts, numbers, strict=True)
        blocks.append([f"{start}{' ' * gap}{number}" for start, number in pairs])
    return blocks


def _below_names(
    names: Sequence[str], rows: Sequence[Sequence[Sequence[str]]], width: int
) -> list[list[str]]:
    """Return the lines of each row: its name, then its numbers below it."""
    by_gap = [_number_lines(rows, gap, width - len(_INDENT)) for gap in (2, 1)]
    fewest_lines = min(by_gap, key=lambda blocks: len(blocks[0]))
    pairs = zip(names, fewest_lines, strict=True)
    return [[name, *(_INDENT + line for line in numbers)] for name, numbers in pairs]


def _number_lines(rows: Sequence[Sequence[Sequence[str]]], gap: int, width: int) -> list[list[str]]:
    """Return the numbers of each row in columns, on as many lines as *width* makes necessary."""
    widths = [max(len(line) for row in rows for line in row[at]) for at in range(len(rows[0]))]
    groups: list[list[int]] = [[]]
    used = 0
    for at, column_width in enumerate(widths):
        if groups[-1] and used + column_width > width:
            groups.append([])
            used = 0
        groups[-1].append(at)
        used += column_width + gap
    blocks = []
    for row in rows:
        lines = []
        for group in groups:
            upside_down = zip_longest(*(reversed(row[at]) for at in group), fillvalue="")
            for texts in reversed([*upside_down]):
                padded = [text.rjust(widths[at]) for at, text in zip(group, texts, strict=True)]
                lines.append((" " * gap).join(padded))
        blocks.append(lines)
    return blocks


def heading_lines(column: str, currency: str) -> list[str]:
    """Return the heading of a *column* of numbers, a word a line."""
    if column == "per million":
        return [f"{currency} per", "million"]
    return column.split()


def shown_labels(table: CostTable) -> list[str]:
    """Return the labels of *table* that have a value in any row."""
    columns = zip(ROW_LABELS[table.by], *(row.labels for row in table.rows), strict=True)
    return [label for label, *texts in columns if any(texts)]


def heading(label: str) -> str:
    """Return the heading of *label*: `instance` for `instance_id`."""
    return label.removesuffix("_id").removeprefix("instance_")


def row_name(by: str, labels: Labels) -> str:
    """Return a name such as `slurm:4711 ada, team ml, cluster research`."""
    (_, first), *others = zip(ROW_LABELS[by], labels, strict=True)
    shown = [command_output.shown_name(first)]
    for label, text in others:
        if text is not None:
            shown.append(f"{heading(label)} {command_output.shown_name(text)}")
    return ", ".join(shown)

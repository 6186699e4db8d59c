"""The idle report on a terminal: one table, and what it means. The page has the same cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from neuron_accounts.core_time import AVOIDABLE_PARTS, Part
from neuron_accounts.ledger import MINUTE_PLACES, USD_PLACES
from neuron_emf import command_output
from neuron_emf.report.idle_report import ROW_LABELS
from neuron_words.quantity_words import dollars

if TYPE_CHECKING:
    from rich.console import RenderableType

    from neuron_accounts.core_time import CoreTime
    from neuron_emf.report.idle_report import IdleReport
    from neuron_wire.line_members import Texts

NO_TEAM: Final = "[no team]"
SHOWN: Final = ("idle hours", "idle USD", "avoidable", "executions", "USD per million")
"""Columns of `cells` that a terminal has room for."""

_NAME_COLUMNS: Final = 34


def parts(report: IdleReport, rows: int) -> list[RenderableType]:
    """What to print, with at most *rows* rows in the table."""
    return [
        Text(report.headline(), style="bold"),
        Text(report.period()),
        *map(Text, report.lead()),
        Text(),
        _table(report, rows),
        Text(),
        *(Padding(Text(said), (0, 0, 0, 2), expand=False) for said in report.notes()),
    ]


def _table(report: IdleReport, rows: int) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        caption_justify="left",
        pad_edge=False,
        show_edge=False,
        collapse_padding=True,
    )
    labels = ROW_LABELS[report.by]
    ends = sorted({0, len(labels) - 1})  # there is no room for a third name
    for at in ends:
        # A name may go on below: where a table is too wide, no number is cut.
        table.add_column(heading(labels[at]), max_width=_NAME_COLUMNS, overflow="fold")
    for column in SHOWN:
        table.add_column(column.replace(" ", "\n", 1), justify="right", no_wrap=True)
    everything = report.rows()
    shown = everything[-rows:] if report.by == "day" else everything[:rows]
    for names, time in shown:
        texts = [Text(label_text(labels[at], names[at])) for at in ends]
        table.add_row(*texts, *map(cells(time).__getitem__, SHOWN))
    if (rest := len(everything) - len(shown)) > 0:
        earlier = "earlier" if report.by == "day" else "more"
        table.caption = f"and {rest:,} {earlier}; --rows shows more; --csv and --html show all"
    return table


def cells(time: CoreTime) -> Texts:
    """The cells of *time* by the heading of their column; `-` where there is nothing to show."""
    is_known = bool(time.known)

    def known(text: str) -> str:
        return text if is_known else command_output.UNKNOWN_CELL

    def idle_usd(*parts: Part) -> str:
        return known(_dollars(time.idle_cost_of(parts)))

    return {
        "allocated hours": _hours(time.allocated),
        "busy hours": known(_hours(time.busy)),
        "idle hours": known(_hours(time.idle)),
        "idle USD": idle_usd(*Part),
        "avoidable": idle_usd(*AVOIDABLE_PARTS),
        "committed": idle_usd(Part.COMMITTED),
        "unknown hours": _hours(time.unknown),
        "executions": "-" if time.executions is None else f"{time.executions:,}",
        "USD per million": _dollars(time.million_executions_cost) if time.executions else "-",
    }


def heading(label: str) -> str:
    """`instance` of `instance_id`."""
    return label.removesuffix("_id").removeprefix("instance_")


def label_text(label: str, text: str | None) -> str:
    """The *label* of a row as it is shown."""
    return NO_TEAM if label == "team" and not text else command_output.shown_name(text)


def _dollars(nanos: int | None) -> str:
    return "no price" if nanos is None else dollars(nanos / 10**USD_PLACES)


def _hours(micros: int) -> str:
    return command_output.shown_hours(micros / 10**MINUTE_PLACES)

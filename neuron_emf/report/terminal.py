"""The idle report on a terminal: one table, and what it means. The page has the same cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from neuron_emf import figures
from neuron_emf.report.idle_report import LABELS
from neuron_wire.core_time import Part
from neuron_wire.ledger import MINUTE_PLACES, USD_PLACES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from neuron_emf.report.idle_report import IdleReport
    from neuron_wire.core_time import CoreTime

NO_TEAM: Final = "[no team]"
SHOWN: Final = ("busy hours", "idle hours", "idle USD", "avoidable")
"""Those of `cells` that a terminal has room for."""

_NAME_COLUMNS: Final = 34


def parts(report: IdleReport, rows: int) -> list[RenderableType]:
    """What to print, with at most *rows* rows in the table."""
    return [
        Text(report.headline(), style="bold"),
        Text(report.period()),
        *map(Text, report.lead()),
        Text(),
        _table(report, rows),
        *(Padding(Text(said), (0, 0, 0, 2), expand=False) for said in report.notes()),
    ]


def _table(report: IdleReport, rows: int) -> Table:
    table = Table(
        title=f"{report.by.capitalize()}s",
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        pad_edge=False,
    )
    for column in LABELS[report.by]:
        # A name may go on below: where a table is too wide, no number is cut.
        table.add_column(heading(column), max_width=_NAME_COLUMNS, overflow="fold")
    for column in SHOWN:
        table.add_column(column, justify="right", no_wrap=True)
    everything = report.rows()
    shown = everything[-rows:] if report.by == "day" else everything[:rows]
    for labels, time in shown:
        names = map(label_text, LABELS[report.by], labels)
        table.add_row(*map(Text, names), *map(cells(time).__getitem__, SHOWN))
    if (rest := len(everything) - len(shown)) > 0:
        earlier = "earlier" if report.by == "day" else "more"
        table.caption = f"and {rest:,} {earlier}; --rows shows more; --csv and --html show all\n"
    return table


def cells(time: CoreTime) -> Mapping[str, str]:
    """What people read of *time*, by the heading of its column."""
    is_known = bool(time.known)

    def dollars(*parts: Part) -> str:
        nanos = time.idle_cost_of(parts)
        return figures.dollars(None if nanos is None else nanos / 10**USD_PLACES)

    def known(text: str) -> str:
        return text if is_known else figures.UNKNOWN

    return {
        "held hours": _hours(time.held),
        "busy hours": known(_hours(time.busy)),
        "idle hours": known(_hours(time.idle)),
        "idle": figures.percent(figures.share(time.idle, time.known)),
        "idle USD": known(dollars(*Part)),
        "avoidable": known(dollars(Part.AVOIDABLE_HELD, Part.AVOIDABLE_UNHELD)),
        "shared": known(dollars(Part.SHARED)),
        "sunk": known(dollars(Part.SUNK)),
        "unknown hours": _hours(time.unknown),
    }


def heading(label: str) -> str:
    """`instance` of `instance_id`."""
    return label.removesuffix("_id").removeprefix("instance_")


def label_text(label: str, text: str | None) -> str:
    """What people read of the *label* of a row."""
    return NO_TEAM if label == "team" and not text else figures.name(text)


def _hours(micros: int) -> str:
    return figures.hours(micros / 10**MINUTE_PLACES)

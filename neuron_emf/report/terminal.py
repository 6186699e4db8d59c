"""The idle report on a terminal: tables of the most expensive, then what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from neuron_emf.report import figures, sentences
from neuron_wire.holders import core_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from neuron_emf.report.outcome import Outcome

_RIGHT: Final = frozenset(
    {
        "idle USD",
        "idle hours",
        "idle",
        "could stop USD",
        "instances",
        "unknown hours",
        "longest",
        "hours each",
        "USD each",
    }
)
_NAME_COLUMNS: Final = 34


def parts(found: Outcome, rows: int) -> list[RenderableType]:
    """What to print, with at most *rows* rows in each table."""
    shown: list[RenderableType] = [
        Text(sentences.headline(found), style="bold"),
        Text(sentences.period(found)),
        *_section("What would be saved", sentences.savings(found)),
        Text(),
        _clusters(found, rows),
    ]
    if found.total.idle.core_minutes:
        shown += [_owners(found, rows), _instances(found, rows), _cores(found)]
    for title, said in (
        ("Known and unknown", sentences.coverage(found)),
        ("Money", sentences.money(found)),
        ("How it was counted", [*sentences.method(found), *sentences.reading(found)]),
        ("The stack's rollups", sentences.rollups(found)),
    ):
        shown += _section(title, said)
    return shown


def _section(title: str, said: Iterable[str]) -> list[RenderableType]:
    return [
        Text(),
        Text(title, style="bold"),
        *(Padding(Text(one), (0, 0, 0, 2), expand=False) for one in said),
    ]


def _clusters(found: Outcome, rows: int) -> Table:
    table = _table(
        "Clusters",
        (
            "cluster",
            "instances",
            "idle hours",
            "idle",
            "idle USD",
            "could stop USD",
            "unknown hours",
        ),
    )
    for name, sums in found.clusters[:rows]:
        table.add_row(
            _name(name),
            f"{sums.instances:,}",
            figures.hours(sums.idle.core_minutes),
            figures.percent(figures.share(sums.idle.core_minutes, sums.cores.known)),
            figures.usd(sums.idle.usd),
            figures.usd(sums.whole.usd),
            figures.hours(sums.cores.unknown),
        )
    return _with_rest(table, found.clusters, rows)


def _owners(found: Outcome, rows: int) -> Table:
    table = _table("Owners", ("owner", "cluster", "instances", "idle hours", "idle USD"))
    for row in found.owners[:rows]:
        table.add_row(
            Text(figures.owner(row.owner)),
            _name(row.cluster),
            f"{len(row.time.instances):,}",
            figures.hours(row.time.idle.core_minutes),
            figures.usd(row.time.idle.usd),
        )
    return _with_rest(table, found.owners, rows)


def _instances(found: Outcome, rows: int) -> Table:
    idle = [one for one in found.instances if one.idle.core_minutes]
    table = _table(
        "Instances",
        ("instance", "type", "cluster", "idle hours", "idle", "idle USD", "could stop USD"),
    )
    for one in idle[:rows]:
        table.add_row(
            _name(one.instance_id),
            _name(one.instance_type),
            _name(one.cluster),
            figures.hours(one.idle.core_minutes),
            figures.percent(figures.share(one.idle.core_minutes, one.cores.known)),
            figures.usd(one.idle.usd),
            figures.usd(one.whole.usd),
        )
    return _with_rest(table, idle, rows)


def _cores(found: Outcome) -> Table:
    table = _table(
        "Worst cores", ("instance", "cores", "owner, last", "hours each", "longest", "USD each")
    )
    for row in found.cores:
        table.add_row(
            _name(row.instance.instance_id),
            core_ranges(row.cores),
            Text(figures.owner(row.each.owner)),
            figures.hours(row.each.amount.core_minutes),
            figures.duration(row.each.longest_minutes),
            figures.usd(row.each.amount.usd),
        )
    rest = found.core_count - sum(len(row.cores) for row in found.cores)
    if rest > 0:
        table.caption = f"and {figures.counted(rest, 'more core')}"
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(
        title=title,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        pad_edge=False,
    )
    for column in columns:
        if column in _RIGHT:
            table.add_column(column, justify="right", no_wrap=True)
        else:
            table.add_column(column, max_width=_NAME_COLUMNS, overflow="ellipsis", no_wrap=True)
    return table


def _with_rest(table: Table, all_rows: Sequence[object], rows: int) -> Table:
    rest = len(all_rows) - rows
    if rest > 0:
        table.caption = f"and {rest:,} more; --rows shows more, --csv and --html all"
    return table


def _name(text: str | None) -> Text:
    return Text(figures.name(text))

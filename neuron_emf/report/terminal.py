"""The idle report on a terminal: tables of the most expensive, then what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from neuron_emf import figures
from neuron_emf.report import sentences
from neuron_wire.holders import core_ranges
from neuron_wire.phrases import counted, duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from neuron_emf.report.idle_report import IdleReport

_LEFT: Final = frozenset({"cluster", "owner", "instance", "type", "cores", "owner, last"})
_NAME_COLUMNS: Final = 34


def parts(report: IdleReport, rows: int) -> list[RenderableType]:
    """What to print, with at most *rows* rows in each table."""
    shown: list[RenderableType] = [
        Text(sentences.headline(report), style="bold"),
        Text(sentences.period(report)),
        *_section("What would be saved", sentences.savings(report)),
        Text(),
        _clusters(report, rows),
    ]
    if report.total.idle.core_minutes:
        shown += [_owners(report, rows), _instances(report, rows), _cores(report)]
    for title, said in (
        ("Known and unknown", sentences.coverage(report)),
        ("Money", sentences.money(report)),
        ("How it was counted", [*sentences.method(report), *sentences.reading(report)]),
        ("The stack's rollups", sentences.rollups(report)),
    ):
        shown += _section(title, said)
    return shown


def _section(title: str, said: Iterable[str]) -> list[RenderableType]:
    return [
        Text(),
        Text(title, style="bold"),
        *(Padding(Text(one), (0, 0, 0, 2), expand=False) for one in said),
    ]


def _clusters(report: IdleReport, rows: int) -> Table:
    numbers = "instances", "idle hours", "idle", "idle USD", "could stop USD", "unknown hours"
    table = _table("Clusters", ("cluster", *numbers))
    for name, sums in report.clusters[:rows]:
        table.add_row(
            _name(name),
            f"{sums.instances:,}",
            figures.hours(sums.idle.core_minutes),
            figures.percent(figures.share(sums.idle.core_minutes, sums.cores.known)),
            figures.dollars(sums.idle.usd),
            figures.dollars(sums.whole.usd),
            figures.hours(sums.cores.unknown),
        )
    return _with_rest(table, report.clusters, rows)


def _owners(report: IdleReport, rows: int) -> Table:
    table = _table("Owners", ("owner", "cluster", "instances", "idle hours", "idle USD"))
    for row in report.owners[:rows]:
        table.add_row(
            Text(row.owner.label),
            _name(row.cluster),
            f"{len(row.time.instances):,}",
            figures.hours(row.time.idle.core_minutes),
            figures.dollars(row.time.idle.usd),
        )
    return _with_rest(table, report.owners, rows)


def _instances(report: IdleReport, rows: int) -> Table:
    idle = [instance for instance in report.instances if instance.idle.core_minutes]
    table = _table(
        "Instances",
        ("instance", "type", "cluster", "idle hours", "idle", "idle USD", "could stop USD"),
    )
    for instance in idle[:rows]:
        table.add_row(
            _name(instance.instance_id),
            _name(instance.instance_type),
            _name(instance.cluster),
            figures.hours(instance.idle.core_minutes),
            figures.percent(figures.share(instance.idle.core_minutes, instance.cores.known)),
            figures.dollars(instance.idle.usd),
            figures.dollars(instance.whole.usd),
        )
    return _with_rest(table, idle, rows)


def _cores(report: IdleReport) -> Table:
    table = _table(
        "Worst cores", ("instance", "cores", "owner, last", "hours each", "longest", "USD each")
    )
    for row in report.cores:
        table.add_row(
            _name(row.instance.instance_id),
            core_ranges(row.cores),
            Text(row.each.owner.label),
            figures.hours(row.each.amount.core_minutes),
            duration(row.each.longest_minutes),
            figures.dollars(row.each.amount.usd),
        )
    rest = report.core_count - sum(len(row.cores) for row in report.cores)
    if rest > 0:
        table.caption = f"and {counted(rest, 'more core')}\n"
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
        if column in _LEFT:
            table.add_column(column, max_width=_NAME_COLUMNS, overflow="ellipsis", no_wrap=True)
        else:
            table.add_column(column, justify="right", no_wrap=True)
    return table


def _with_rest(table: Table, all_rows: Sequence[object], rows: int) -> Table:
    rest = len(all_rows) - rows
    if rest > 0:
        # Without a caption a table ends with an empty line of its own.
        table.caption = f"and {rest:,} more; --rows shows more, --csv and --html all\n"
    return table


def _name(text: str | None) -> Text:
    return Text(figures.name(text))

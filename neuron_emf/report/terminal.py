"""The idle report on a terminal: tables of the most expensive, then what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from neuron_emf import figures
from neuron_emf.owners import NO_TEAM
from neuron_emf.payment import AVOIDABLE, Saving
from neuron_emf.report import sentences
from neuron_wire.holders import core_ranges
from neuron_wire.names import UNKNOWN_OWNER
from neuron_wire.phrases import counted, duration, iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from neuron_emf.report.amounts import IdleAmount
    from neuron_emf.report.idle_report import IdleReport
    from neuron_emf.report.trends import TrendRow

IDLE: Final = ("idle hours", "idle", "idle USD")
PARTS: Final = ("avoidable", "shared", "sunk")
"""Of the idle USD before them, which they add up to."""

_LEFT: Final = frozenset(
    {"cluster", "owner", "team", "instance", "type", "cores", "last owner", "day", "week", "month"}
)
_NAME_COLUMNS: Final = 34
_MONTH_DAYS: Final = 31


def parts(report: IdleReport, rows: int) -> list[RenderableType]:
    """What to print, with at most *rows* rows in each table."""
    shown: list[RenderableType] = [
        Text(sentences.headline(report), style="bold"),
        *(Text(said) for said in (sentences.rate(report), sentences.period(report)) if said),
        *_section("Possible savings", sentences.savings(report)),
        Text(),
        _clusters(report, rows),
    ]
    if report.total.idle.core_minutes:
        shown.append(_owners(report, rows))
        if report.has_teams:
            shown.append(_teams(report, rows))
        shown.append(_instances(report, rows))
        if report.cores:
            shown.append(_cores(report))
    if len(report.days) > 1:
        shown.append(_days(report, rows))
    for title, column, trend in (
        ("Weeks, from Monday, UTC", "week", report.weeks),
        ("Months, UTC", "month", report.months),
    ):
        if len(trend) > 1:
            shown.append(_trend(title, column, trend))
    for title, said in (
        ("Data coverage", sentences.coverage(report)),
        ("FLOP/s", sentences.flops(report)),
        ("Money", sentences.money(report)),
        ("Method", [*sentences.method(report), *sentences.reading(report)]),
        ("Comparison with the stack's rollups", sentences.rollups(report)),
    ):
        if said:
            shown += _section(title, said)
    return shown


def _section(title: str, said: Iterable[str]) -> list[RenderableType]:
    return [
        Text(),
        Text(title, style="bold"),
        *(Padding(Text(one), (0, 0, 0, 2), expand=False) for one in said),
    ]


def _clusters(report: IdleReport, rows: int) -> Table:
    table = _table("Clusters", ("cluster", "instances", *IDLE, *PARTS, "unknown hours"))
    for name, sums in report.clusters[:rows]:
        table.add_row(
            _name(name),
            f"{sums.instances:,}",
            *_idle(sums.idle, sums.cores.known),
            *_parts(sums.idle),
            figures.hours(sums.cores.unknown),
        )
    return _with_rest(table, report.clusters, rows)


def _owners(report: IdleReport, rows: int) -> Table:
    team = ["team"] if report.has_teams else []
    table = _table("Owners", ("owner", *team, "cluster", "busy hours", *IDLE[::2], PARTS[0]))
    for row in report.owners[:rows]:
        table.add_row(
            _name(row.owner.name),
            *([_name(row.owner.team, NO_TEAM)] if team else []),
            _name(row.cluster),
            figures.hours(row.time.cores.busy),
            figures.hours(row.time.idle.core_minutes),
            figures.dollars(row.time.idle.usd),
            figures.dollars(row.time.idle.usd_of(*AVOIDABLE)),
        )
    for cluster, minutes in report.unknown:
        table.add_row(
            UNKNOWN_OWNER,
            *([NO_TEAM] if team else []),
            _name(cluster),
            "",
            f"{figures.hours(minutes)} unknown",
            figures.UNKNOWN,
            figures.UNKNOWN,
        )
    return _with_rest(table, report.owners, rows)


def _teams(report: IdleReport, rows: int) -> Table:
    table = _table("Teams", ("team", "idle hours", "idle USD", *PARTS))
    for team, idle in report.teams[:rows]:
        table.add_row(
            _name(team, NO_TEAM),
            figures.hours(idle.core_minutes),
            figures.dollars(idle.usd),
            *_parts(idle),
        )
    return _with_rest(table, report.teams, rows)


def _instances(report: IdleReport, rows: int) -> Table:
    idle = [instance for instance in report.instances if instance.idle.core_minutes]
    table = _table("Instances", ("instance", "type", "cluster", *IDLE, PARTS[0]))
    for instance in idle[:rows]:
        table.add_row(
            _name(instance.instance_id),
            _name(instance.instance_type),
            _name(instance.cluster),
            *_idle(instance.idle, instance.cores.known),
            figures.dollars(instance.idle.usd_of(*AVOIDABLE)),
        )
    return _with_rest(table, idle, rows)


def _days(report: IdleReport, rows: int) -> Table:
    shown = report.days[-max(rows, _MONTH_DAYS) :]
    table = _table("Days, UTC", ("day", "data", *IDLE, *PARTS))
    for day in shown:
        told = figures.percent(figures.share(day.told_minutes, day.minutes))
        numbers = [*_idle(day.time.idle, day.time.cores.known), *_parts(day.time.idle)]
        # Of a day without a line nobody knows, and no number is 0.
        table.add_row(iso(day.start_ms)[:10], told, *(numbers if day.told_minutes else ()))
    if len(shown) < len(report.days):
        table.caption = (
            f"and {len(report.days) - len(shown):,} earlier; --csv and --html show all\n"
        )
    return table


def _trend(title: str, column: str, trend: Sequence[TrendRow]) -> Table:
    table = _table(title, (column, "data", *IDLE, *PARTS, "change"))
    for before, row in zip((None, *trend), trend, strict=False):
        told = figures.percent(figures.share(row.told_minutes, row.minutes))
        numbers = [*_idle(row.time.idle, row.time.cores.known), *_parts(row.time.idle)]
        table.add_row(
            row.name, told, *((*numbers, _change(before, row)) if row.told_minutes else ())
        )
    return table


def _change(before: TrendRow | None, row: TrendRow) -> str:
    """In percent of the one before; a part of a week or month is compared with nothing."""
    if before is None or not (before.is_whole and row.is_whole):
        return ""
    was, now = before.time.idle.usd, row.time.idle.usd
    return f"{100 * (now - was) / was:+.1f} %" if was and now is not None else ""


def _cores(report: IdleReport) -> Table:
    table = _table(
        "Worst cores",
        ("instance", "cores", "last owner", "hours per core", "longest", "USD per core"),
    )
    for row in report.cores:
        table.add_row(
            _name(row.instance.instance_id),
            core_ranges(row.cores),
            _name(row.owner_names),
            figures.hours(row.each.amount.core_minutes),
            duration(row.each.longest_minutes),
            figures.dollars(row.each.amount.usd),
        )
    rest = report.core_count - sum(len(row.cores) for row in report.cores)
    if rest > 0:
        table.caption = f"and {counted(rest, 'more core')}\n"
    return table


def _idle(idle: IdleAmount, known: int) -> tuple[str, str, str]:
    """The cells of `IDLE`."""
    minutes = idle.core_minutes
    return (
        figures.hours(minutes),
        figures.percent(figures.share(minutes, known)),
        figures.dollars(idle.usd),
    )


def _parts(idle: IdleAmount) -> tuple[str, str, str]:
    """The cells of `PARTS`."""
    return (
        figures.dollars(idle.usd_of(*AVOIDABLE)),
        figures.dollars(idle.usd_of(Saving.SHARED)),
        figures.dollars(idle.usd_of(Saving.SUNK)),
    )


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
            # A name may go on below: where a table is too wide, no number is cut.
            table.add_column(column, max_width=_NAME_COLUMNS, overflow="fold")
        else:
            table.add_column(column, justify="right", no_wrap=True)
    return table


def _with_rest(table: Table, all_rows: Sequence[object], rows: int) -> Table:
    rest = len(all_rows) - rows
    if rest > 0:
        # Without a caption a table ends with an empty line of its own.
        table.caption = f"and {rest:,} more; --rows shows more; --csv and --html show all\n"
    return table


def _name(text: str | None, unknown: str = figures.UNKNOWN) -> Text:
    return Text(figures.name(text) if text else unknown)

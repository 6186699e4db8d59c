"""
The idle report as one HTML file: for a browser, a mail, or a printer.

It has no script, fetches nothing, and says so to the browser by a policy of its own.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from emitter import __version__
from neuron_emf.report import figures, sentences
from neuron_emf.report.holding import Kind
from neuron_emf.report.page_parts import (
    Column,
    facts,
    legend,
    section,
    share_bar,
    states_bar,
    table,
)
from neuron_emf.report.page_parts import sentences as listed
from neuron_emf.report.page_style import CSS
from neuron_wire.holders import core_ranges

if TYPE_CHECKING:
    from neuron_emf.report.comparison import Difference
    from neuron_emf.report.outcome import Outcome

MAX_ROWS: Final = 1000
"""Of each table: more is slow in a browser, and nobody reads it. The CSV has all."""

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


def text(found: Outcome) -> str:
    """The whole file."""
    idle = found.total.idle.core_minutes > 0
    body = [
        f"<h1>{escape(sentences.headline(found))}</h1>\n",
        f'<p class="soft">{escape(sentences.period(found))}</p>\n',
        _facts(found),
        section("What would be saved", listed(sentences.savings(found))),
        section("Clusters", legend(), _clusters(found)),
        *([section("Owners", _owners(found))] if idle else []),
        section("Instances", legend(), _instances(found)),
        *([section("Worst cores", _cores(found))] if idle else []),
        section("Known and unknown", listed(sentences.coverage(found))),
        section("Money", listed(sentences.money(found))),
        section(
            "How it was counted", listed([*sentences.method(found), *sentences.reading(found)])
        ),
        section("The stack's rollups", listed(sentences.rollups(found)), _differences(found)),
    ]
    title = f"Idle report, {figures.moment(found.start_ms)}"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
        f"{''.join(body)}</main>\n<footer>Made by neuron-emf {escape(__version__)} on "
        f"{escape(figures.moment(found.made_ms))}.</footer>\n</body>\n</html>\n"
    )


def _facts(found: Outcome) -> str:
    total = found.total
    return facts(
        [
            ("Idle cores, USD", figures.usd(total.idle.usd)),
            ("Idle core hours", figures.hours(total.idle.core_minutes)),
            (
                "Idle share of known core time",
                figures.percent(figures.share(total.idle.core_minutes, total.cores.known)),
            ),
            ("Whole instances idle, USD", figures.usd(total.whole.usd)),
            ("Unknown core hours", figures.hours(total.cores.unknown)),
            ("Covered by telemetry", figures.percent(total.coverage.percent)),
        ]
    )


def _clusters(found: Outcome) -> str:
    columns = (
        Column("cluster"),
        Column("core time"),
        Column("instances", is_number=True),
        Column("idle core hours", is_number=True),
        Column("idle", is_number=True),
        Column("idle USD", is_number=True),
        Column("whole instances idle, USD", is_number=True),
        Column("unknown core hours", is_number=True),
        Column("covered", is_number=True),
    )
    rows = [
        (
            figures.name(name),
            states_bar(sums.cores),
            f"{sums.instances:,}",
            figures.hours(sums.idle.core_minutes),
            figures.percent(figures.share(sums.idle.core_minutes, sums.cores.known)),
            figures.usd(sums.idle.usd),
            figures.usd(sums.whole.usd),
            figures.hours(sums.cores.unknown),
            figures.percent(sums.coverage.percent),
        )
        for name, sums in found.clusters[:MAX_ROWS]
    ]
    return table(
        _caption("Clusters, the most expensive idle time first", len(found.clusters)), columns, rows
    )


def _owners(found: Outcome) -> str:
    columns = (
        Column("owner"),
        Column("share"),
        Column("cluster"),
        Column("instances", is_number=True),
        Column("idle core hours", is_number=True),
        Column("idle USD", is_number=True),
    )
    most = max((row.time.idle.core_minutes for row in found.owners), default=0)
    rows = [
        (
            figures.owner(row.owner),
            share_bar(
                row.time.idle.core_minutes,
                most,
                "unattached" if row.owner.kind is Kind.NOBODY else "attached",
            ),
            figures.name(row.cluster),
            f"{len(row.time.instances):,}",
            figures.hours(row.time.idle.core_minutes),
            figures.usd(row.time.idle.usd),
        )
        for row in found.owners[:MAX_ROWS]
    ]
    return table(
        _caption("Who held the idle cores; bars are core hours", len(found.owners)), columns, rows
    )


def _instances(found: Outcome) -> str:
    columns = (
        Column("instance"),
        Column("type"),
        Column("cluster"),
        Column("core time"),
        Column("idle core hours", is_number=True),
        Column("idle", is_number=True),
        Column("idle USD", is_number=True),
        Column("whole instance idle, hours", is_number=True),
        Column("of it USD", is_number=True),
        Column("unknown core hours", is_number=True),
    )
    rows = [
        (
            figures.name(one.instance_id),
            figures.name(one.instance_type),
            figures.name(one.cluster),
            states_bar(one.cores),
            figures.hours(one.idle.core_minutes),
            figures.percent(figures.share(one.idle.core_minutes, one.cores.known)),
            figures.usd(one.idle.usd),
            figures.hours(one.whole_minutes),
            figures.usd(one.whole.usd),
            figures.hours(one.cores.unknown),
        )
        for one in found.instances[:MAX_ROWS]
    ]
    return table(
        _caption("Instances, the most expensive idle time first", len(found.instances)),
        columns,
        rows,
    )


def _cores(found: Outcome) -> str:
    columns = (
        Column("instance"),
        Column("cores"),
        Column("owner, last"),
        Column("idle hours of each", is_number=True),
        Column("longest without work", is_number=True),
        Column("idle USD of each", is_number=True),
    )
    rows = [
        (
            figures.name(row.instance.instance_id),
            core_ranges(row.cores),
            figures.owner(row.each.owner),
            figures.hours(row.each.amount.core_minutes),
            figures.duration(row.each.longest_minutes),
            figures.usd(row.each.amount.usd),
        )
        for row in found.cores[:MAX_ROWS]
    ]
    shown = sum(len(row.cores) for row in found.cores[:MAX_ROWS])
    return table(f"The worst {shown:,} of {found.core_count:,} cores that were idle", columns, rows)


def _differences(found: Outcome) -> str:
    worst = found.comparison.worst
    if not worst:
        return ""
    columns = (
        Column("minute"),
        Column("cluster"),
        Column("why"),
        Column("records: lines, rollup", is_number=True),
        Column("idle core minutes: lines, rollup", is_number=True),
        Column("USD: lines, rollup", is_number=True),
    )
    return table("The greatest differences", columns, [_difference(one) for one in worst])


def _difference(one: Difference) -> tuple[str, ...]:
    lines_usd, rollup_usd = one.usd
    return (
        figures.moment(one.minute_ms),
        figures.name(one.cluster),
        one.cause.value,
        f"{one.records[0]:,}, {one.records[1]:,}",
        f"{one.core_minutes[0]:,}, {one.core_minutes[1]:,}",
        f"{figures.usd(lines_usd)}, {'none' if rollup_usd is None else figures.usd(rollup_usd)}",
    )


def _caption(title: str, rows: int) -> str:
    return f"{title}; the first {MAX_ROWS:,} of {rows:,}" if rows > MAX_ROWS else title

"""
The idle report for programs, spreadsheets and browsers: JSON, CSV (RFC 4180) and HTML.

Amounts in JSON and CSV are whole micro-core-minutes and billionths of a dollar as decimals, which
add up to the last digit. An unknown value is null in JSON and empty in CSV, never 0.

This is the only module that knows Jinja2, which escapes names in `page.html`.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import msgspec

from neuron_accounts.ledger import MINUTE_PLACES, USD_PLACES, decimal_text
from neuron_accounts.savings import savings_of
from neuron_emf import command_output
from neuron_emf.report.cost_table import COST_MEMBERS, ROW_LABELS, USD_UNIT_PLACES
from neuron_emf.report.terminal import heading, heading_lines
from neuron_emitter import __version__
from neuron_words.name_words import cell
from neuron_words.quantity_words import iso, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_accounts.savings import Saving
    from neuron_emf.report.chargeback_rows import Chargeback
    from neuron_emf.report.cost_table import CostRow
    from neuron_emf.report.idle_report import IdleReport
    from neuron_wire.line_members import JsonObject

MAX_ROWS_OF_EXPORT: Final = 1_000
"""The rows of a table in HTML: a browser is slow with more. The CSV has all rows."""

_TIMES_WITH_TELEMETRY: Final = ("busy", "used", "idle")
_TIMES: Final = ("allocated", "unknown", "unpriced", *_TIMES_WITH_TELEMETRY)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")


def amounts_of(row: CostRow) -> dict[str, str | None]:
    """Return the amounts of *row* as exact decimals; None if unknown."""
    time = row.time
    texts: dict[str, str | None] = {}
    for name in _TIMES:
        is_unknown = name in _TIMES_WITH_TELEMETRY and not time.known
        minutes = None if is_unknown else getattr(time, name)
        texts[f"{name}_core_minutes"] = _decimal(minutes, MINUTE_PLACES)
    texts["executions"] = None if time.executions is None else str(time.executions)
    for column, name in COST_MEMBERS.items():
        texts[name] = _decimal(row.amount(column), USD_UNIT_PLACES)
    texts["cost_per_million_executions"] = _decimal(row.million_executions_cost, USD_PLACES)
    return texts


def _decimal(whole: int | None, places: int) -> str | None:
    return None if whole is None else decimal_text(whole, places)


def json_text(report: IdleReport) -> str:
    """Return the report as one JSON document with the schema `neuron_emf/schemas/report.json`."""
    reading = report.reading
    micros_of = sorted(report.then.unpriced.items())
    savings = savings_of(report.then.cluster_hours, report.hours)
    table = report.table(report.by)
    problems = _problems(report.bill)
    unpriced = {name: decimal_text(micros, MINUTE_PLACES) for name, micros in micros_of}
    document = {
        "start": iso(report.start_ms),
        "end": iso(report.end_ms),
        "made": iso(report.made_ms),
        "cluster": report.cluster or None,
        "team": report.team or None,
        "headline": report.headline,
        "sentences": [*report.lead, *report.notes],
        "by": report.by,
        "currency": report.currency,
        "total": None if problems else _raw(table.total.exact),
        "rows": [
            {**dict(zip(ROW_LABELS[table.by], row.labels, strict=True)), **_raw(row.exact)}
            for row in table.rows
        ],
        "problems": problems,
        "bases": sorted(report.then.bases),
        "unpriced": [
            {"type": name, "idle_core_minutes": msgspec.Raw(text.encode())}
            for name, text in unpriced.items()
        ],
        "savings": [_saving(saving) for saving in savings],
        "missing": [
            {"where": span.where, "start": iso(span.start_ms), "end": iso(span.end_ms)}
            for span in reading.missing
        ],
        "damaged": [{"what": what, "count": count} for what, count in reading.damaged.items()],
        "reading": {
            "origin": reading.origin,
            "ledger_rows": reading.ledger_rows,
            "copied_ledger_rows": reading.copies,
            "minute_lines": reading.minute_lines,
            "lines_outside": reading.outside,
            "repeated_lines": reading.repeated,
            "unreadable_lines": reading.unreadable,
        },
    }
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _problems(bill: Chargeback | None) -> list[JsonObject]:
    """Return the reasons for which *bill* is refused, each with the amount that it concerns."""
    if bill is None:
        return []
    return [
        {
            "problem": row.problem,
            "found": row.found,
            "amount": msgspec.Raw(f"{row.amount.normalize():f}".encode()),
            "currency": bill.currency_of(row),
        }
        for row in bill.rows
        if row.problem
    ]


def csv_text(report: IdleReport) -> str:
    """Return the rows and the total as CSV with a header. No cell can be a spreadsheet formula."""
    table = report.table(report.by)
    rows: list[Sequence[str | None]] = [
        [*ROW_LABELS[table.by], *amounts_of(table.total.exact), "currency"]
    ]
    for row in table.printed(len(table.rows)):
        names = [label and cell(command_output.shown_name(label)) for label in row.labels]
        rows.append([*names, *amounts_of(row.exact).values(), report.currency])
    return command_output.csv_text(rows)


def html(report: IdleReport) -> str:
    """Return the report as one HTML page for light, dark and print, without scripts or requests."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - 0.1 s and 10 MB for --html

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"heading": heading, "moment": moment, "name": _shown_label}
    source = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    tables = [report.table(by) for by in report.keys]
    page = environment.from_string(source).render(
        report=report,
        tables=[
            (table, ROW_LABELS[table.by], table.printed(MAX_ROWS_OF_EXPORT)) for table in tables
        ],
        headings=lambda column: " ".join(heading_lines(column, report.currency)),
        version=__version__,
    )
    return f"{page.strip()}\n"


def _shown_label(label: str | None) -> str:
    return "" if label is None else command_output.shown_name(label)


def _raw(row: CostRow) -> JsonObject:
    return {name: text and msgspec.Raw(text.encode()) for name, text in amounts_of(row).items()}


def _saving(saving: Saving) -> JsonObject:
    usd = None if saving.saved is None else decimal_text(saving.saved, USD_PLACES)
    minutes = decimal_text(saving.committed, MINUTE_PLACES)
    return {
        "cluster": saving.cluster,
        "hours": saving.hours,
        "instances": saving.instances,
        "released_instances": saving.released,
        "saved_usd": usd and msgspec.Raw(usd.encode()),
        "packed_instances": saving.packed,
        "committed_idle_core_minutes": msgspec.Raw(minutes.encode()),
    }

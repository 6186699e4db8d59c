"""
The idle report for programs, spreadsheets and browsers: JSON, CSV (RFC 4180) and HTML.

Amounts in JSON and CSV are whole micro-core-minutes and billionths of a dollar as decimals, which
add up to the last digit. An unknown value is null in JSON and empty in CSV, never 0.

This is the only module that knows Jinja2, which escapes names in `page.html`.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import msgspec

from neuron_accounts.ledger import MINUTE_PLACES, USD_PLACES
from neuron_accounts.savings import savings_of
from neuron_emf import command_output
from neuron_emf.report.cost_table import (
    COST_MEMBERS,
    ROW_LABELS,
    USD_UNIT_PLACES,
    exact_decimal,
    heading,
)
from neuron_emf.report.terminal import heading_lines
from neuron_emitter import __version__
from neuron_words.name_words import cell
from neuron_words.quantity_words import iso, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_accounts.savings import Saving
    from neuron_emf.report.cost_table import CostRow
    from neuron_emf.report.idle_report import IdleReport
    from neuron_wire.line_members import JsonObject

MAX_ROWS_OF_EXPORT: Final = 1_000
"""The rows of a table in HTML: a browser is slow with more. The CSV has all rows."""

_TIMES_WITH_TELEMETRY: Final = ("busy", "used", "idle")
_TIMES: Final = ("allocated", "unknown", "unpriced", *_TIMES_WITH_TELEMETRY)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")


def amounts_of(row: CostRow) -> dict[str, Decimal | int | None]:
    """Return the exact amounts of *row*; None if unknown."""
    time = row.time
    amounts: dict[str, Decimal | int | None] = {}
    for name in _TIMES:
        is_unknown = name in _TIMES_WITH_TELEMETRY and not time.known
        minutes = None if is_unknown else exact_decimal(getattr(time, name), MINUTE_PLACES)
        amounts[f"{name}_core_minutes"] = minutes
    amounts["executions"] = time.executions
    for column, name in COST_MEMBERS.items():
        units = row.amount(column)
        amounts[name] = None if units is None else exact_decimal(units, USD_UNIT_PLACES)
    million = row.million_executions_cost
    amounts["cost_per_million_executions"] = (
        None if million is None else exact_decimal(million, USD_PLACES)
    )
    return amounts


def json_text(report: IdleReport) -> str:
    """Return the report as one JSON document with the schema `neuron_emf/schemas/report.json`."""
    reading = report.reading
    savings = savings_of(report.then.cluster_hours, report.hours)
    table = report.table(report.by)
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
        "total": None if report.problems else amounts_of(table.total.exact),
        "rows": [
            {**dict(zip(ROW_LABELS[table.by], row.labels, strict=True)), **amounts_of(row.exact)}
            for row in table.rows
        ],
        "problems": report.problems,
        "bases": sorted(report.then.bases),
        "unpriced": [
            {"type": name, "idle_core_minutes": exact_decimal(micros, MINUTE_PLACES)}
            for name, micros in sorted(report.then.unpriced.items())
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
    encoded = msgspec.json.Encoder(decimal_format="number").encode(document)
    text = msgspec.json.format(encoded, indent=2).decode()
    return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)


def csv_text(report: IdleReport) -> str:
    """Return the rows and the total as CSV with a header. No cell can be a spreadsheet formula."""
    table = report.table(report.by)
    rows: list[Sequence[str | None]] = [
        [*ROW_LABELS[table.by], *amounts_of(table.total.exact), "currency"]
    ]
    for row in table.printed(len(table.rows)):
        names = [label and cell(command_output.shown_name(label)) for label in row.labels]
        amounts = [
            None if amount is None else f"{Decimal(amount):f}"
            for amount in amounts_of(row.exact).values()
        ]
        rows.append([*names, *amounts, report.currency])
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


def _saving(saving: Saving) -> JsonObject:
    saved = saving.saved
    return {
        "cluster": saving.cluster,
        "hours": saving.hours,
        "instances": saving.instances,
        "released_instances": saving.released,
        "saved_usd": None if saved is None else exact_decimal(saved, USD_PLACES),
        "packed_instances": saving.packed,
        "committed_idle_core_minutes": exact_decimal(saving.committed, MINUTE_PLACES),
    }

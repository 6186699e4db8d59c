"""
The idle report for programs, spreadsheets and browsers: JSON, CSV (RFC 4180) and one HTML page.

Amounts in JSON and CSV are whole micro-core-minutes and billionths of a dollar as decimals: they
add up to the last digit. What is unknown is null in JSON and empty in CSV, never 0.
The one module that knows Jinja2, which escapes other people's text in `page.html`.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import msgspec

from neuron_accounts.core_time import Part
from neuron_accounts.ledger import MINUTE_PLACES, USD_PLACES, decimal_text
from neuron_emf import command_output
from neuron_emf.report.idle_report import ROW_LABELS
from neuron_emf.report.terminal import cells, heading, label_text
from neuron_emitter import __version__
from neuron_words.name_words import cell
from neuron_words.quantity_words import iso, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_accounts.core_time import CoreTime
    from neuron_accounts.savings import Saving
    from neuron_emf.report.idle_report import IdleReport
    from neuron_wire.line_members import JsonObject

MAX_ROWS_OF_EXPORT: Final = 1_000
"""Rows of a table of the page; a browser is slow with more, and CSV has all."""

_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")


def amounts_of(time: CoreTime) -> dict[str, str | None]:
    """The amounts of *time* as exact decimals; USD is of what has a price."""
    minutes: dict[str, int | None] = {
        name: getattr(time, name) for name in ("allocated", "unknown", "unpriced")
    }
    minutes |= {
        name: getattr(time, name) if time.known else None
        for name in ("busy", "used", "idle", "unpriced_idle")
    }
    usd = {"allocated": time.cost if time.unpriced < time.allocated else None}
    for name, parts in [("idle", [*Part]), *((part.name.lower(), [part]) for part in Part)]:
        usd[name] = time.idle_cost_of(parts) if time.known else None
    wholes = {f"{name}_core_minutes": (minutes[name], MINUTE_PLACES) for name in minutes}
    wholes |= {f"{name}_usd": (usd[name], USD_PLACES) for name in usd}
    wholes["usd_per_million_executions"] = time.million_executions_cost, USD_PLACES
    texts = {
        name: None if whole is None else decimal_text(whole, places)
        for name, (whole, places) in wholes.items()
    }
    return texts | {"executions": None if time.executions is None else str(time.executions)}


def json_text(report: IdleReport) -> str:
    """The report as one JSON document, as `neuron_emf/schemas/report.json` says it."""
    reading, micros_of = report.reading, sorted(report.then.unpriced.items())
    unpriced = {name: decimal_text(micros, MINUTE_PLACES) for name, micros in micros_of}
    document = {
        "start": iso(report.start_ms),
        "end": iso(report.end_ms),
        "made": iso(report.made_ms),
        "cluster": report.cluster or None,
        "headline": report.headline(),
        "sentences": [*report.lead(), *report.notes()],
        "by": report.by,
        "total": _raw(report.then.total),
        "rows": [
            {**dict(zip(ROW_LABELS[report.by], labels, strict=True)), **_raw(time)}
            for labels, time in report.rows()
        ],
        "bases": sorted(report.then.bases),
        "unpriced": [
            {"type": name, "idle_core_minutes": msgspec.Raw(text.encode())}
            for name, text in unpriced.items()
        ],
        "savings": [_saving(saving) for saving in report.savings()],
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


def csv_text(report: IdleReport) -> str:
    """Its rows as CSV, with a header; a spreadsheet sees no formula in a name."""
    rows: list[Sequence[str | None]] = [[*ROW_LABELS[report.by], *amounts_of(report.then.total)]]
    for labels, time in report.rows():
        names = [label and cell(command_output.shown_name(label)) for label in labels]
        rows.append([*names, *amounts_of(time).values()])
    return command_output.csv_text(rows)


def html(report: IdleReport) -> str:
    """One page: light, dark and printed, with no script and nothing fetched."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - for whoever wants a page

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"count": "{:,}".format, "heading": heading, "moment": moment}
    source = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    page = environment.from_string(source).render(
        report=report,
        tables=[(by, labels, report.rows(by)) for by, labels in ROW_LABELS.items()],
        headings=list(cells(report.then.total)),
        cells=cells,
        label_text=label_text,
        max_rows=MAX_ROWS_OF_EXPORT,
        version=__version__,
    )
    return f"{page.strip()}\n"


def _raw(time: CoreTime) -> JsonObject:
    return {name: text and msgspec.Raw(text.encode()) for name, text in amounts_of(time).items()}


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

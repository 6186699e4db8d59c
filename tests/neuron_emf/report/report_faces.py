"""Idle reports of a few minutes, and what readers of each output see."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from html.parser import HTMLParser

from rich.console import Console

from neuron_accounts.core_time import CostRules
from neuron_accounts.prices import Prices
from neuron_accounts.teams import TeamRules
from neuron_accounts.then import then_of
from neuron_emf.reading.minute_lines import MinuteLines
from neuron_emf.reading.periods import WHOLE_TIME, Period
from neuron_emf.report import exports, terminal
from neuron_emf.report.collection import then_by_days
from neuron_emf.report.idle_report import Reading, ledger_report
from neuron_emf.report.settings import IdleReportSettings
from neuron_wire.names import HOUR_MS
from neuron_wire.owners import Owner
from proof.factories.records import message, record

VOID = {"meta", "link", "br", "img"}
EVIL_OWNERS = (
    '<img src=x onerror="alert(1)">',
    "=HYPERLINK(1)",
    "[bold red]x[/]",
    "\x1b[31mred\x1b[0m",
    "a\u202eb",
    '"><script>x</script>',
    "@sum(1)",
    "+1",
    " =1",
    "\u65e5\u672c",
)
"""Names that act on an output that does not escape them."""


class ParsedPage(HTMLParser):
    """A page as a browser parses it: its elements, their attributes, and rows of tables."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.open = []
        self.attributes = []
        self.rows = []
        self.texts = []
        self.feed(text)
        self.close()
        assert [] == self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in VOID or tag == self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in {"td", "th"}:
            self.rows[-1].append(data)


def then_of_lines(lines, rules=None, period=WHOLE_TIME):
    """Return the report's amounts of *lines*."""
    reader = MinuteLines(period, "", rules or CostRules(Prices()))
    return then_by_days(reader.fold_lines(lines), TeamRules())[0]


def report_of(then, by="owner", **reading):
    """Return the report of an hour."""
    return ledger_report(
        IdleReportSettings(by=by),
        Period(490_000 * HOUR_MS, 490_001 * HOUR_MS),
        then,
        Reading(**{"origin": "a test", "is_ledger": True, "hours": 1, "missing": [], **reading}),
    )


def evil_report(by="owner"):
    """Return a report with names that act on a terminal, a browser or a spreadsheet."""
    lines = [message(record(owners=(Owner("0-1", "x"),)))]
    (row,) = MinuteLines(WHOLE_TIME, "", CostRules(Prices())).fold_lines(lines)
    named = [
        row._replace(owner=name, cluster=name, team=name, instance_type=name, instance_id=f"i-{n}")
        for n, name in enumerate(EVIL_OWNERS)
    ]
    return report_of(then_of(named), by)


def full_report(by="owner"):
    """Return a report with busy, idle, unknown and unpriced cores of two clusters."""
    idle = {"core_state": "aa", "idle_minutes": (90, 90), "utilization_percent": (0.0, 0.0)}
    records = [
        record(owners=(Owner("0-1", "ml/llama-0", "ml"),)),
        record(
            seq=2,
            minute=29_400_001,
            core_state="u?",
            utilization_percent=(0.0, None),
            idle_minutes=(90, 0),
        ),
        record(instance_id="i-b", cluster="serving", instance_type="trn2.3xlarge", **idle),
        record(instance_id="i-c", cluster="serving", executions=0, execution_errors=0, **idle),
    ]
    return report_of(then_of_lines(map(message, records)), by)


def printed(report, rows=1000):
    """Return the text of *report* on a terminal."""
    return printed_parts(terminal.parts(report, rows))


def printed_parts(parts):
    """Return *parts* on a terminal of 100 columns."""
    file = io.StringIO()
    console = Console(file=file, width=100, markup=False, highlight=False, emoji=False)
    for part in parts:
        console.print(part)
    return file.getvalue()


def document_of(report):
    """Return the report's JSON, with every digit."""
    return json.loads(exports.json_text(report), parse_float=Decimal, parse_int=Decimal)


def spreadsheet_of(report):
    """Return the rows of the report's CSV."""
    return list(csv.DictReader(io.StringIO(exports.csv_text(report), newline="")))

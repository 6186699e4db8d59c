"""Amounts of a period from ledger and lines are equal, and every output shows them safely."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given, settings

from aggregator.digest.function import Week, digest_message
from neuron_accounts.core_time import CostRules
from neuron_accounts.ledger import LedgerRow
from neuron_accounts.teams import TeamRules
from neuron_accounts.then import summary_key, then_of
from neuron_emf.reading.periods import Period
from neuron_emf.report import exports
from neuron_emf.report.collection import then_by_days
from neuron_emf.report.cost_table import ROW_LABELS
from neuron_wire.names import HOUR_MS, UNKNOWN_OWNER, WEEK_HOURS
from proof.factories.records import message
from tests.aggregator.cluster_world import WORLD_PRICES
from tests.aggregator.settle.test_settle import (
    SETTLED_HOUR,
    Bucket,
    fleets,
    ledger_of,
    settle,
    world_of,
)
from tests.neuron_emf.report.report_faces import (
    EVIL_OWNERS,
    ParsedPage,
    document_of,
    evil_report,
    full_report,
    printed,
    report_of,
    spreadsheet_of,
    then_of_lines,
)

RATE = "cost_per_million_executions"


def known(times):
    """Return the known core time by key; without stop events, unknown minutes differ."""
    return {
        key: (time.known, time.busy, time.used, time.idle_by_part, time.cost_by_part)
        for key, time in times.items()
        if time.known
    }


def check_then(objects, lines, rules):
    """Check that ledger, lines, digest and single rows give the same amounts."""
    settled = ledger_of(objects)
    then, read = then_by_days(settled, TeamRules())
    assert then_of(settled) == then
    assert len(settled) == read
    hours = range(SETTLED_HOUR, SETTLED_HOUR + 1)
    period = Period(hours.start * HOUR_MS, hours.stop * HOUR_MS)
    by_lines = then_of_lines(lines, rules, period)
    for name in ("owners", "instances", "days"):
        assert known(getattr(then, name)) == known(getattr(by_lines, name)), name
    # A line before the hour may have the type.
    assert sum(then.unpriced.values()) == sum(by_lines.unpriced.values())
    week = Week(hours=hours)
    week.fold_hours((hour, objects[summary_key(hour)]) for hour in hours)
    assert then.owners == week.owners
    assert known(then.days) == known(week.days)
    assert then.bases == week.bases
    assert then.unpriced == week.unpriced
    assert then.cluster_hours == week.cluster_hours
    before = Week(hours=range(SETTLED_HOUR - WEEK_HOURS, SETTLED_HOUR))
    digest = digest_message(week, before, "s", "us-east-1")
    report = report_of(then)
    assert f"\n{report.headline}\n" in digest.body
    amount = report.table(report.by).printed(1)[-1].cells()["idle"].replace("<", "under ")
    if then.total.idle and then.total.has_idle_price:
        subject = f"s: {amount} USD idle in 7 days; 1 of 1 hours settled"
        assert subject == digest.subject
    assert sum(row.idle_cost or 0 for row in settled) == sum(then.total.cost_by_part)
    return then


def check_faces(report):
    """Check that JSON, CSV, page and terminal show the same rows, whose sums are the total."""
    document = document_of(report)
    sheet = spreadsheet_of(report)
    names = list(document["total"])
    for name in {*names} - {RATE}:
        total = sum(row[name] or 0 for row in document["rows"])
        assert total == (document["total"][name] or 0), name
    for row in (document["total"], *document["rows"]):
        idle = [row[name] or 0 for name in ("avoidable_cost", "shared_cost", "committed_cost")]
        assert sum(idle) == (row["idle_cost"] or 0)
        assert sum(idle) + (row["not_idle_cost"] or 0) + (row["unknown_cost"] or 0) == (
            row["cost"] or 0
        )
    assert [[row[name] for name in names] for row in (*document["rows"], document["total"])] == [
        [Decimal(row[name]) if row[name] else None for name in names] for row in sheet
    ]
    table = report.table(report.by)
    text = " ".join(printed(report).split())
    for cells in cells_of(table):
        numbers = " ".join(" ".join(cells).split())
        assert f" {numbers} " in text, numbers


def cells_of(table):
    """Return the cells of each row of *table* and of its total, uncut."""
    cells = [row.cells() for row in table.printed(len(table.rows))]
    return [[row[column] for column in table.columns()] for row in cells]


def check_page(report):
    """Check that the page has every table, cell by cell."""
    page = ParsedPage(exports.html(report))
    assert report.headline in page.texts
    for by in ROW_LABELS:
        for cells in cells_of(report.table(by)):
            assert any(row[-len(cells) :] == cells for row in page.rows), (by, cells)


@given(fleets())
@settings(max_examples=200)
def test_then_is_the_ledger_and_the_lines(fleet):
    """
    The ledger gives the same amounts as the lines, to the last digit.

    The records are those that the stack accepted, with restarts, copies, doubles and instances that
    become silent. All ways to add up agree.
    """
    bucket = Bucket()
    settle(world_of(fleet), bucket)
    then = check_then(bucket, map(message, fleet), CostRules(WORLD_PRICES))
    for by in ROW_LABELS:
        check_faces(report_of(then, by))
    check_page(report_of(then))


def test_an_unknown_value_is_not_zero_on_any_face():
    """Unknown cores and cores without a price are null, an empty cell or a word, and never 0."""
    for by in ROW_LABELS:
        check_faces(full_report(by))
    check_page(full_report())
    owners = {row["owner"]: row for row in document_of(full_report())["rows"]}
    assert owners[UNKNOWN_OWNER]["idle_cost"] is None
    assert owners[UNKNOWN_OWNER]["idle_core_minutes"] is None
    clusters = {row["instance_id"]: row for row in document_of(full_report("instance"))["rows"]}
    assert clusters["i-b"]["cost"] is None
    assert 2 == clusters["i-b"]["unpriced_core_minutes"]
    text = " ".join(printed(full_report()).split())
    assert (
        "Without a price and in no amount: us-east-1/trn2.3xlarge (0.0 core hours). Set "
        "PriceOverrides=us-east-1/trn2.3xlarge=USD."
    ) in text
    nothing = report_of(then_of_lines([]))
    assert "No core was known." == nothing.headline
    assert document_of(nothing)["total"]["busy_core_minutes"] is None


TOLD = LedgerRow(
    hour=SETTLED_HOUR,
    cluster="serving",
    instance_id="i-1",
    owner="chat",
    allocated=60_000_000,
    covered=1,
    busy=0,
    used=0,
    idle=0,
    list_cost=3 * 10**9,
    idle_cost=0,
    executions=2_000_000,
    basis="list",
)
SILENT_ROW = TOLD._replace(instance_id="i-2", executions=None)
UNPRICED_ROW = TOLD._replace(instance_id="i-3", list_cost=None, unpriced=60_000_000, basis=None)


@pytest.mark.parametrize(
    ("settled", "expected", "shown"),
    [
        ([TOLD], "1.5", ["2,000,000", "1.50"]),
        ([TOLD, TOLD._replace(instance_id="i-2", executions=0)], "3", ["2,000,000", "3.00"]),
        ([TOLD, SILENT_ROW], "1.5", ["2,000,000", "1.50"]),
        ([TOLD, SILENT_ROW._replace(owner="[unallocated]")], "1.5", ["2,000,000", "1.50"]),
        ([TOLD._replace(executions=7)], "428571.428571429", ["7", "428,571.43"]),
        ([TOLD._replace(executions=0)], None, ["0", "-"]),
        ([SILENT_ROW], None, ["-", "-"]),
        ([TOLD, UNPRICED_ROW], "1.5", ["4,000,000", "1.50"]),
    ],
    ids=[
        "busy or not",
        "waiting",
        "unknown",
        "unallocated",
        "rounded once",
        "none",
        "silent",
        "part",
    ],
)
def test_a_million_executions_cost_what_their_owners_held(settled, expected, shown):
    """The cost of a million executions covers only hours with known executions, and is never 0."""
    report = report_of(then_of(settled), "cluster")
    (row,) = document_of(report)["rows"]
    assert (expected and Decimal(expected)) == row[RATE]
    (cells, _) = cells_of(report.table(report.by))
    assert shown == [cells[2], cells[-1]]


def test_a_name_commands_nothing():
    """A name cannot act on a terminal, a spreadsheet or a page, and is unchanged in JSON."""
    text = printed(evil_report())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "?bold red?x?/?" in text
    for by in ("owner", "cluster", "instance"):
        for row in spreadsheet_of(evil_report(by)):
            assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in row.values())
    page = ParsedPage(exports.html(evil_report()))
    assert {"script", "img", "a"}.isdisjoint(page.tags)
    assert not {name for name, _ in page.attributes if name.startswith("on")}
    text = exports.json_text(evil_report())
    assert text.isascii()
    assert {*EVIL_OWNERS} == {row["owner"] for row in json.loads(text)["rows"]}


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (360, "dark")])
@pytest.mark.parametrize("report", [full_report, evil_report])
def test_the_page_is_accessible(chromium, tmp_path, report, width, scheme):
    """
    The page has no accessibility violations, and a foreign name loads and runs nothing.

    A request to elsewhere or an error of the page fails the test.
    """
    path = tmp_path / "idle.html"
    path.write_text(exports.html(report()), "utf-8")
    seen = []
    viewport = {"width": width, "height": 900}
    with chromium.new_page(viewport=viewport, color_scheme=scheme) as page:
        for event in ("console", "pageerror", "dialog"):
            page.on(event, lambda message: seen.append(str(message)))
        page.on("request", lambda request: seen.append(request.url))
        page.goto(path.as_uri())
        assert [path.as_uri()] == seen
        violations = Axe().run(page).response["violations"]
        assert [] == [(violation["id"], violation["nodes"][0]["html"]) for violation in violations]
        assert 0 == page.evaluate("document.images.length + document.scripts.length")

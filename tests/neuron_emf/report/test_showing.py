"""One idle report on each surface: the same numbers, and foreign names harmless on all."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import assume, given
from rich.console import Console

from neuron_emf.reading.periods import Period
from neuron_emf.report import exports, page
from neuron_emf.report.counting import DAY_MS
from neuron_emf.report.exports import document
from neuron_emf.report.sentences import headline
from neuron_emf.report.terminal import parts
from neuron_wire.owners import Owner
from neuron_wire.prices import USD_PER_HOUR
from tests.neuron_emf.report.minutes import MINUTE_MS, START_MS, fleets, minute
from tests.neuron_emf.report.reports import evil_report, full_report, report_of

VOID = {"meta", "rect", "link", "br", "img"}


class Page(HTMLParser):
    """What a browser would make of a page: its elements, and the text between them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open, self.attributes = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in VOID or tag == self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def printed(found, rows=10):
    file = io.StringIO()
    console = Console(file=file, width=100, markup=False, highlight=False, emoji=False)
    for part in parts(found, rows):
        console.print(part)
    return file.getvalue()


def rows_of(found):
    return list(csv.DictReader(io.StringIO(exports.spreadsheet(found), newline="")))


# --- the same numbers ---


def test_every_surface_tells_the_same_money():
    """Sums and single rows, in USD and in core hours."""
    found = full_report()
    usd = found.total.idle.usd
    shown = document(found)
    total = rows_of(found)[0]
    assert usd == pytest.approx(shown["total"]["idle_usd"], abs=1e-6)
    assert ("total", shown["total"]["idle_usd"]) == (total["row"], float(total["idle_usd"]))
    assert f"Idle cores cost {usd:,.2f} USD" in printed(found)
    assert f"Idle cores cost {usd:,.2f} USD" in Page(page.text(found)).text


def test_the_rows_of_each_kind_add_up_to_the_total():
    """In the spreadsheet too, where somebody will add them up."""
    rows = rows_of(full_report())
    kinds = {"total", "cluster", "owner", "team", "day", "instance", "core"}
    assert kinds == {one["row"] for one in rows}
    sums = {
        kind: sum(float(one["idle_core_minutes"] or 0) for one in rows if one["row"] == kind)
        for kind in kinds
    }
    assert 1 == len(set(sums.values()))


@given(fleets())
def test_amounts_add_up_to_the_last_digit(records):
    """
    In each list of the JSON, for any fleet: each column to that of the total, and the parts of
    each row to its amount. Rounded one by one they would not.
    """
    assume(records)
    shown = document(report_of(*records))
    parts = "avoidable_held_usd", "avoidable_unheld_usd", "shared_usd", "sunk_usd"

    def micros(row, column):
        return round(1e6 * (row.get(column) or 0))

    for row in (shown["total"], *shown["owners"], *shown["days"], *shown["instances"]):
        assert micros(row, "idle_usd") == sum(micros(row, part) for part in parts)
    for kind in ("clusters", "owners", "teams", "days", "instances"):
        for column in (*parts, "idle_usd"):
            total = micros(shown["total"], column)
            assert total == sum(micros(row, column) for row in shown[kind]), kind
    minutes = [
        sum(round(1e6 * row.get("idle_core_minutes", 0)) for row in shown[kind])
        for kind in ("clusters", "owners", "teams", "days", "instances")
    ]
    assert {1_000_000 * shown["total"]["idle_core_minutes"]} == set(minutes)


def test_days_are_told_one_by_one():
    """Also one without a line, of which nobody knows anything; with the share of its minutes."""
    midnight = (DAY_MS - START_MS % DAY_MS) // MINUTE_MS
    found = report_of(
        minute(midnight - 1, "aa"), minute(midnight + 1440, "aa"), minute(midnight + 1441, "ba")
    )
    days = document(found)["days"]
    assert [(1, 1, 2), (1440, 0, None), (2, 2, 3)] == [
        (day["minutes"], day["minutes_with_data"], day.get("idle_core_minutes")) for day in days
    ]
    for text in (printed(found), Page(page.text(found)).text):
        assert all(day["day"] in text for day in days)
    assert [text for text in printed(found).splitlines() if text.split()[1:] == ["0.0", "%"]]
    assert "Days" not in printed(report_of(minute(0, "aa")))


def test_no_number_is_cut_where_names_are_long():
    """They go on below instead; half of a number is another number."""
    owners = (Owner("0-1", "n" * 128, "t" * 63),)
    found = report_of(minute(0, "aa", owners=owners, cluster="c" * 255, instance="i" * 128))
    rows = [line.split() for line in printed(found).splitlines() if line.strip()]
    assert "\u2026" not in printed(found)
    starts = [row for row in rows if row[0].startswith(("ccccc", "nnnnn", "iiiii"))]
    assert 3 == sum(row[-1] in {"0.0", "0.02"} for row in starts if len(row) > 3)


def test_what_it_costs_in_a_month_is_said_of_the_time_with_data():
    """An hour's idle USD is that hour's, however much longer was asked for: 730 of them."""
    found = report_of(
        *(minute(number, "aa", lifecycle="spot") for number in (*range(30), *range(90, 120)))
    )
    month = 730 * USD_PER_HOUR["us-east-1"]["trn1.2xlarge"]
    assert month == pytest.approx(document(found)["a_month_at_this_rate"]["avoidable_usd"])
    for text in (printed(found), Page(page.text(found)).text):
        said = " ".join(text.split())
        assert f"At this rate: {month:,.2f} USD per month, of which {month:,.2f} avoidable" in said
        assert "data for 50.0 % of the requested time." in said


@pytest.mark.parametrize(
    ("minutes_told", "is_said"), [(range(2000), False), (range(50, 2000), True)]
)
def test_the_headline_says_when_data_are_missing(minutes_told, is_said):
    """And nothing where there are all, or only what is too new to have come."""
    asked = Period(START_MS, START_MS + 2004 * MINUTE_MS)
    found = report_of(
        *(minute(number, "b") for number in minutes_told), asked=asked, made_ms=asked.end_ms
    )
    assert is_said == ("97.5 % of the requested time" in headline(found))
    assert is_said == ("97.5 %: sums and shares" in printed(found))


def test_teams_and_unknown_cores_have_rows():
    """By the words that stand beside names everywhere."""
    owners = (Owner("0", "ml/a", "ml"),)
    found = report_of(minute(0, "aa?", owners=owners, owners_more="1"))
    rows = [" ".join(text.split()) for text in printed(found).splitlines()]
    assert "[others] [no team] research 0.0 under 0.1 0.01 0.00" in rows
    assert "[unknown] [no team] research under 0.1 unknown unknown unknown" in rows
    assert "ml under 0.1 0.01 0.00 0.01 0.00" in rows
    for text in ("[others]", "[unknown]", "ml/a", "[no team]"):
        assert text in Page(page.text(found)).text


def test_what_nobody_knows_is_no_zero_anywhere():
    """An instance without a price: no price, null, an empty cell."""
    found = report_of(minute(0, "aa", instance_type="trn2.3xlarge"))
    assert document(found)["total"]["idle_usd"] is None
    assert "" == rows_of(found)[0]["idle_usd"]
    assert "no price" in printed(found)
    assert "no price" in Page(page.text(found)).text
    for text in (printed(found), Page(page.text(found)).text):
        assert "their price is unknown" in text
        assert "0.00" not in text


@pytest.mark.parametrize(
    "said",
    [
        "71.4 % of the time",  # 5 of 7 minutes
        "not counted as idle",
        "Two emitters reported",
        "trn2.3xlarge (under 0.1 core hours)",
        "override of inf2.xlarge",
        "2 lines repeated, counted once",
        "1 line could not be read",
        "1.235 GB: 0.01 USD",
        "lines came too late for the rollup",
    ],
)
def test_what_limits_the_numbers_is_said_beside_them(said):
    """On the terminal and on the page, in the same words."""
    found = full_report()
    for text in (printed(found), Page(page.text(found)).text):
        assert said in " ".join(text.split())


@pytest.mark.parametrize("rows", [1, 10])
def test_a_heading_has_an_empty_line_above_it(rows):
    """Also after a table that leaves rows out."""
    lines = [text.rstrip() for text in printed(full_report(), rows).splitlines()]
    assert ("more; --rows" in "".join(lines)) == (rows == 1)
    headings = ["Clusters", "Owners", "Instances", "Worst cores", "Data coverage"]
    assert [""] * len(headings) == [lines[lines.index(heading) - 1] for heading in headings]


def test_nothing_idle_is_said_as_such():
    """Without tables of nothing."""
    found = report_of(minute(0, "bb"))
    for text in (printed(found), Page(page.text(found)).text):
        assert "No core was idle." in text
        assert "Nothing: no core was idle." in text
        assert "Owners" not in text


def test_cut_tables_say_what_is_left_out():
    """And the sums above them are whole."""
    executions = [0, 0, 80, None, 0]
    records = [
        minute(0, "a", instance=f"i-{n}", cluster=f"c{n}", executions=executions[n])
        for n in range(5)
    ]
    shown = printed(report_of(*records), rows=2)
    assert 3 == shown.count("and 3 more")
    said = " ".join(shown.split())
    assert "1 instance little used, without a busy core: i-2 (80 executions)." in said
    assert "3 instances without a busy core or an execution: i-0, i-1, i-4." in said
    assert "1 instance without a busy core, executions not told: i-3." in said


# --- foreign names ---


def test_a_terminal_is_told_nothing_by_a_name():
    """Neither colors nor markup."""
    shown = printed(evil_report(), rows=100)
    assert shown.replace("\n", "").isprintable()
    assert "[bold red]x[/]" in shown
    assert "?[31mred?[0m" in shown


def test_a_browser_is_told_nothing_by_a_name():
    """The page has no element, no attribute and no address that it has not of itself."""
    evil, plain = Page(page.text(evil_report())), Page(page.text(full_report()))
    assert set(evil.tags) <= set(plain.tags)
    assert {name for name, _ in evil.attributes} <= {name for name, _ in plain.attributes}
    assert "script" not in evil.tags
    assert '<img src=x onerror="alert(1)">' in evil.text
    assert [] == evil.open


def test_a_spreadsheet_sees_no_formula_in_a_name():
    """Behind an apostrophe; also behind a blank, which some spreadsheets leave out."""
    cells = [cell for row in rows_of(evil_report()) for cell in row.values()]
    assert [] == [cell for cell in cells if cell.strip().startswith(("=", "+", "-", "@"))]
    assert "'=HYPERLINK(1)" in cells
    assert "' =1" in cells


def test_a_program_gets_names_as_they_are():
    """JSON has its own way of writing them down."""
    shown = json.loads(json.dumps(document(evil_report()), allow_nan=False))
    assert '<img src=x onerror="alert(1)">' in {one["cluster"] for one in shown["clusters"]}
    assert "=HYPERLINK(1)" in {one["owner"] for one in shown["owners"]}


# --- forms ---


def test_the_file_of_rows_is_csv_as_rfc_4180_has_it():
    """One header, CRLF, quotes doubled within quotes, as many cells in each row."""
    text = exports.spreadsheet(evil_report())
    assert text.endswith("\r\n")
    assert text.startswith(",".join(exports.COLUMNS) + "\r\n")
    assert "\n" not in text.replace("\r\n", "")
    assert '"""><script>x</script>i5"' in text
    widths = {len(row) for row in csv.reader(io.StringIO(text, newline=""), strict=True)}
    assert {len(exports.COLUMNS)} == widths


def test_the_page_needs_nothing_else():
    """No script, no address, and a policy that forbids both."""
    text = page.text(full_report())
    found = Page(text)
    assert not {"script", "link", "img", "iframe"} & set(found.tags)
    assert not re.search(r"https?:|url\(|@import", text)
    assert any(str(value).startswith("default-src 'none';") for _, value in found.attributes)
    assert [] == found.open


def test_bars_are_shares_of_a_whole():
    """A quarter busy, a quarter attached, half unattached: 25, 25 and 50 of 100."""
    text = page.text(report_of(minute(0, "bauu", idle=(0, 0, 0, 60))))
    bar = re.search(r'<svg class="bar".*?</svg>', text)[0]
    assert [
        ("busy", "0", "25"),
        ("attached", "25", "25"),
        ("unattached", "50", "50"),
    ] == re.findall(r'class="(\w+)" x="([\d.]+)" width="([\d.]+)"', bar)


def test_every_table_names_its_rows_and_columns():
    """For whoever hears the page instead of seeing it."""
    text = page.text(full_report())
    tables = re.findall(r"<table>.*?</table>", text, re.DOTALL)
    assert 5 == len(tables)
    for one in tables:
        assert "<caption>" in one
        heads, body = one.split("<tbody>")
        assert heads.count("<th ") == heads.count('scope="col"')
        assert body.count("<tr>") == body.count('<th scope="row"')

"""The cost of a team: only its rows, the change, and what the amounts leave out."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_accounts.ledger import LedgerRow
from neuron_accounts.then import then_of
from neuron_emf.report.cost_table import CostRow, cost_table
from neuron_emf.report.team_report import rows_not_in_it, team_parts, team_report
from neuron_emitter.errors import SettingsError
from neuron_wire.names import HOUR_MS
from tests.neuron_emf.report.report_faces import printed_parts, report_of
from tests.neuron_emf.report.test_cost_table import ledger_rows

AMOUNT = re.compile(r"(?<!<)[-+]?\b[0-9,]+\.[0-9]{2}\b(?! *%)")
PER_HOUR = "Change per covered hour: -40.0 % (744 and 372 hours); 2026-02 cost 10.00 USD."
UNOWNED = {"[unallocated]", "[unknown]"}


def cents_in(sentence):
    """Return all amounts with two decimals, in cents."""
    return [int(re.sub("[,.]", "", text)) for text in AMOUNT.findall(sentence)]


def line_of(report, start):
    """Return the line of the terminal that starts with *start*."""
    lines = printed_parts(team_parts(report)).splitlines()
    return next(line for line in lines if line.startswith(start))


def report_with(rows, hours=744):
    """Return the report of *rows* in *hours* covered hours."""
    return report_of(then_of(rows), hours=hours)


@given(st.lists(ledger_rows(), max_size=30))
def test_a_team_has_its_rows_and_the_rest_is_named(rows):
    """A team's owners and clusters add up to its total, and cost without an owner is named."""
    own = [row for row in rows if row.team == "ml" and row.owner not in UNOWNED]
    if not own:
        with pytest.raises(SettingsError, match="No owner of team ml in 2026-10"):
            team_report(report_with(rows), None, "ml", "2026-10")
        return
    whole = report_with(rows)
    report = team_report(whole, None, "ml", "2026-10")
    clusters = {row.cluster for row in own}
    outside = [
        row
        for row in rows
        if row.cluster in clusters
        and (row.owner in UNOWNED or (row.owner == "[others]" and row.team is None))
    ]
    usd = sum(row.list_cost or 0 for row in own)
    for by in report.keys:
        assert usd * 10**9 == (report.table(by).total.exact.amount("cost") or 0)
    owners = report.table("owner")
    assert {*map(repr, whole.table("owner").rows)} >= {*map(repr, owners.rows)}
    rest = rows_not_in_it("ml", whole.table("owner"), "")
    assert sum(row.allocated for row in outside) == rest.total.exact.time.allocated
    cost_cents = owners.total.column_cents("cost")
    assert cost_cents == sum(cents_in(line_of(report, "Clusters")))


NAMES = st.text("abcdefghijklmnop-/", min_size=1, max_size=60)


@given(st.lists(st.tuples(NAMES, NAMES, ledger_rows()), min_size=1, max_size=12), NAMES)
def test_the_answer_has_at_most_15_lines(rows, team):
    """An answer has at most 15 lines of 100 columns, for any number and length of names."""
    named = [
        row._replace(owner=owner, cluster=cluster, team=team, basis="list price, us-west-2")
        for owner, cluster, row in rows
    ]
    rest = [row for _, _, row in rows]
    before = report_with(named, hours=600)
    report = team_report(report_with([*named, *rest]), before, team, "2026-10")
    assert printed_parts(team_parts(report)).count("\n") <= 15


def row_of(nano_usd):
    """Return an hour of ann in team ml."""
    return LedgerRow(
        hour=490_000,
        cluster="research",
        instance_id="i-a",
        owner="ann",
        team="ml",
        allocated=60 * 10**6,
        covered=60,
        list_cost=nano_usd,
        unpriced=60 * 10**6 if nano_usd is None else 0,
    )


def change_of(now, before):
    """Return the sentence about the change."""
    return team_report(now, before, "ml", "2026-10").notes[0]


def before_with(rows, hours):
    """Return the report of the month before."""
    start_ms = 492_000 * HOUR_MS  # 2026-02
    return replace(report_with(rows, hours), start_ms=start_ms)


@given(st.integers(1, 10**13), st.integers(1, 10**13), st.integers(1, 744), st.integers(1, 744))
def test_the_change_is_of_equal_hours(now_nanos, nanos_before, hours, hours_before):
    """Periods with different covered hours are compared per hour, next to the amount before."""
    now = report_with([row_of(now_nanos)], hours)
    before = before_with([row_of(nanos_before)], hours_before)
    change = change_of(now, before)
    assert ("per covered hour" in change) == (hours != hours_before)
    share = re.search(r"([-+][0-9.]+) %", change)
    cents, cents_before = (round(Fraction(nanos, 10**7)) for nanos in (now_nanos, nanos_before))
    if share is not None:
        ratio = Fraction(cents, hours) / Fraction(cents_before, hours_before) - 1
        assert abs(100 * ratio - Fraction(share[1])) <= Fraction(1, 20) + Fraction(1, 10**9)
    amounts = [cents - cents_before] if hours == hours_before else []
    assert [*amounts, cents_before] == cents_in(change)


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        (12, None, "The change is unknown: no hour before this period can be read."),
        (12, ([], 0), "The change is unknown: no hour before this period can be read."),
        (12, ([], 744), "Change: +12.00 USD (from nothing); 2026-02 cost 0.00 USD."),
        (10, ([10], 744), "Change: +0.00 USD (+0.0 %); 2026-02 cost 10.00 USD."),
        (12, ([10], 744), "Change: +2.00 USD (+20.0 %); 2026-02 cost 10.00 USD."),
        (12, ([None], 744), "The change against 2026-02 is unknown: no core has a price."),
        (None, ([10], 744), "The change against 2026-02 is unknown: no core has a price."),
        (12, ([10], 372), PER_HOUR),
    ],
)
def test_an_unknown_period_before_is_not_zero(now, before, expected):
    """A team without a core before cost nothing; hours that are not settled are unknown."""

    def rows(amounts):
        return [row_of(usd if usd is None else usd * 10**9) for usd in amounts]

    if before is not None:
        before = before_with(rows(before[0]), before[1])
    assert expected == change_of(report_with(rows([now])), before)


def test_cost_collected_under_a_name_is_not_in_a_team():
    """The cost in `--unassigned pool` is named, unless the team itself has that name."""
    billed = CostRow(billed=[1, 0, 0, 0, 0, 0])
    table = cost_table("owner", [(("ann", "ml", "c"), billed), (("pool", "pool", None), billed)])
    sums = {team: rows_not_in_it(team, table, "pool").total.exact.billed for team in ("ml", "pool")}
    assert {"ml": billed.billed, "pool": None} == sums

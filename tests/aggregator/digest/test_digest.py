"""The weekly digest: exact sums, missing hours, and what the text never claims."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from aggregator.digest.function import Week, digest_message, digest_text, last_midnight
from neuron_accounts import then
from neuron_accounts.ledger import LedgerRow
from neuron_accounts.teams import TeamRules
from neuron_accounts.then import then_of
from neuron_emf.report.collection import then_by_days
from neuron_emf.report.cost_table import then_table
from neuron_wire.names import WEEK_HOURS
from neuron_words.then_words import headline

END_HOUR = 490_000
WEEK_OF_HOURS = range(END_HOUR - WEEK_HOURS, END_HOUR)
CORE_HOUR = 60 * 10**6
NANOS = 10**9


def row(hour=END_HOUR - 1, owner="slurm:7 ann", **changes):
    """Return a core-hour of an owner, idle and avoidable, with a price of 1 USD."""
    given = {
        "cluster": "research",
        "instance_id": "i-1",
        "allocated": CORE_HOUR,
        "covered": CORE_HOUR,
        "busy": 0,
        "used": 0,
        "idle": CORE_HOUR,
        "avoidable": CORE_HOUR,
        "list_cost": NANOS,
        "idle_cost": NANOS,
        "avoidable_cost": NANOS,
        "basis": "list price, us-east-1, 2026-11-22",
        "region": "us-east-1",
        "instance_type": "trn1.2xlarge",
    }
    return LedgerRow(hour=hour, owner=owner, **{**given, **changes})


def week_of(rows, hours=WEEK_OF_HOURS, missing=()):
    """Return seven days, all in the ledger except the *missing* hours."""
    week = Week(hours=hours)
    week.fold_hours(
        (hour, then_of([row for row in rows if row.hour == hour]).summary())
        for hour in hours
        if hour not in missing
    )
    return week


def said(rows=(), before=None, missing=()):
    """Return the text of a week on one line."""
    days = range(WEEK_OF_HOURS.start - WEEK_HOURS, WEEK_OF_HOURS.start)
    before = before if before is not None else week_of([row(WEEK_OF_HOURS.start - 1)], days)
    return " ".join(digest_text(week_of(rows, missing=missing), before, "s", "us-east-1").split())


def possible_row(idle, cost, *, is_avoidable, **changes):
    """
    Return a row that settle can write: without idle time no cost, and avoidable in full or not.
    """
    cost = cost if idle else 0
    avoidable = {"avoidable": idle, "avoidable_cost": cost}
    if not is_avoidable:
        avoidable = {"avoidable": 0, "avoidable_cost": None if cost is None else 0}
    unpriced = {"list_cost": None, "basis": None} if cost is None else {}
    busy = CORE_HOUR - idle
    return row(idle=idle, busy=busy, idle_cost=cost, **avoidable, **unpriced, **changes)


LEDGER_ROWS = st.lists(
    st.builds(
        possible_row,
        hour=st.sampled_from([WEEK_OF_HOURS.start, END_HOUR - 1]),
        owner=st.sampled_from(["a", "b", "[unallocated]"]),
        cluster=st.sampled_from(["x", "y"]),
        instance_id=st.sampled_from(["i-1", "i-2", "i-3"]),
        idle=st.integers(0, CORE_HOUR),
        cost=st.none() | st.sampled_from([1, 3_333_333, 5_000_000]) | st.integers(0, NANOS),
        is_avoidable=st.booleans(),
    ),
    max_size=12,
)


@given(LEDGER_ROWS)
def test_a_summary_does_not_depend_on_the_order_of_rows(rows):
    """Equal rows in any order give the same summary, byte for byte."""
    assert then_of(rows).summary() == then_of(rows[::-1]).summary()


@given(LEDGER_ROWS)
def test_the_digest_prints_the_amounts_of_the_report(rows):
    """Each owner and instance has the idle cost of its row in the report's table, to the cent."""
    report, _ = then_by_days(rows, TeamRules())
    text = digest_text(week_of(rows), Week(hours=WEEK_OF_HOURS), "s", "us-east-1")
    assert headline(report.total) in text
    owners, instances = (
        {
            f"{row.labels[0]}, cluster {row.labels[-1]}": row.cells()["idle"]
            for row in then_table(report, by).printed(len(rows))
            if row.exact.time.idle
        }
        for by in ("owner", "instance")
    )
    printed = re.findall(
        r"^ +(\S+|no price)(?: USD)?  (.+): [0-9.]+ core hours", text, re.MULTILINE
    )
    assert min(5, len(owners) - 1) + min(5, len(instances) - 1) == len(printed) or not printed
    for amount, name in printed:
        cells = instances if name.startswith("i-") else owners
        assert cells[name] == amount


def test_a_summary_lists_the_dearest_instances_and_every_owner(monkeypatch):
    """
    A summary lists the most expensive instances and every owner, and the text counts the rest.
    """
    monkeypatch.setattr(then, "MAX_INSTANCES", 6)
    rows = [row(owner=f"o{n}", instance_id=f"i-{n}", idle_cost=n * NANOS) for n in range(1, 9)]
    week = week_of(rows)
    assert 8 == len(week.owners)
    assert {f"i-{n}" for n in range(3, 9)} == {i for i, _ in week.instances}
    assert 2 == week.unlisted
    assert 36 * NANOS == week.total.idle_cost
    assert "4.00 USD i-4, cluster research: 1.0 core hours and at least 1 more" in said(rows)
    assert "4.00 USD o4, cluster research: 1.0 core hours and 3 more" in said(rows)


def test_missing_hours_are_named_and_are_no_saving():
    """
    Missing hours are counted as missing, not as savings: the change compares costs per settled
    hour.
    """
    rows = [row(hour) for hour in WEEK_OF_HOURS]
    before = week_of(rows)
    week = week_of(rows, missing=WEEK_OF_HOURS[:84])
    message = digest_message(week, before, "s", "us-east-1")
    text = message.body
    assert "As much per settled hour as in the 7 days before (168.00 USD)." in text
    assert "of stack s: 84 of 168 hours from 2025-11-17 16:00 UTC to 2025-11-24 16:00" in text
    subject = "84.00 USD idle in 7 days; 84 of 168 hours settled"
    assert f"s: {subject}" == message.subject
    assert subject == digest_message(week, before, "s" * 60, "us-east-1").subject


def test_a_week_without_a_ledger_has_no_cost():
    """A week without a ledger has no cost, and is not a week without idle cores."""
    shown = said(missing=WEEK_OF_HOURS)
    assert "No hour of these days is in the ledger." in shown
    assert "0.00" not in shown
    unknown = row(owner="[unknown]", busy=None, idle=None, idle_cost=None)
    assert "No core was known." in said([unknown])
    assert "The 7 days before are not in the ledger." in said(
        [row()], before=Week(hours=WEEK_OF_HOURS)
    )


def test_what_has_no_price_is_named_and_not_free():
    """Instances without a price are named by region and type, and are in no amount."""
    unpriced = {"list_cost": None, "idle_cost": None, "avoidable_cost": None, "basis": None}
    shown = said([row(instance_type="trn2.48xlarge", **unpriced)])
    assert "Without a price and in no amount: us-east-1/trn2.48xlarge (1.0 core hours)." in shown
    assert "The price of idle cores is unknown: 1.0 core hours idle" in shown
    assert "no price slurm:7 ann" in shown


def test_the_teams_that_a_digest_names_first_can_subscribe_to_it():
    """
    A digest has the teams of its four most expensive owners as an attribute for subscriptions, or
    no attribute if no owner has a team.
    """
    rows = [
        row(
            owner=f"slurm:{number}",
            team=f"team-{number // 2}",
            idle_cost=(99 - number) * NANOS,
        )
        for number in range(6)
    ]
    before = Week(hours=WEEK_OF_HOURS)
    attributes = digest_message(week_of(rows), before, "s", "us-east-1").attributes
    assert {"Kind": "digest", "Team": ("team-0", "team-1", "team-2")} == attributes
    quiet = [row(owner="slurm:7", team="ml", idle=0, idle_cost=0)]
    attributes = digest_message(week_of(quiet), before, "s", "us-east-1").attributes
    assert {"Kind": "digest"} == attributes


def test_the_week_ends_at_a_midnight_before_which_all_is_settled():
    """
    The week ends at the last midnight before which all hours are settled, for any LateMinutes.
    """
    monday = 20_000 * 86_400
    assert 20_000 * 24 == last_midnight(monday + 8 * 3600, 120)
    assert 19_999 * 24 == last_midnight(monday + 8 * 3600, 1_440)

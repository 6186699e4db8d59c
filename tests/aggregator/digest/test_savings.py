"""Savings, compared with arithmetic on the ledger's JSON rows."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from decimal import Decimal
from itertools import islice

from hypothesis import example, given, settings
from hypothesis import strategies as st

from aggregator.digest.function import Week, digest_text
from neuron_accounts.ledger import LedgerRow, gzip_lines, row_line, unpack_lines
from neuron_accounts.savings import savings_of
from neuron_accounts.teams import TeamRules
from neuron_accounts.then import then_of
from neuron_emf.page.amounts import Amounts
from neuron_emf.report.collection import then_by_days
from neuron_wire.names import WEEK_HOURS
from neuron_words.then_words import savings_sentences

PERIOD = range(490_000, 490_000 + WEEK_HOURS)
MICROS = 60 * 10**6
STATES = (
    "idle",
    "idle",
    "part",
    "busy",
    "late",
    "half",
    "unknown",
    "unpriced",
    "committed",
    "absent",
)
PARTS_OF_HOUR = {"part": ("idle", 59), "late": ("busy", 30)}
"""The state and the minutes of an instance that did not run for a whole hour."""

INSTANCES = (("x", 2), ("x", 4), ("x", 4), ("y", 32))
"""The cluster of each instance and its number of cores."""


def rows_of(hour, instance_id, cluster, cores, *, price, state):
    """Return the rows of one instance in one hour, at *price* billionths of a dollar per core."""
    if state in PARTS_OF_HOUR:
        whole_state, minutes = PARTS_OF_HOUR[state]
        whole = rows_of(hour, instance_id, cluster, cores, price=price, state=whole_state)
        return [part_of_hour(row, minutes) for row in whole]

    def row(owner, part, **changes):
        time = cores * MICROS * part // 2
        amounts = {"idle": 0, "list_cost": price * cores * part // 2, "busy": time, **changes}
        return LedgerRow(
            hour=hour,
            cluster=cluster,
            instance_id=instance_id,
            owner=owner,
            allocated=time,
            covered=MICROS,
            **amounts,
        )

    def idle_row(part, cost):
        time = cores * MICROS * part // 2
        costs = {"idle_cost": cost, "avoidable_cost": cost, "list_cost": cost}
        return row("[unallocated]", part, idle=time, busy=0, avoidable=time, **costs)

    half = idle_row(1, price * cores // 2)
    whole_time = cores * MICROS
    return {
        "idle": [half, half._replace(owner="a")],
        "busy": [row("a", 2)],
        "half": [half, row("a", 1)],
        "unknown": [half, row("[unknown]", 1, busy=None, idle=None)],
        "unpriced": [idle_row(2, None)],
        "committed": [row("a", 2, busy=0, idle=whole_time, committed=whole_time)],
        "absent": [],
    }[state]


def part_of_hour(row, minutes):
    """Return *row* for an instance that ran for *minutes* of 60."""
    names = ("allocated", "busy", "idle", "avoidable", "covered")
    return row._replace(**{name: getattr(row, name) * minutes // 60 for name in names})


RUNS = st.lists(
    st.tuples(
        st.integers(1, 42),
        st.lists(st.sampled_from(STATES), min_size=len(INSTANCES), max_size=len(INSTANCES)),
        st.integers(1, 10**9),
    ),
    min_size=1,
    max_size=4,
)
"""Number of hours, the state of each instance in them, and the price of a core."""


def ledger_of(runs):
    """Return the rows of *runs* in turn; no instance runs in all other hours of the week."""
    rows = []
    hours = iter(PERIOD)
    for number, states, price in runs:
        for hour in islice(hours, number):
            for index, (cluster, cores) in enumerate(INSTANCES):
                instance_price = price * (index + 1)
                rows += rows_of(
                    hour, f"i-{index}", cluster, cores, price=instance_price, state=states[index]
                )
    return rows


def reference(lines):
    """Compute the savings of clusters from JSON *lines*, without code of the product."""
    hours = defaultdict(lambda: defaultdict(list))
    for line in lines:
        row = json.loads(line, parse_float=Decimal)
        hours[row["ClusterName"]][row["Hour"]].append(row)
    savings = {}
    for cluster, by_hour in hours.items():
        counts = []
        costs = []
        needs = []
        numbers = []
        largest = max(
            sum(
                row["AllocatedCoreMinutes"] * 60 / math.ceil(row["CoveredMinutes"])
                for row in rows
                if row["InstanceId"] == name
            )
            for rows in by_hour.values()
            for name in {row["InstanceId"] for row in rows}
        )
        for rows in by_hour.values():
            names = {row["InstanceId"] for row in rows}
            whole = []
            idle = []
            for name in names:
                of_name = [row for row in rows if row["InstanceId"] == name]
                if of_name[0]["CoveredMinutes"] <= 59:
                    continue
                whole.append(name)
                if all(
                    row.get("AvoidableCoreMinutes", 0) == row["AllocatedCoreMinutes"]
                    for row in of_name
                ):
                    priced = all("AvoidableCost" in row for row in of_name)
                    idle.append(sum(row["AvoidableCost"] for row in of_name) if priced else None)
            counts.append(len(idle))
            costs.append(idle)
            numbers.append(len(whole))
            busy = sum(row.get("BusyCoreMinutes", 0) for row in rows)
            needs.append(math.ceil(busy / Decimal(largest)))
        share = Decimal("0.95") * len(by_hour)
        released = max(n for n in range(9) if sum(count >= n for count in counts) >= share)
        taken = [sorted(idle, key=lambda cost: cost or 0)[:released] for idle in costs]
        saved = [cost for idle in taken for cost in idle if cost is not None]
        committed = sum(
            row.get("CommittedCoreMinutes", 0) for rows in by_hour.values() for row in rows
        )
        savings[cluster] = {
            "cluster": cluster,
            "hours": len(by_hour),
            "released": released,
            "saved": sum(saved) * 10**9 if saved or not released else None,
            "instances": max(n for n in range(9) if sum(x >= n for x in numbers) >= share),
            "packed": None
            if committed
            else min(n for n in range(9) if sum(need <= n for need in needs) >= share),
            "committed": committed * 10**6,
        }
    return savings


@settings(max_examples=60)
@given(RUNS)
@example([(42, ["late"] * len(INSTANCES), 10**9)])
def test_savings_are_those_of_the_rows_in_the_report_and_in_the_digest(runs):
    """
    Report and digest name the same instances, money, packing and committed time as the reference.
    """
    rows = ledger_of(runs)
    week = Week(hours=PERIOD)
    week.fold_hours(
        (hour, then_of([row for row in rows if row.hour == hour]).summary()) for hour in PERIOD
    )
    report, _ = then_by_days(rows, TeamRules())
    savings = savings_of(report.cluster_hours, len(PERIOD))
    expected = reference(map(row_line, rows))
    assert expected == {saving.cluster: saving._asdict() for saving in savings}
    assert savings == savings_of(week.cluster_hours, len(PERIOD))
    money = [saving.saved or 0 for saving in savings]
    assert sorted(money, reverse=True) == money
    digest = digest_text(week, Week(hours=PERIOD), "s", "us-east-1")
    for sentence in savings_sentences(savings, len(PERIOD)):
        assert sentence in digest


def test_a_first_summary_has_the_same_costs_and_no_savings():
    """
    A summary without types, clusters and priced executions, as the first ones are, has the same
    costs in the digest and on the page, and its hour is not a covered hour of any cluster.
    """
    hour = PERIOD[0]
    payload = then_of(rows_of(hour, "i-a", "a", 2, price=10**9, state="idle")).summary()
    document = json.loads(unpack_lines(payload))
    del document["Types"]
    del document["Clusters"]
    for table in ("Owners", "Instances"):
        *columns, executions, _, executions_cost, _ = document[table]
        document[table] = [*columns, executions, executions_cost]
    first = gzip_lines([json.dumps(document)])
    week = Week(hours=PERIOD)
    week.fold_hours([(hour, first)])
    assert 2 * 10**9 == week.total.idle_cost
    assert [] == savings_of(week.cluster_hours, len(PERIOD))
    now, before = Amounts(), Amounts()
    now.fold_summaries({hour: payload})
    before.fold_summaries({hour: first})
    assert now.tables["Owners"] == before.tables["Owners"]
    assert now.cells == before.cells


def test_savings_are_at_most_three_sentences_with_their_hours():
    """Savings are at most three sentences with their hours, by amount; the rest is counted."""
    rows = [
        row
        for hour in PERIOD[2:]
        for number, cluster in enumerate("abcd")
        for row in rows_of(hour, f"i-{cluster}", cluster, 2, price=10**9 + number, state="idle")
    ]
    for hour in PERIOD:
        rows += rows_of(hour, "i-e", "e", 2, price=1, state="committed")
        for name in ("i-1", "i-2", "i-3", "i-4"):
            rows += rows_of(hour, name, "d", 2, price=1, state="half")
    hours = then_of(rows).cluster_hours
    sentences = savings_sentences(savings_of(hours, len(PERIOD)), len(PERIOD))
    first = (
        "Cluster d, 168 of 168 hours: 1 instance could have been released (at least 1 fully idle "
        "in 95 % of these hours), which saves at least 332.00 USD; on as few instances as "
        "possible, the busy cores needed at least 2 of 5 instances."
    )
    assert first == sentences[0]
    assert [f"Cluster {name}," for name in "dcb"] == [text[:10] for text in sentences]
    assert sentences[2].endswith(" 2 more clusters could have saved less.")
    assert [] == savings_of(hours, WEEK_HOURS - 1)
    paid = {key: hour for key, hour in hours.items() if key[0] == "e"}
    expected = ["Cluster e, 168 of 168 hours: unused: 336.0 core hours already paid."]
    assert expected == savings_sentences(savings_of(paid, len(PERIOD)), len(PERIOD))

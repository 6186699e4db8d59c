"""The cost table adds up to the cent in every column, by every key, with any number of rows."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_accounts.core_time import IDLE_LEAVES, Leaf
from neuron_accounts.ledger import LedgerRow
from neuron_accounts.then import then_of
from neuron_emf.report.cost_table import (
    CENT,
    LEAVES,
    NO_TEAM,
    ROW_LABELS,
    TENTH_HOUR,
    UNOWNED,
    CostRow,
    cost_table,
    labels_of,
    then_table,
)

ATTO = st.integers(-3 * CENT, 10**24) | st.integers(-CENT, CENT) | st.just(0)


@st.composite
def ledger_rows(draw):
    """Draw one row of a ledger whose parts fit into its whole, with or without a price."""
    owner = draw(st.sampled_from(["ann", "bob", "[others]", "[unallocated]", "[unknown]"]))
    allocated = draw(st.integers(0, 10**11))
    row = LedgerRow(
        hour=490_000 + draw(st.integers(0, 60)),
        cluster=draw(st.sampled_from("ab")),
        instance_id=draw(st.sampled_from("xyz")),
        owner=owner,
        allocated=allocated,
        covered=0,
        team=draw(st.sampled_from([None, "ml"])),
        instance_type=draw(st.sampled_from([None, "trn1.2xlarge", "trn2.3xlarge"])),
        executions=draw(st.none() | st.integers(0, 10**9)),
    )
    cost = draw(st.none() | st.integers(0, 10**13))
    if cost is None:
        row = row._replace(unpriced=allocated)
    if owner == "[unknown]":
        return row._replace(list_cost=cost)
    idle = draw(st.integers(0, allocated))
    row = row._replace(busy=allocated - idle, used=0, idle=idle)
    if cost is None:
        return row
    idle_cost = draw(st.integers(0, cost))
    avoidable = draw(st.integers(0, idle_cost))
    return row._replace(
        list_cost=cost,
        idle_cost=idle_cost,
        avoidable_cost=avoidable,
        committed_cost=draw(st.integers(0, idle_cost - avoidable)),
    )


def printed_number(text):
    """Return the number that a reader adds up; 0 if the cell has no number."""
    is_number = text[-1].isdigit() and not text.startswith("<")
    return Decimal(text.replace(",", "")) if is_number else Decimal(0)


def check_printed(table, most):
    """Check that each column adds up to its total, near its exact amount, for any *most*."""
    *rows, total = table.printed(most)
    assert min(len(table.rows), most + 1) == len(rows)
    for column in {*table.columns()} - {"busy share", "per million"}:
        numbers = [printed_number(row.cells()[column]) for row in rows]
        assert printed_number(total.cells()[column]) == sum(numbers), column
    uncut = table.printed(len(table.rows))
    assert total == uncut[-1]
    for row in (*rows, total):
        is_more = str(row.labels[0]).endswith(" more]")
        assert is_more or row in uncut
        nearest = most + 1 if is_more else 1
        for exact, cents in zip(row.exact.leaves or [0] * LEAVES, row.cents, strict=False):
            assert abs(Fraction(exact, CENT) - cents) < nearest
        assert abs(Fraction(row.exact.time.allocated, TENTH_HOUR) - row.tenths) < nearest
        cells = {column: printed_number(text) for column, text in row.cells().items()}
        idle = cells["avoidable"] + cells["shared"] + cells["committed"]
        assert idle == cells["idle"]
        assert idle + cells["not idle"] + cells["unknown"] == cells["cost"]
    all_leaves = sum(total.exact.leaves or [0])
    assert abs(Fraction(all_leaves, CENT) - sum(total.cents[:LEAVES])) <= Fraction(1, 2)


@given(st.lists(ledger_rows(), max_size=20), st.integers(1, 12))
def test_rows_add_up_to_the_total_by_every_key(rows, most):
    """
    Rows by every key add up to the total in every printed column.

    Core time without a price is unpriced, not free, also in one of the first rows of the ledger.
    """
    then = then_of(rows)
    first = [row if row.list_cost is not None else row._replace(unpriced=0) for row in rows]
    assert then.total == then_of(first).total
    for by in ROW_LABELS:
        table = then_table(then, by)
        total = table.total.exact
        assert sum(row.list_cost or 0 for row in rows) * 10**9 == (total.amount("cost") or 0)
        assert sum(row.allocated for row in rows) == total.time.allocated
        check_printed(table, most)
    unknown = sum(row.list_cost or 0 for row in rows if row.owner == "[unknown]")
    idle = sum(row.idle_cost or 0 for row in rows)
    listed = then_table(then, "team").total.exact.listed or [0] * LEAVES
    assert unknown * 10**9 == listed[Leaf.UNKNOWN]
    assert idle * 10**9 == sum(listed[IDLE_LEAVES])


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.lists(ATTO, min_size=6, max_size=6))),
    st.integers(1, 8),
)
def test_billed_rows_add_up_to_the_bill(amounts, most):
    """Billed rows, own cost and spread, add up to the bill, also with negative credits."""
    table = cost_table("team", [((name,), CostRow(billed=leaves)) for name, leaves in amounts])
    assert sum(sum(leaves) for _, leaves in amounts) == sum(table.total.exact.leaves or [0])
    check_printed(table, most)
    costs = [row.exact.amount("cost") for row in table.rows]
    assert sorted(costs, reverse=True) == costs


@pytest.mark.parametrize("owner", sorted(UNOWNED))
def test_what_no_owner_has_is_in_no_team(owner):
    """Cost without an owner has its own row, even if a rule names a team for it."""
    names = {"owner": owner, "cluster": "c", "team": "ml"}
    assert (owner,) == labels_of("team", names)
    assert (owner, None, "c") == labels_of("owner", names)
    assert (NO_TEAM,) == labels_of("team", {"owner": "ann", "cluster": "c", "team": None})

"""The published amounts of a rollup, and the amounts that are due."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aggregator.rollups.rollup_line import due
from neuron_wire.holders import Holder
from tests.aggregator.rollups.rollup_texts import cores, rollup_of


def rollup(records=1, gauges=None, **tallies):
    """Return a rollup with these tallies."""
    return rollup_of()._replace(
        gauges=gauges or {"Instances": 1},
        tallies=tallies,
        records=records,
    )


def test_the_first_publication_has_every_amount_also_those_that_are_zero():
    """The first publication has amounts of 0, because 0 is a known number."""
    first = due(rollup(Executions=0, IdleCost=0.5), None)
    assert {"Executions": 0, "IdleCost": 0.5, "LateRecords": 0} == first.amounts
    assert 1 == first.publication.number


def test_a_name_alone_is_due():
    """A publication is due if only a process, or only an owner, of idle cores has changed."""

    def with_idle(name, pid):
        return rollup_of(replace(cores("a", idle=(20,)), holders=(Holder("0", name, pid),)))

    first = due(with_idle("ml/llama", 7), None)
    assert due(with_idle("ml/llama", 7), first.publication) is None
    assert due(with_idle("ml/llama", 8), first.publication) is not None
    assert due(with_idle("ml/gemma", 7), first.publication) is not None


@given(
    st.lists(
        st.tuples(
            st.integers(1, 9),
            st.dictionaries(st.sampled_from(["IdleCost", "Executions"]), st.integers(0, 10**9)),
        )
    )
)
def test_amounts_add_up_to_the_highest_total_and_the_excess_to_the_rest(totals):
    """
    For any sequence of totals, the published sum minus the last excess is the last total, and no
    amount is negative. Records beyond the first total are late.
    """
    published: dict[str, float] = {}
    before: Any = None
    excess: Any = {}
    for records, millionths in totals:
        exact = {name: value / 1_000_000 for name, value in millionths.items()}
        step = due(rollup(records, **exact), before)
        if step is None:
            continue
        for name, amount in step.amounts.items():
            assert amount >= 0
            published[name] = published.get(name, 0) + amount
        before = step.publication
        excess = step.overstated
        exact["LateRecords"] = max(0, records - totals[0][0])
        for name, amount in published.items():
            assert abs(amount - excess.get(name, 0) - exact.get(name, 0)) < 1e-6

"""The first few of any number of things."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aggregator.rollups.ranking import Ranking


@given(st.integers(1, 4), st.lists(st.integers(), unique=True))
def test_the_smallest_keys_are_kept_in_order(limit, numbers):
    """Whatever the order they came in, and however many."""
    ranking = Ranking(limit)
    for number in numbers:
        ranking.add((number,), str(number))
        assert len(ranking._kept) < 10 * limit
    assert [str(number) for number in sorted(numbers)[:limit]] == ranking.first()
    assert len(numbers) == ranking.count

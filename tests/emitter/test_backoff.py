"""Waits after failures: they grow, within bounds, and start short again."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from emitter.backoff import GROWTH, LONGEST_S, SHORTEST_S, Backoff


@given(st.integers())
def test_waits_stay_within_their_bounds(seed):
    """Never under 0.2 s, never above 60 s, each from the upper half of its step."""
    backoff = Backoff(rng=random.Random(seed))
    step_s = 2 * SHORTEST_S
    for _ in range(30):
        wait_s = backoff.next_s()
        assert SHORTEST_S <= step_s / 2 <= wait_s <= step_s <= LONGEST_S
        step_s = min(LONGEST_S, GROWTH * step_s)
    assert LONGEST_S == step_s
    backoff.reset()
    assert backoff.next_s() <= 2 * SHORTEST_S


@given(st.integers())
def test_who_failed_together_does_not_come_back_together(seed):
    """Not in the first second, and not when all wait the longest."""
    fleet = [Backoff(rng=random.Random(f"{seed} {number}")) for number in range(40)]
    for _ in range(20):
        waits_s = [backoff.next_s() for backoff in fleet]
        assert max(waits_s) - min(waits_s) > 0.2 * max(waits_s)


def test_a_bound_below_the_first_step_is_kept():
    """The longest wait is the longest from the beginning."""
    backoff = Backoff(shortest_s=1.0, longest_s=1.0)
    assert all(backoff.next_s() <= 1.0 for _ in range(5))

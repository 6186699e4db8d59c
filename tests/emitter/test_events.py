"""Events wait in a queue that is bounded, and says what it lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emitter.events import MAX_WAITING, Event, EventQueue


def event(number):
    """One of many."""
    return Event("MonitorDied", float(number), "It ended.")


@given(st.lists(st.integers(0, 3 * MAX_WAITING), max_size=6))
def test_nothing_is_lost_that_is_not_counted(counts):
    """Whatever is added between two looks: taken in order, once, or counted as dropped."""
    queue = EventQueue()
    added, taken, dropped = [], [], 0
    for count in counts:
        batch = [event(len(added) + place) for place in range(count)]
        added += batch
        for one in batch:
            queue.add(one)
        found = queue.take()
        assert batch[-MAX_WAITING:] == found
        taken += found
        assert queue.dropped == len(added) - len(taken) >= dropped
        dropped = queue.dropped
    assert [] == queue.take()

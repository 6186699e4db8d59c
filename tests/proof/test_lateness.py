"""Nothing that comes late waits for ever, and a pause is made up."""

from __future__ import annotations

import pytest

from neuron_emf.cost.assumptions import FIRST_CLOSE_S
from proof.lateness import AN_HOUR_LATE, ONE_LATE, PAUSE, waits


@pytest.mark.parametrize(
    ("late_ages", "longest_minutes"), [((), 0), (ONE_LATE, 1), (AN_HOUR_LATE, 30)]
)
def test_late_records_are_published_within_half_an_hour(late_ages, longest_minutes):
    """With the memory that the page of scale recommends, which gives a minute so many seconds."""
    found = waits(FIRST_CLOSE_S, late_ages)
    assert found.longest_minutes <= longest_minutes
    assert found.busiest_s < 50


def test_half_an_hour_without_a_run_is_made_up():
    """In ten runs, with records that come late all the while, none of which waits longer."""
    found = waits(FIRST_CLOSE_S, AN_HOUR_LATE, PAUSE)
    assert (10, True) == (found.backlog_runs, found.longest_minutes <= PAUSE)


def test_a_slower_minute_makes_late_records_wait_a_little_longer():
    """Up to 16 s, which is what the largest fleets take with all the memory of Lambda."""
    found, paused = waits(16, AN_HOUR_LATE), waits(16, AN_HOUR_LATE, PAUSE)
    assert (15, True) == (paused.backlog_runs, paused.longest_minutes <= 42)
    assert found.longest_minutes <= 36

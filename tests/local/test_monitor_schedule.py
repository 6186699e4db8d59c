"""Every group at its own period, and never near a full minute."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from local.monitor.schedule import MINUTE_MS, Schedule, live_schedule

COUNTERS = "neuroncore_counters"
HARDWARE = "neuron_hw_counters"

WHOLE_SECONDS = st.integers(1, 60).map(lambda seconds: 1000 * seconds)
PERIODS = st.fixed_dictionaries({COUNTERS: WHOLE_SECONDS, HARDWARE: WHOLE_SECONDS})


def from_minute_ms(at_ms):
    """Distance to the nearest full minute."""
    return min(at_ms % MINUTE_MS, -at_ms % MINUTE_MS)


@given(PERIODS, st.integers(0, 10**12), st.floats(0, 1))
def test_no_report_is_written_near_a_full_minute(periods_ms, now_ms, chance):
    """0.8 s away, or half the step: periods that do not divide the minute walk over it in steps."""
    schedule = live_schedule(periods_ms, now_ms, chance=chance)
    clear_ms = min(800, math.gcd(MINUTE_MS, *periods_ms.values()) // 2)
    ticks = [schedule.next() for _ in range(200)]
    assert clear_ms <= min(from_minute_ms(one.at_ms) for one in ticks)


def test_missed_moments_are_left_out_and_the_next_covers_them():
    """A reader that slept for 12 s gets one report over 15 s, in the old phase."""
    schedule = Schedule({COUNTERS: 5000}, first_ms=1000)
    schedule.next(1000)
    late = schedule.next(13_000)
    assert (1, 16_000, {COUNTERS: 15_000}) == (late.number, late.at_ms, late.elapsed_ms)
    assert {COUNTERS: 5000} == schedule.next(16_003).elapsed_ms

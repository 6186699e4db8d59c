"""Reports at one period, and never near a full minute."""

from __future__ import annotations

import math
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from local.monitor.play import MINUTE_MS, live_moments


@given(st.integers(1, 60), st.integers(0, 10**12), st.floats(0, 1))
def test_no_report_is_written_near_a_full_minute(period_s, now_ms, chance):
    """0.8 s away, or half the step: periods that do not divide the minute walk over it in steps."""
    moments = [*islice(live_moments(1000 * period_s, lambda: now_ms, chance=chance), 200)]
    clear_ms = min(800, math.gcd(MINUTE_MS, 1000 * period_s) // 2)
    assert clear_ms <= min(min(at_ms % MINUTE_MS, -at_ms % MINUTE_MS) for at_ms in moments)


def test_missed_moments_are_left_out_and_the_phase_stays():
    """A reader that slept beyond one report gets the next report 10 s after the one before."""
    times = iter([1000, 1000, 13_000, 18_000])
    moments = live_moments(5000, lambda: next(times), chance=0.5)
    first, second, late, after = islice(moments, 4)
    assert (1000, 10_000, 5000) == (first, late - second, after - late)

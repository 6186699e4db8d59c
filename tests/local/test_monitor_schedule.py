"""Every group at its own period, and never near a full minute."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from local.monitor.configuration import GroupKey
from local.monitor.schedule import MINUTE_MS, Schedule, live_schedule

COUNTERS = GroupKey(0, "neuroncore_counters")
HARDWARE = GroupKey(-1, "neuron_hw_counters")
HOST = GroupKey(-1, "memory_info")

WHOLE_SECONDS = st.integers(1, 60).map(lambda seconds: 1000 * seconds)
PERIODS = st.fixed_dictionaries({COUNTERS: WHOLE_SECONDS, HARDWARE: WHOLE_SECONDS})
DIVISORS = WHOLE_SECONDS.filter(lambda period_ms: MINUTE_MS % period_ms == 0)


def from_minute_ms(at_ms):
    """Distance to the nearest full minute."""
    return min(at_ms % MINUTE_MS, -at_ms % MINUTE_MS)


def test_a_line_holds_only_the_groups_that_are_due():
    """5 s, 3 s and 10 s: all at first, then each at its own multiples."""
    schedule = Schedule({COUNTERS: 5000, HOST: 3000, HARDWARE: 10_000}, first_ms=0)
    ticks = [schedule.next() for _ in range(8)]
    assert [0, 3000, 5000, 6000, 9000, 10_000, 12_000, 15_000] == [one.at_ms for one in ticks]
    assert {COUNTERS: None, HOST: None, HARDWARE: None} == ticks[0].elapsed_ms
    assert {HOST: 3000} == ticks[1].elapsed_ms
    assert {COUNTERS: 5000, HARDWARE: 10_000} == ticks[5].elapsed_ms
    assert {COUNTERS: 5000, HOST: 3000} == ticks[7].elapsed_ms


@given(PERIODS, st.integers(0, 10**12))
def test_each_group_covers_the_whole_time(periods_ms, first_ms):
    """What a group's reports cover adds up to the time since the first one."""
    schedule = Schedule(periods_ms, first_ms)
    ticks = [schedule.next() for _ in range(80)]
    assert list(range(80)) == [one.number for one in ticks]
    for group, period_ms in periods_ms.items():
        due = [one for one in ticks[1:] if group in one.elapsed_ms]
        assert due[-1].at_ms - first_ms == sum(one.elapsed_ms[group] for one in due)
        assert {period_ms} == {one.elapsed_ms[group] for one in due}
    times = [one.at_ms for one in ticks]
    assert sorted(set(times)) == times


@given(PERIODS, st.integers(0, 10**12), st.floats(0, 1))
def test_no_report_is_written_near_a_full_minute(periods_ms, now_ms, chance):
    """0.8 s away, or half the step: periods that do not divide the minute walk over it in steps."""
    schedule = live_schedule(periods_ms, now_ms, chance=chance)
    clear_ms = min(800, math.gcd(MINUTE_MS, *periods_ms.values()) // 2)
    ticks = [schedule.next() for _ in range(200)]
    assert clear_ms <= min(from_minute_ms(one.at_ms) for one in ticks)


@given(DIVISORS, st.integers(0, 10**12), st.floats(0, 1))
def test_the_first_report_is_prompt_and_the_second_believable(period_ms, now_ms, chance):
    """The first within 1.6 s, the second one to two periods later: nothing in between is lost."""
    schedule = live_schedule({COUNTERS: period_ms}, now_ms, chance=chance)
    first, second = schedule.next(), schedule.next()
    assert 0 <= first.at_ms - now_ms <= 1600
    assert period_ms <= second.elapsed_ms[COUNTERS] < 2 * period_ms


def test_not_aligned_it_starts_at_once():
    """Also on the stroke of a minute."""
    schedule = live_schedule({COUNTERS: 5000}, 120_000, chance=0.5, aligned=False)
    assert [120_000, 125_000] == [schedule.next().at_ms for _ in range(2)]


def test_missed_moments_are_left_out_and_the_next_covers_them():
    """A reader that slept for 12 s gets one report over 15 s, in the old phase."""
    schedule = Schedule({COUNTERS: 5000}, first_ms=1000)
    schedule.next(1000)
    late = schedule.next(13_000)
    assert (1, 16_000, {COUNTERS: 15_000}) == (late.number, late.at_ms, late.elapsed_ms)
    assert {COUNTERS: 5000} == schedule.next(16_003).elapsed_ms


def test_a_moment_that_is_now_is_not_missed():
    """The boundary belongs to the report."""
    schedule = Schedule({COUNTERS: 5000}, first_ms=0)
    schedule.next(0)
    assert 5000 == schedule.next(5000).at_ms
    assert 15_000 == schedule.next(10_001).at_ms

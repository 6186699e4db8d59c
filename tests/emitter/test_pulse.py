"""The reading loop leaves a pulse once a minute, whatever the wall clock and the disk do."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from loop_rig import Clock, Timetable, busy, chunk, emitter_of
from neuron_reports import START_S

from emitter.health import PULSE_INTERVAL_S, PulseFile, read_pulse
from emitter.spool import Spool


class Noted(PulseFile):
    """When it beat, with how many reports read."""

    def __init__(self, clock):
        super().__init__(None, clock=clock)
        self.clock = clock
        self.beats = []

    def beat(self, reports_read, spool):
        """As before, and remembered."""
        super().beat(reports_read, spool)
        self.beats.append((self.clock.now_s - START_S, reports_read))


def beats_of(chunks, until_s, wall_clock=None):
    """The beats of a loop whose monotonic clock is the timetable's."""
    clock = Clock()
    pulse = Noted(clock)
    with Spool.open(None, clock=clock, max_age_s=None) as spool:
        source = Timetable(clock, chunks, until_s)
        emitter = emitter_of(source, spool, clock=wall_clock or clock)
        emitter._pulse = pulse
        emitter.read_until(source.is_over)
        emitter.finish(input_ended=False)
    return pulse.beats


@settings(max_examples=30)
@given(st.lists(st.floats(0, 600), max_size=20))
def test_a_beat_is_never_late(moments):
    """The first at once, each other a minute after the one before and at most one look later."""
    found = [at_s for at_s, _ in beats_of([(at_s, chunk(busy())) for at_s in moments], 600)]
    assert 0 == found[0]
    gaps = [later - sooner for sooner, later in itertools.pairwise(found)]
    assert all(PULSE_INTERVAL_S <= gap <= PULSE_INTERVAL_S + 0.5 for gap in gaps)
    assert found[-1] > 600 - PULSE_INTERVAL_S - 0.5


def test_a_wall_clock_that_stands_still_stops_no_beat():
    """After a step back no minute closes until the clock has passed it: nothing hangs meanwhile."""
    found = beats_of([(1, chunk(busy())), (70, chunk(busy()))], 200, wall_clock=lambda: START_S)
    assert [0, 1, 2, 2] == [reports for _, reports in found]


def test_the_pulse_lies_beside_the_spool(tmp_path):
    """Where `check --quick` looks for it."""
    with Spool.open(tmp_path) as spool:
        clock = Clock()
        source = Timetable(clock, [(1, chunk(busy()))], 2)
        emitter_of(source, spool, clock=clock).read_until(source.is_over)
    found = read_pulse(tmp_path)
    assert (0, None, 0) == (found.waiting, found.reported_s, found.in_memory)

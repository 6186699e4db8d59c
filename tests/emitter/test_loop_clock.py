"""The clock of the machine is set while the emitter runs."""

from __future__ import annotations

from loop_rig import MINUTE_MS, START_MS, Clock, Timetable, busy, chunk, emitter_of
from neuron_reports import START_S

from emitter.spool import Spool
from neuron_wire import parse


class Steps(Timetable):
    """A timetable whose clock is set by somebody else at given moments: (at_s, by_s)."""

    def __init__(self, clock, chunks, until_s, steps):
        super().__init__(clock, chunks, until_s)
        self.steps = list(steps)

    def read(self, timeout_s):
        """As before, and then the clock may have jumped."""
        found = super().read(timeout_s)
        if self.steps and self.clock.now_s >= START_S + self.steps[0][0]:
            self.clock.now_s += self.steps.pop(0)[1]
        return found


def stepped(chunks, until_s, *steps):
    """The minute records of an emitter whose clock is set."""
    clock = Clock()
    with Spool.open(None, clock=clock, max_age_s=None) as spool:
        source = Steps(clock, chunks, until_s, steps)
        emitter = emitter_of(source, spool, clock=clock)
        emitter.read_until(source.is_over)
        emitter.finish(input_ended=False)
        return [parse(one.line) for one in spool.oldest(1000, 1 << 30)]


def test_a_minute_never_reopens_after_a_backward_step():
    """Reports go to the open minute until the clock passes it: every minute has one line."""
    chunks = [(at_s, chunk(busy())) for at_s in (1, 61, 90, 100, 130)]
    found = stepped(chunks, 200, (70, -45))
    assert sorted({one.minute_ms for one in found}) == [one.minute_ms for one in found]
    assert 5 == sum(one.reports for one in found)
    assert [*range(1, len(found) + 1)] == [one.seq for one in found]


def test_a_forward_step_closes_the_minute_and_goes_on_in_the_new_one():
    """An instance that was suspended has nothing to say of the time between."""
    chunks = [(1, chunk(busy())), (3700, chunk(busy()))]
    found = stepped(chunks, 3719, (10, 3600))
    assert [START_MS, START_MS + 60 * MINUTE_MS, START_MS + 61 * MINUTE_MS] == [
        one.minute_ms for one in found
    ]
    assert [1, 0, 1] == [one.reports for one in found]


def test_a_clock_that_was_years_ahead_is_followed_back():
    """Waiting for it to pass again would be silence for years."""
    chunks = [(1, chunk(busy())), (30, chunk(busy()))]
    found = stepped(chunks, 119, (2, 10**8), (10**8, -(10**8)))
    assert START_MS in [one.minute_ms for one in found]
    assert found[-1].minute_ms <= START_MS + 2 * MINUTE_MS
    assert 2 == sum(one.reports for one in found)

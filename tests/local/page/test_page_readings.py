"""What is read again and again is what is there, at a fraction of the reading."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from local.alarms import RecordedHistory
from local.page.cached_history import NEWEST_S, WHOLE_EACH_S, CachedHistory

START_S = 1_800_000_000
RANGE_S = 3600
EACH_S = 2.0


class Counted(RecordedHistory):
    """A history that remembers what it was asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def read(self, *what):
        self.asked.append(what)
        return super().read(*what)


class World:
    """A history, its readings, and the time."""

    def __init__(self):
        self.now_s = float(START_S)
        self.history = Counted()
        self.readings = CachedHistory(self.history, RANGE_S, EACH_S, lambda: self.now_s)

    def put(self, age_s, value, cluster="a"):
        """One value of a moment *age_s* ago."""
        self.history.put("n", "m", {"C": cluster}, self.now_s - age_s, [value])

    def both(self, back_s=1800, period_s=60):
        """What the readings say of the last *back_s*, and what is there."""
        start_s = (int(self.now_s) - back_s) // period_s * period_s
        end_s = int(self.now_s) + 60
        found = self.readings.read("n", "m", period_s, start_s, end_s)
        return found, RecordedHistory.read(self.history, "n", "m", period_s, start_s, end_s)


STEPS = st.lists(
    st.tuples(st.sampled_from(["new", "old", "wait"]), st.floats(0, 100), st.sampled_from("ab")),
    max_size=30,
)


@given(steps=STEPS, period_s=st.sampled_from([60, 300, 3600]))
def test_after_a_moment_everything_new_is_there_and_after_a_minute_everything(steps, period_s):
    """Whatever is put when, and asked when."""
    world = World()
    for what, number, cluster in steps:
        if what == "wait":
            world.now_s += number
        else:
            back_s = number if what == "new" else NEWEST_S + 60 + number * 10
            world.put(back_s, number, cluster)
        if what != "old":
            world.both(period_s=period_s)
    world.now_s += EACH_S
    newest, there = world.both(back_s=NEWEST_S - 60, period_s=period_s)
    if period_s == 60:  # a longer period may begin among the old ones
        assert there == newest
    world.now_s += WHOLE_EACH_S
    found, there = world.both(period_s=period_s)
    assert there == found


def test_who_looks_further_back_gets_it():
    """From the history itself."""
    world = World()
    world.put(RANGE_S + 600, 7.0)
    found, there = world.both(back_s=RANGE_S + 1200)
    assert there == found
    assert there


def test_what_is_forgotten_is_read_anew():
    """At the end of a rehearsal the last rollups have only just come."""
    world = World()
    world.both()
    world.put(30, 1.0)
    assert {} == world.both()[0]
    world.readings.forget()
    found, there = world.both()
    assert there == found
    assert there

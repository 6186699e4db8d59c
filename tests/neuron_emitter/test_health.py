"""Health members: the emitter's counts of records, its own cost and its pulse."""

from __future__ import annotations

import itertools
import typing

from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emitter.health import (
    DROP_MEMBERS,
    PULSE_INTERVAL_S,
    PulseFile,
    spool_members,
)
from neuron_emitter.spool import Spool, SpoolHealth
from neuron_emitter.spool.spool_records import DropReason, NewRecord
from tests.neuron_emitter.loop_rig import FakeClock, Timetable, busy, chunk, emitter_of
from tests.neuron_emitter.neuron_reports import REPORTS_START_S

ALL_DROP_REASONS = typing.get_args(DropReason)


@given(
    delivered=st.integers(0, 99),
    waiting=st.integers(0, 99),
    dropped=st.dictionaries(st.sampled_from(ALL_DROP_REASONS), st.integers(1, 99)),
)
def test_produced_is_delivered_and_spooled_and_dropped(delivered, waiting, dropped):
    """Produced is delivered plus spooled plus dropped; only reasons that occurred are members."""
    produced = delivered + waiting + sum(dropped.values())
    members = spool_members(SpoolHealth(waiting, 5, produced, delivered, dropped, 0))
    accounted = ("RecordsDelivered", "SpoolRecords", "RecordsDropped")
    assert members["RecordsProduced"] == sum(members[name] for name in accounted)
    assert {DROP_MEMBERS[reason]: count for reason, count in dropped.items()} == {
        name: count for name, count in members.items() if name.startswith("Dropped")
    }


def test_drops_of_an_earlier_boots_records_are_counted(tmp_path):
    """
    Records of an earlier boot that this boot drops have their own count.

    The sums of this boot do not include them, and no other line reports them. Records that still
    wait are in SpoolBytes.
    """
    with Spool(tmp_path) as spool:
        spool.append([NewRecord(60_000 * 10**9, "line")] * 3)
    with Spool(tmp_path) as spool:
        spool.append([NewRecord(60_000 * 10**9, "line")])
        left = [record.id for record in spool.oldest(4, 1_000)]
        spool.settle_records(dropped={"too_new": left[1:]})
        members = spool_members(spool.health())
    expected = {"RecordsDroppedOlder": 2, "RecordsDropped": 1, "DroppedTooNew": 1}
    expected |= {"RecordsProduced": 1, "SpoolRecordsOlder": 1, "SpoolBytes": 4}
    assert expected.items() <= members.items()


class NotedPulse(PulseFile):
    """A pulse file that notes the time of each beat and the reports read."""

    def __init__(self, clock):
        super().__init__(None, clock=clock)
        self.clock = clock
        self.beats = []

    def write_beat(self, reports_read, spool):
        """Write the beat and note it."""
        super().write_beat(reports_read, spool)
        self.beats.append((self.clock.now_s - REPORTS_START_S, reports_read))


def beats_of(chunks, until_s, wall_clock=None):
    """Return the beats of a loop whose monotonic clock is the timetable's."""
    clock = FakeClock()
    pulse = NotedPulse(clock)
    with Spool(None, clock=clock, max_age_s=1e12) as spool:
        source = Timetable(clock, chunks, until_s)
        emitter = emitter_of(source, spool, clock=wall_clock or clock)
        emitter._pulse = pulse
        emitter.read_until(source.is_over)
        emitter.finish(input_ended=False)
    return pulse.beats


@settings(max_examples=30)
@given(st.lists(st.floats(0, 600), max_size=20))
def test_a_beat_is_never_late(moments):
    """The first beat is immediate. Later beats are a minute apart, at most one read late."""
    beats_s = [at_s for at_s, _ in beats_of([(at_s, chunk(busy())) for at_s in moments], 600)]
    assert 0 == beats_s[0]
    gaps = [later - sooner for sooner, later in itertools.pairwise(beats_s)]
    assert all(PULSE_INTERVAL_S <= gap <= PULSE_INTERVAL_S + 0.5 for gap in gaps)
    assert beats_s[-1] > 600 - PULSE_INTERVAL_S - 0.5


def test_beats_continue_if_the_wall_clock_stops():
    """Beats continue while a clock that was set back closes no minute."""
    beats = beats_of(
        [(1, chunk(busy())), (70, chunk(busy()))], 200, wall_clock=lambda: REPORTS_START_S
    )
    assert [0, 1, 2, 2] == [reports for _, reports in beats]

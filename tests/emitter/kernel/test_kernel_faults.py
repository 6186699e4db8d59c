"""What the spool keeps of the log with events and with a minute."""

from __future__ import annotations

from emitter.kernel.faults import KernelFaults
from emitter.kernel.position import LogState, Position
from proof.factories.kernel_logs import BOOTED_S, PlayedWatch, fault, message

NOW_S = BOOTED_S + 60.0
BEGIN, LAST = Position.of(message(1)), Position.of(fault(3))


def test_events_are_kept_with_where_the_minute_began_and_how_far_they_came():
    """And with the minute all of it is counted."""
    watch = PlayedWatch()
    faults = KernelFaults(watch)
    assert faults.told is None
    watch.say(message(1), fault(2), fault(3))
    for expected in (2, 0):
        assert expected == len(faults.events(NOW_S, is_end=False))
        assert LogState(BEGIN, LAST) == faults.told
    assert LogState(LAST) == faults.counted
    faults.end_minute()
    watch.say(message(4))
    assert [] == faults.events(NOW_S, is_end=False)
    assert LogState(LAST) == faults.told


def test_a_restart_keeps_what_the_run_before_told():
    """Until a minute has counted it."""
    faults = KernelFaults(PlayedWatch(LogState(BEGIN, LAST)))
    assert [] == faults.events(NOW_S, is_end=False)
    assert LogState(BEGIN, LAST) == faults.told


def test_faults_from_before_and_lost_messages_are_told():
    """Neither is counted."""
    watch = PlayedWatch(now_s=BOOTED_S + 3600.0)
    faults = KernelFaults(watch)
    watch.say(fault(1), message(5))
    events = faults.events(BOOTED_S + 3600.0, is_end=True)
    assert ["HardwareFaultsFound", "KernelMessagesLost"] == [event.name for event in events]
    assert 0 == faults.count

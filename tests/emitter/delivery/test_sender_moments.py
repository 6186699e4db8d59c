"""The sender: at which moment of the minute records are sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sending import MINUTE_S, Recorder, Script, appender, run

from emitter.delivery.delivery import Delivery
from emitter.delivery.sender import Sender, offset_s, until_slot_s


@given(st.text(), st.floats(0, 60))
def test_the_moment_of_an_instance_is_within_the_spread(instance, spread_s):
    """At least 0, less than the spread, 0 without one."""
    assert 0 <= offset_s(instance, spread_s) <= spread_s
    assert 0 == offset_s(instance, 0)


def test_the_moment_is_the_same_in_every_process():
    """Python's own hash differs from process to process; this one is fixed for ever."""
    assert pytest.approx(26.822862567453495) == offset_s("i-0123456789abcdef0", 30)


def test_a_fleet_is_spread_evenly():
    """1,000 instances over 30 s: no second has more than twice its share."""
    seconds = [int(offset_s(f"i-{number:017x}", 30)) for number in range(1000)]
    assert set(range(30)) == set(seconds)
    assert max(seconds.count(second) for second in range(30)) <= 66


@pytest.mark.parametrize(
    ("second", "wait_s"), [(0, 12), (11, 1), (12, 0), (13, 0), (59, 0), (60, 12)]
)
def test_who_comes_before_the_moment_waits_for_it(second, wait_s):
    """
    Who comes after it is sent at once: an event at second 40 does not wait for the next minute.
    """
    assert wait_s == until_slot_s(MINUTE_S + second, 12.0)


def test_a_start_is_spread_too(spool, clock):
    """What a former run left is not sent by the whole fleet in the second of a deployment."""
    clock.now_s += 45
    appender(spool, clock, "left behind")()
    destination = Recorder(clock)
    pauses = run(spool, clock, destination)
    assert [offset_s("i-1", 30)] == pauses
    ((at_s, lines),) = destination.sent
    assert pytest.approx(45 + offset_s("i-1", 30)) == at_s
    assert ["left behind"] == lines


def test_records_are_sent_at_the_moment_of_their_minute(spool, clock):
    """A line appended just after the minute waits for the slot; one appended after it does not."""
    slot = offset_s("i-1", 30)
    destination = Recorder(clock)
    run(
        spool,
        clock,
        destination,
        appender(spool, clock, "minute", after_s=60.5 - slot),
        appender(spool, clock, "event", after_s=31),
    )
    assert [["minute"], ["event"]] == [lines for _, lines in destination.sent]
    assert pytest.approx([60 + slot, 60 + slot + 31]) == [at_s for at_s, _ in destination.sent]


def test_an_instance_that_was_renamed_has_its_own_moment(spool, clock):
    """Guessed at first, known later: from then on the hash of the known name counts."""
    first, second = (offset_s(instance, 30) for instance in ("i-1", "i-2"))
    destination = Recorder(clock)
    waiter = Script(clock)
    sender = Sender(
        Delivery(spool, destination, clock=clock, monotonic=clock, sleep=waiter.pause),
        instance="i-1",
        clock=clock,
        monotonic=clock,
        waiter=waiter,
    )

    def rename():
        sender.rename("i-2")
        appender(spool, clock, "known", after_s=60 - clock.now_s % 60)()

    waiter.steps = [appender(spool, clock, "guessed", after_s=60 - first), rename]
    sender.run()
    assert [["guessed"], ["known"]] == [lines for _, lines in destination.sent]
    assert pytest.approx([60 + first, 120 + second]) == [at_s for at_s, _ in destination.sent]

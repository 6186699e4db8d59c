"""The sender: the time at which it sends, and what it leaves when it stops."""

from __future__ import annotations

import logging
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.delivery.delivery import Delivery
from neuron_emitter.delivery.sender import Sender, offset_s
from tests.neuron_emitter.delivery.fake_destinations import RecordingDestination, appender, run


@given(st.text(), st.floats(0, 60))
def test_the_moment_of_an_instance_is_within_the_spread(instance, spread_s):
    """An instance's offset is at least 0 and below the spread, and 0 without a spread."""
    assert 0 <= offset_s(instance, spread_s) <= spread_s
    assert 0 == offset_s(instance, 0)


def test_the_moment_is_the_same_in_every_process():
    """An instance's offset is the same in every process, unlike Python's hash."""
    assert pytest.approx(26.822862567453495) == offset_s("i-0123456789abcdef0", 30)


def test_a_fleet_is_spread_evenly():
    """1,000 instances over 30 s: each second has at most twice its share."""
    seconds = [int(offset_s(f"i-{number:017x}", 30)) for number in range(1000)]
    assert set(range(30)) == set(seconds)
    assert max(seconds.count(second) for second in range(30)) <= 66


def test_records_are_sent_at_the_moment_of_their_minute(spool, clock):
    """A minute's line waits for the instance's offset. A line after the offset is sent at once."""
    slot = offset_s("i-1", 30)
    destination = RecordingDestination(clock)
    run(
        spool,
        clock,
        destination,
        appender(spool, clock, "minute", after_s=60.5 - slot),
        appender(spool, clock, "event", after_s=31),
    )
    assert [["minute"], ["event"]] == [lines for _, lines in destination.sent]
    assert pytest.approx([60 + slot, 60 + slot + 31]) == [at_s for at_s, _ in destination.sent]


def test_a_bug_does_not_end_delivery(spool, clock, caplog):
    """An unexpected exception is logged with its traceback, and the call is repeated."""
    appender(spool, clock, "a")()
    with caplog.at_level(logging.ERROR, "neuron_emitter"):
        pauses = run(
            spool, clock, RecordingDestination(clock, RuntimeError("surprise")), spread_s=0
        )
    (said,) = caplog.records
    assert "unexpected RuntimeError" == said.why
    assert said.exc_info is not None
    assert 1.0 <= pauses[1] <= 3.0
    assert 0 == spool.health().records


class Hanging(RecordingDestination):
    """A destination that answers after its release, and calls *before* just before that."""

    def __init__(self, clock, before=lambda: None):
        super().__init__(clock)
        self.entered = threading.Event()
        self.released = threading.Event()
        self.before = before

    def send(self, batch):
        self.entered.set()
        self.released.wait(9)
        self.before()
        return super().send(batch)


def started(spool, clock, destination, spread_s=0.0):
    """Return a started sender with one record to send."""
    sender = Sender(Delivery(spool, destination, clock=clock), instance="i-1", spread_s=spread_s)
    appender(spool, clock, "a")()
    sender.start()
    return sender


def test_stop_flushes_what_is_left(spool, clock):
    """A stop sends the remaining records and returns how many remain."""
    destination = RecordingDestination(clock)
    sender = started(spool, clock, destination)
    sender.wake()
    appender(spool, clock, "b")()
    flushed = sender.stop(5)
    assert 0 == flushed.remaining
    assert flushed.problem is None
    assert ["a", "b"] == [line for _, lines in destination.sent for line in lines]
    assert 1 == destination.closed


def test_stop_leaves_a_call_that_hangs_behind(spool, clock):
    """A stop does not wait for a call that hangs. Its records are kept and may arrive twice."""
    destination = Hanging(clock)
    sender = started(spool, clock, destination)
    assert destination.entered.wait(60)
    flushed = sender.stop(0.05)
    assert 1 == flushed.remaining
    assert "timeout" == flushed.problem.reason
    spool.close()  # like the command at its end; the late answer finds a closed spool
    destination.released.set()
    sender._thread.join()
    with pytest.raises(Exception, match="closed"):
        sender.stop(1)


def test_a_replaced_sender_finishes_its_call(spool, clock):
    """A replaced sender may finish its call: the answer counts, and nothing is sent after it."""
    destination = Hanging(clock, before=appender(spool, clock, "later"))
    sender = started(spool, clock, destination)
    assert destination.entered.wait(60)
    sender.stop(0.01, is_replaced=True)
    assert [] == destination.sent
    destination.released.set()
    sender._thread.join()
    assert [["a"]] == [lines for _, lines in destination.sent]
    assert 1 == spool.health().delivered
    assert 1 == spool.health().records

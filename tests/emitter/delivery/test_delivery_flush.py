"""A flush: how long it goes on, and what it leaves."""

from __future__ import annotations

from scripted import NO_GROUP, TIMEOUT, Scripted, fill

from emitter.delivery.delivery import Delivery, Flushed
from emitter.delivery.destination import Delivered
from emitter.spool import Spool


def test_a_flush_ends_at_its_deadline(spool, deliver_to, clock):
    """It does not begin a wait that would end after it; the rest is kept, with the reason."""
    fill(spool, "a")
    flushed = deliver_to(Scripted(*[TIMEOUT] * 1000)).flush(5)
    assert Flushed(0, 1, TIMEOUT) == flushed
    assert 1 <= len(clock.waits)
    assert sum(clock.waits) < 5


def test_a_flush_without_time_is_one_attempt(spool, deliver_to):
    """After a stop there is always time to ask once."""
    destination = Scripted()
    fill(spool, *"abcdefghij")
    assert Flushed(8, 2) == deliver_to(destination).flush(0)
    assert 1 == len(destination.calls)


def test_a_flush_ends_at_a_refusal(spool, deliver_to, clock):
    """Waiting would not help the command, its user must read the sentence."""
    destination = Scripted(Delivered(), NO_GROUP)
    fill(spool, *"abcdefghij")
    assert Flushed(8, 2, NO_GROUP) == deliver_to(destination).flush(1000)
    assert [] == clock.waits


def test_records_of_older_boots_are_sent_and_counted_as_remaining(tmp_path, clock):
    """What a former run left behind goes first."""
    with Spool.open(tmp_path, clock=clock) as spool:
        fill(spool, "older")
    with Spool.open(tmp_path, clock=clock) as spool:
        fill(spool, "newer")
        delivery = Delivery(spool, Scripted(NO_GROUP), clock=clock)
        assert 2 == delivery.flush(5).remaining
        destination = Scripted()
        assert Flushed(2, 0) == Delivery(spool, destination, clock=clock).flush(5)
        assert ["older", "newer"] == destination.taken

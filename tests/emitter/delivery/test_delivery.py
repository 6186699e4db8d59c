"""Delivery: what each answer of a destination means for the records."""

from __future__ import annotations

import logging
from collections import Counter
from operator import attrgetter

from hypothesis import given
from hypothesis import strategies as st
from scripted import AGED, NO_GROUP, NOW_MS, NOW_S, TIMEOUT, Scripted, fill, identity_holds

from emitter.delivery.delivery import REFUSED_WAIT_S, Delivery, Flushed
from emitter.delivery.destination import Delivered
from emitter.spool import NewRecord, Spool


def test_the_oldest_go_first_until_nothing_is_left(spool, deliver_to):
    """In calls as large as they may be."""
    destination = Scripted()
    fill(spool, *"abcdefghij")
    assert Flushed(10, 0) == deliver_to(destination).flush(5)
    assert [list("abcdefgh"), list("ij")] == destination.calls
    assert 10 == spool.health().delivered


def test_what_passes_is_tried_again_with_jitter(spool, deliver_to, clock):
    """For as long as it takes; nothing is dropped, and the wait grows within its bounds."""
    destination = Scripted(*[TIMEOUT] * 40)
    delivery = deliver_to(destination)
    fill(spool, "a")
    for _ in range(40):
        attempt = delivery.attempt()
        assert TIMEOUT == attempt.outcome
        clock.sleep(attempt.wait_s)
    assert all(0.2 <= wait_s <= 60 for wait_s in clock.waits)
    assert max(clock.waits[:3]) < 6 < max(clock.waits)
    assert isinstance(delivery.attempt().outcome, Delivered)
    assert ["a"] == destination.taken


def test_a_refusal_keeps_the_records_and_waits_a_minute(spool, deliver_to):
    """Somebody must act; when they have, no restart is needed."""
    destination = Scripted(NO_GROUP)
    delivery = deliver_to(destination)
    fill(spool, "a")
    attempt = delivery.attempt()
    assert (NO_GROUP, REFUSED_WAIT_S) == (attempt.outcome, attempt.wait_s)
    assert NO_GROUP == delivery.problem
    assert 1 == spool.health().records
    assert isinstance(delivery.attempt().outcome, Delivered)
    assert delivery.problem is None


def test_a_refusal_is_said_once_in_ten_minutes(spool, deliver_to, clock, caplog):
    """With its sentence and the records that wait; and once more when it is over."""
    delivery = deliver_to(Scripted(*[NO_GROUP] * 12))
    fill(spool, "a", "b")
    with caplog.at_level(logging.INFO, "emitter"):
        for _ in range(13):
            clock.sleep(delivery.attempt().wait_s)
    first, second, over = caplog.records
    assert ["delivery refused", "delivery refused", "delivery resumed"] == caplog.messages
    names = "why", "attempts", "records", "levelno"
    assert (NO_GROUP.sentence, 1, 2, logging.ERROR) == attrgetter(*names)(first)
    assert 10 == second.attempts
    assert "no_log_group" == over.after


def test_what_comes_and_goes_is_not_said_each_time(spool, deliver_to, clock, caplog):
    """Throttled once a minute for half an hour: three warnings, each with its end."""
    delivery = deliver_to(Scripted(*[TIMEOUT, Delivered()] * 30))
    with caplog.at_level(logging.INFO, "emitter"):
        for _ in range(30):
            fill(spool, "a")
            delivery.attempt()
            delivery.attempt()
            clock.now_s += 60
    assert ["delivery delayed", "delivery resumed"] * 3 == caplog.messages
    assert [1, 10, 10] == [said.attempts for said in caplog.records[::2]]


def test_the_first_wait_after_a_success_is_short_again(spool, deliver_to):
    """What was learnt of the last problem says nothing of the next."""
    delivery = deliver_to(Scripted(*([TIMEOUT] * 10 + [Delivered()]) * 8))
    longest_s, firsts_s = 0.0, []
    for _ in range(8):
        fill(spool, "a")
        waits = [delivery.attempt().wait_s for _ in range(11)]
        longest_s = max(longest_s, *waits)
        firsts_s.append(waits[0])
    assert max(firsts_s) <= 0.6 < longest_s


def test_rejected_events_are_counted_by_class(spool, deliver_to):
    """The rest of the same call is delivered; none of them is sent again."""
    rejected = {"too_old": (0, 1), "expired": (2,), "too_new": (4,)}
    destination = Scripted(Delivered(rejected))
    fill(spool, *"abcde")
    assert Flushed(1, 0) == deliver_to(destination).flush(5)
    assert ["d"] == destination.taken
    assert {"too_old": 2, "expired": 1, "too_new": 1} == spool.health().dropped


def test_age_is_looked_at_before_each_attempt(spool, deliver_to, clock):
    """What became too old while it waited is dropped with its reason, not sent for ever."""
    destination = Scripted(TIMEOUT, limits=AGED)
    delivery = deliver_to(destination)
    fill(spool, "a")
    delivery.attempt()
    clock.now_s += 61
    assert delivery.attempt().outcome is None
    assert {"too_old": 1} == spool.health().dropped


def test_unsendable_records_do_not_hide_the_others(spool, deliver_to):
    """A full take of nothing but unsendable records is dropped and the next is taken."""
    destination = Scripted(limits=AGED)
    spool.append([NewRecord(NOW_MS + 6_000, "early")] * 8)
    fill(spool, "a")
    assert Flushed(1, 0) == deliver_to(destination).flush(5)
    assert {"too_new": 8} == spool.health().dropped


OUTCOMES = st.one_of(
    st.just(TIMEOUT),
    st.just(NO_GROUP),
    st.just(Delivered()),
    st.sampled_from(["too_old", "too_new", "expired"]).map(lambda why: Delivered({why: (0,)})),
)


@given(st.lists(OUTCOMES, max_size=20), st.integers(0, 25), st.sets(st.integers(0, 24)))
def test_every_record_is_delivered_or_dropped_whatever_the_answers(answers, records, places):
    """Any sequence of answers: each line is taken at least once, or counted with a reason."""
    texts = [f"line {i}" for i in range(records)]
    destination = Scripted(*answers, poison={f"line {place}" for place in places})
    with Spool.open(None, max_age_s=None) as spool:
        fill(spool, *texts)
        delivery = Delivery(spool, destination, clock=lambda: NOW_S)
        while delivery.attempt().outcome is not None:
            assert identity_holds(spool)
        health = spool.health()
        assert 0 == health.records
        assert Counter(destination.taken).keys() <= set(texts)
        assert health.delivered == len(set(destination.taken)) == len(destination.taken)
        assert records == health.delivered + sum(health.dropped.values())

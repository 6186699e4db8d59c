"""
Poison: a record that makes every call fail is found, quarantined and named; nothing else is lost.
"""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import NOW_S, TIMEOUT, Scripted, fill, identity_holds

from emitter.delivery.delivery import (
    EMPTY_LINE,
    MAX_POISON_IN_A_ROW,
    REFUSED_WAIT_S,
    Delivery,
    Flushed,
)
from emitter.delivery.destination import BatchLimits, Delivered, Refused
from emitter.spool import Spool
from emitter.spool.records import cost_bytes


@pytest.fixture
def quarantined(spool, monkeypatch):
    """What the spool was asked to quarantine, and why."""
    found = []
    original = Spool.quarantine

    def note(self, records, why):
        found.append(([record.line for record in records], why))
        return original(self, records, why)

    monkeypatch.setattr(Spool, "quarantine", note)
    assert 0 == spool.health().records
    return found


def test_poison_is_quarantined_with_the_reason(spool, deliver_to, quarantined):
    """In the words of the destination, for whoever looks into it."""
    fill(spool, *"abcd")
    assert Flushed(3, 0) == deliver_to(Scripted(poison=["c"])).flush(5)
    assert [(["c"], "one of these is wrong")] == quarantined
    assert {"invalid": 1} == spool.health().dropped
    assert identity_holds(spool)


def test_an_empty_line_is_quarantined_without_a_call(spool, deliver_to, quarantined):
    """CloudWatch Logs would refuse the whole call for it."""
    destination = Scripted()
    fill(spool, "a", "", "b")
    assert Flushed(2, 0) == deliver_to(destination).flush(5)
    assert [([""], EMPTY_LINE)] == quarantined
    assert [["a", "b"]] == destination.calls


def test_a_destination_that_calls_everything_invalid_does_not_empty_the_spool(
    spool, deliver_to, quarantined, caplog
):
    """After 100 in a row it is not the records: the rest is kept, and somebody is asked to look."""
    texts = [f"line {number}" for number in range(150)]
    destination = Scripted(poison=texts, limits=BatchLimits())
    delivery = deliver_to(destination)
    fill(spool, *texts)
    with caplog.at_level(logging.ERROR, "emitter"):
        while not isinstance((attempt := delivery.attempt()).outcome, Refused):
            pass
    assert ("all_invalid", REFUSED_WAIT_S) == (attempt.outcome.reason, attempt.wait_s)
    assert MAX_POISON_IN_A_ROW == len(quarantined) == 100
    assert {"invalid": 100} == spool.health().dropped
    assert 50 == spool.health().records
    assert ["delivery refused"] == caplog.messages
    assert "Check the log group" in caplog.records[0].why
    assert "line" not in caplog.records[0].why


def test_a_destination_that_came_to_its_senses_gets_what_was_kept(spool, deliver_to):
    """The newest record is offered first: it tells whether things are right again."""
    texts = [f"line {number}" for number in range(110)]
    destination = Scripted(poison=texts, limits=BatchLimits())
    delivery = deliver_to(destination)
    fill(spool, *texts)
    while not isinstance(delivery.attempt().outcome, Refused):
        pass
    calls = len(destination.calls)
    while not isinstance(delivery.attempt().outcome, Refused):
        pass
    assert ["line 109"] == destination.calls[-1]
    assert len(destination.calls) - calls <= 6
    fill(spool, "new")
    while not isinstance(delivery.attempt().outcome, Delivered):
        pass
    assert ["new"] == destination.taken
    destination.poison.clear()
    assert Flushed(10, 0) == delivery.flush(5)
    assert {"invalid": 100} == spool.health().dropped


@given(
    st.integers(1, 30).flatmap(
        lambda records: st.tuples(st.just(records), st.sets(st.integers(0, records - 1)))
    )
)
def test_only_poison_is_dropped_from_an_invalid_batch(example):
    """Wherever the poison is and however much, all else is delivered, in order."""
    records, places = example
    texts = [f"line {i}" for i in range(records)]
    poison = {texts[place] for place in places}
    destination = Scripted(poison=poison)
    with Spool.open(None, max_age_s=None) as spool:
        fill(spool, *texts)
        delivery = Delivery(spool, destination, clock=lambda: NOW_S)
        flushed = delivery.flush(1000)
        assert Flushed(records - len(poison), 0) == flushed
        assert [text for text in texts if text not in poison] == destination.taken
        assert len(poison) == spool.health().dropped.get("invalid", 0)
        assert identity_holds(spool)


def test_one_poison_record_costs_few_calls(spool, deliver_to):
    """Halving: 1,000 records with one poison in them need about 2 log2 calls, not 1,000."""
    destination = Scripted(poison=["line 700"], limits=BatchLimits())
    fill(spool, *(f"line {i}" for i in range(1000)))
    assert Flushed(999, 0) == deliver_to(destination).flush(5)
    assert len(destination.calls) <= 21


def test_throttling_does_not_lose_the_place_of_the_poison(spool, deliver_to):
    """Every second call throttled: the halving goes on where it was."""
    answers = [answer for _ in range(12) for answer in (Delivered(), TIMEOUT)]
    destination = Scripted(*answers, poison=["line 5"])
    fill(spool, *(f"line {i}" for i in range(8)))
    deliver_to(destination).flush(1000)
    assert {"invalid": 1} == spool.health().dropped
    assert len(destination.calls) <= 16


def test_what_the_spool_dropped_meanwhile_is_not_sent(clock):
    """While an invalid batch is halved, the spool may run full: what is gone is gone."""
    destination = Scripted(poison=["b"])
    with Spool.open(None, max_bytes=4 * cost_bytes(1), clock=clock) as spool:
        delivery = Delivery(spool, destination, clock=clock)
        fill(spool, *"abcd")
        delivery.attempt()
        fill(spool, *"efg")
        delivery.flush(5)
        assert [list("abcd"), ["d"], list("efg")] == destination.calls
        assert {"spool_full": 3} == spool.health().dropped
        assert identity_holds(spool)


def test_a_dropped_record_is_logged_without_its_line(spool, deliver_to, caplog):
    """The reason, the stage and the service's words; never the payload."""
    fill(spool, "secret payload")
    with caplog.at_level(logging.WARNING, "emitter"):
        deliver_to(Scripted(poison=["secret payload"])).flush(5)
    (said,) = caplog.records
    assert ("records dropped", 1, "invalid", "sending", "one of these is wrong") == (
        said.getMessage(),
        said.count,
        said.reason,
        said.stage,
        said.why,
    )
    assert "secret" not in str(said.__dict__)

"""Delivery: the effect of each answer on the records, and the search for poison."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.delivery.delivery import (
    MAX_POISON_IN_A_ROW,
    REFUSED_WAIT_S,
    Delivery,
    Flushed,
)
from neuron_emitter.delivery.destination import BatchLimits, Delivered, Refused
from neuron_emitter.spool import Spool
from tests.neuron_emitter.delivery.fake_destinations import (
    DELIVERY_NOW_S,
    REFUSED_WITHOUT_GROUP,
    TIMEOUT,
    Scripted,
    fill,
    identity_holds,
)

if TYPE_CHECKING:
    from neuron_emitter.spool.spool_records import DropReason


def test_a_temporary_failure_is_retried_with_jitter(spool, deliver_to, clock):
    """A temporary failure is retried until it ends, with growing, bounded waits and no drop."""
    destination = Scripted(*[TIMEOUT] * 40)
    delivery = deliver_to(destination)
    fill(spool, "a")
    for _ in range(40):
        outcome, wait_s = delivery.attempt()
        assert TIMEOUT == outcome
        clock.sleep(wait_s)
    assert all(0.2 <= wait_s <= 60 for wait_s in clock.waits)
    assert max(clock.waits[:3]) < 6 < max(clock.waits)
    assert isinstance(delivery.attempt()[0], Delivered)
    assert ["a"] == destination.taken


def test_a_refusal_is_logged_once_in_ten_minutes(spool, deliver_to, clock, caplog):
    """
    A refusal is logged once in ten minutes, with its sentence and the number of records.

    Its end is logged too.
    """
    delivery = deliver_to(Scripted(*[REFUSED_WITHOUT_GROUP] * 12))
    fill(spool, "a", "b")
    with caplog.at_level(logging.INFO, "neuron_emitter"):
        for _ in range(13):
            clock.sleep(delivery.attempt()[1])
    first, second, over = caplog.records
    assert ["delivery refused", "delivery refused", "delivery resumed"] == caplog.messages
    assert REFUSED_WITHOUT_GROUP.sentence == first.why
    assert 1 == first.attempts
    assert 2 == first.records
    assert logging.ERROR == first.levelno
    assert 10 == second.attempts
    assert "no_log_group" == over.after


REASONS: list[DropReason] = ["too_old", "too_new", "expired"]
OUTCOMES = st.one_of(
    st.just(TIMEOUT),
    st.just(REFUSED_WITHOUT_GROUP),
    st.just(Delivered()),
    st.sampled_from(REASONS).map(lambda why: Delivered({why: (0,)})),
)


@given(st.lists(OUTCOMES, max_size=20), st.integers(0, 25), st.sets(st.integers(0, 24)))
def test_every_record_is_delivered_or_dropped(answers, records, places):
    """Each record is delivered once or dropped with a reason, for any answers."""
    texts = [f"line {i}" for i in range(records)]
    destination = Scripted(*answers, poison={f"line {place}" for place in places})
    with Spool(None, max_age_s=1e12) as spool:
        fill(spool, *texts)
        delivery = Delivery(spool, destination, clock=lambda: DELIVERY_NOW_S)
        while delivery.attempt()[0] is not None:
            assert identity_holds(spool)
        health = spool.health()
        assert 0 == health.records
        assert Counter(destination.taken).keys() <= set(texts)
        assert health.delivered == len(set(destination.taken)) == len(destination.taken)
        assert records == health.delivered + sum(health.dropped.values())


def test_a_flush_ends_at_its_deadline(spool, deliver_to, clock):
    """A flush starts no wait beyond its deadline, and returns the remaining count and reason."""
    fill(spool, "a")
    flushed = deliver_to(Scripted(*[TIMEOUT] * 1000)).flush(5)
    assert Flushed(1, TIMEOUT) == flushed
    assert 1 <= len(clock.waits)
    assert sum(clock.waits) < 5


@pytest.fixture
def quarantined(spool, monkeypatch):
    """Return the list of quarantined lines and reasons."""
    quarantined_lines = []
    original = Spool.quarantine

    def note(self, records, why):
        quarantined_lines.append(([record.line for record in records], why))
        return original(self, records, why)

    monkeypatch.setattr(Spool, "quarantine", note)
    assert 0 == spool.health().records
    return quarantined_lines


def test_poison_is_quarantined_with_the_reason(spool, deliver_to, quarantined):
    """A poison record is quarantined with the destination's words."""
    fill(spool, *"abcd")
    assert Flushed(0) == deliver_to(Scripted(poison=["c"])).flush(5)
    assert [(["c"], "one record is invalid")] == quarantined
    assert {"invalid": 1} == spool.health().dropped
    assert identity_holds(spool)


def test_a_destination_that_rejects_every_record_does_not_empty_the_spool(
    spool, deliver_to, quarantined, caplog
):
    """After 100 invalid records in a row, delivery stops dropping and logs what to check."""
    texts = [f"line {number}" for number in range(150)]
    destination = Scripted(poison=texts, limits=BatchLimits())
    delivery = deliver_to(destination)
    fill(spool, *texts)
    with caplog.at_level(logging.ERROR, "neuron_emitter"):
        outcome, wait_s = delivery.attempt()
        while not isinstance(outcome, Refused):
            outcome, wait_s = delivery.attempt()
    assert "all_invalid" == outcome.reason
    assert REFUSED_WAIT_S == wait_s
    assert MAX_POISON_IN_A_ROW == len(quarantined) == 100
    assert {"invalid": 100} == spool.health().dropped
    assert 50 == spool.health().records
    assert ["delivery refused"] == caplog.messages
    assert "Check the log group" in caplog.records[0].why
    assert "line" not in caplog.records[0].why


def test_one_poison_record_costs_few_calls(spool, deliver_to):
    """One poison record in 1,000 is found by halving, in at most 21 calls."""
    destination = Scripted(poison=["line 700"], limits=BatchLimits())
    fill(spool, *(f"line {i}" for i in range(1000)))
    assert Flushed(0) == deliver_to(destination).flush(5)
    assert len(destination.calls) <= 21


def test_a_dropped_record_is_logged_without_its_line(spool, deliver_to, caplog):
    """The log line of a drop has reason, stage and the service's words, never the payload."""
    fill(spool, "secret payload")
    with caplog.at_level(logging.WARNING, "neuron_emitter"):
        deliver_to(Scripted(poison=["secret payload"])).flush(5)
    (said,) = caplog.records
    assert "records dropped" == said.getMessage()
    assert 1 == said.count
    assert "invalid" == said.reason
    assert "sending" == said.stage
    assert "one record is invalid" == said.why
    assert "secret" not in str(said.__dict__)

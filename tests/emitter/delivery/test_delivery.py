"""
Delivery: what each answer of a destination means for the records.
"""

from __future__ import annotations

import io
import logging
import os
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.backoff import Backoff
from emitter.delivery.batches import BatchLimits
from emitter.delivery.delivery import REFUSED_WAIT_S, Delivery, Flushed
from emitter.delivery.destination import Delivered, Invalid, Refused, Retry
from emitter.delivery.lines_out import StreamDestination
from emitter.repeats import Repeats
from emitter.spool import NewRecord, Spool, SpoolFailedError
from emitter.spool.ledger import cost_bytes

NOW_S = 1_795_000_000.0
NOW_MS = 1_795_000_000_000
AGED = BatchLimits(max_events=8, max_age_ms=60_000, max_future_ms=5_000)
TIMEOUT = Retry("timeout", "no answer", ambiguous=True)
NO_GROUP = Refused("no_log_group", "there is no log group /x in y: deploy the stack")


class Clock:
    """
    A clock that only waiting moves.
    """

    def __init__(self) -> None:
        self.now_s = NOW_S
        self.waits: list[float] = []

    def __call__(self) -> float:
        """
        Seconds since the epoch.
        """
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """
        Wait without waiting.
        """
        self.waits.append(seconds)
        self.now_s += seconds


class Scripted:
    """
    A destination that gives the answers it was given, then takes everything.

    *poison* lines make a call invalid.
    """

    def __init__(self, *answers, poison=(), limits=None):
        self.answers = list(answers)
        self.poison = set(poison)
        self.limits = limits or BatchLimits(max_events=8)
        self.calls: list[list[str]] = []
        self.taken: list[str] = []

    def send(self, batch):
        """
        Answer as scripted.
        """
        lines = [record.line for record in batch]
        self.calls.append(lines)
        answer = self.answers.pop(0) if self.answers else Delivered()
        if isinstance(answer, Delivered):
            if self.poison & set(lines):
                return Invalid("one of these is wrong")
            lost = {place for places in answer.rejected.values() for place in places}
            self.taken += [line for place, line in enumerate(lines) if place not in lost]
        return answer

    def close(self):
        """
        Nothing to close.
        """


@pytest.fixture
def clock():
    """
    A clock for spool and delivery.
    """
    return Clock()


@pytest.fixture
def spool(clock):
    """
    A spool in memory.
    """
    with Spool.open(None, clock=clock) as opened:
        yield opened


@pytest.fixture
def deliver_to(spool, clock):
    """
    A delivery from the spool to a destination, on the fixtures' clock.
    """

    def make(destination):
        return Delivery(
            spool,
            destination,
            clock=clock,
            monotonic=clock,
            sleep=clock.sleep,
            rng=random.Random(1),
        )

    return make


def fill(spool, *texts):
    """
    Append one record per text, of now.
    """
    spool.append([NewRecord(NOW_MS, text) for text in texts])


def identity_holds(spool):
    """
    Whether every produced record is accounted for.
    """
    health = spool.health()
    return health.produced == health.delivered + health.records + sum(health.dropped.values())


def test_an_empty_spool_is_not_sent(spool, deliver_to):
    """
    No call is made for nothing.
    """
    destination = Scripted()
    assert deliver_to(destination).attempt().outcome is None
    assert [] == destination.calls
    assert 0 == spool.health().produced


def test_the_oldest_go_first_until_nothing_is_left(spool, deliver_to):
    """
    In calls as large as they may be.
    """
    destination = Scripted()
    fill(spool, *"abcdefghij")
    assert Flushed(10, 0) == deliver_to(destination).flush(5)
    assert [list("abcdefgh"), list("ij")] == destination.calls
    assert 10 == spool.health().delivered


def test_what_passes_is_tried_again_with_jitter(spool, deliver_to, clock):
    """
    For as long as it takes; nothing is dropped, and the wait grows within its bounds.
    """
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
    """
    Somebody must act; when they have, no restart is needed.
    """
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
    """
    With its sentence and the records that wait; and once more when it is over.
    """
    delivery = deliver_to(Scripted(*[NO_GROUP] * 12))
    fill(spool, "a", "b")
    with caplog.at_level(logging.INFO, "emitter"):
        for _ in range(13):
            clock.sleep(delivery.attempt().wait_s)
    first, second, over = caplog.records
    assert ["delivery refused", "delivery refused", "delivery resumed"] == caplog.messages
    assert (NO_GROUP.sentence, 1, 2, logging.ERROR) == (
        first.why,
        first.attempts,
        first.records,
        first.levelno,
    )
    assert 10 == second.attempts
    assert "no_log_group" == over.after


def test_what_comes_and_goes_is_not_said_each_time(spool, deliver_to, clock, caplog):
    """
    Throttled once a minute for half an hour: three warnings, each with its end.
    """
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
    """
    What was learnt of the last problem says nothing of the next.
    """
    delivery = deliver_to(Scripted(*([TIMEOUT] * 10 + [Delivered()]) * 8))
    longest_s, firsts_s = 0.0, []
    for _ in range(8):
        fill(spool, "a")
        waits = [delivery.attempt().wait_s for _ in range(11)]
        longest_s = max(longest_s, *waits)
        firsts_s.append(waits[0])
    assert max(firsts_s) <= 0.6 < longest_s


def test_rejected_events_are_counted_by_class(spool, deliver_to):
    """
    The rest of the same call is delivered; none of them is sent again.
    """
    rejected = {"too_old": (0, 1), "expired": (2,), "too_new": (4,)}
    destination = Scripted(Delivered(rejected))
    fill(spool, *"abcde")
    assert Flushed(1, 0) == deliver_to(destination).flush(5)
    assert ["d"] == destination.taken
    assert {"too_old": 2, "expired": 1, "too_new": 1} == spool.health().dropped


def test_age_is_looked_at_before_each_attempt(spool, deliver_to, clock):
    """
    What became too old while it waited is dropped with its reason, not sent for ever.
    """
    destination = Scripted(TIMEOUT, limits=AGED)
    delivery = deliver_to(destination)
    fill(spool, "a")
    delivery.attempt()
    clock.now_s += 61
    assert delivery.attempt().outcome is None
    assert {"too_old": 1} == spool.health().dropped


def test_unsendable_records_do_not_hide_the_others(spool, deliver_to):
    """
    A full take of nothing but unsendable records is dropped and the next is taken.
    """
    destination = Scripted(limits=AGED)
    spool.append([NewRecord(NOW_MS + 6_000, "early")] * 8)
    fill(spool, "a")
    assert Flushed(1, 0) == deliver_to(destination).flush(5)
    assert {"too_new": 8} == spool.health().dropped


@given(
    st.integers(1, 30).flatmap(
        lambda records: st.tuples(st.just(records), st.sets(st.integers(0, records - 1)))
    )
)
def test_only_poison_is_dropped_from_an_invalid_batch(example):
    """
    Wherever the poison is and however much, all else is delivered, in order.
    """
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
    """
    Halving: 1,000 records with one poison in them need about 2 log2 calls, not 1,000.
    """
    destination = Scripted(poison=["line 700"], limits=BatchLimits())
    fill(spool, *(f"line {i}" for i in range(1000)))
    assert Flushed(999, 0) == deliver_to(destination).flush(5)
    assert len(destination.calls) <= 21


def test_throttling_does_not_lose_the_place_of_the_poison(spool, deliver_to):
    """
    Every second call throttled: the halving goes on where it was.
    """
    answers = [answer for _ in range(12) for answer in (Delivered(), TIMEOUT)]
    destination = Scripted(*answers, poison=["line 5"])
    fill(spool, *(f"line {i}" for i in range(8)))
    deliver_to(destination).flush(1000)
    assert {"invalid": 1} == spool.health().dropped
    assert len(destination.calls) <= 16


def test_what_the_spool_dropped_meanwhile_is_not_sent(clock):
    """
    While an invalid batch is halved, the spool may run full: what is gone is gone.
    """
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
    """
    The reason, the stage and the service's words; never the payload.
    """
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


def test_a_flush_ends_at_its_deadline(spool, deliver_to, clock):
    """
    It does not begin a wait that would end after it; the rest is kept, with the reason.
    """
    fill(spool, "a")
    flushed = deliver_to(Scripted(*[TIMEOUT] * 1000)).flush(5)
    assert Flushed(0, 1, TIMEOUT) == flushed
    assert 1 <= len(clock.waits)
    assert sum(clock.waits) < 5


def test_a_flush_without_time_is_one_attempt(spool, deliver_to):
    """
    After a stop there is always time to ask once.
    """
    destination = Scripted()
    fill(spool, *"abcdefghij")
    assert Flushed(8, 2) == deliver_to(destination).flush(0)
    assert 1 == len(destination.calls)


def test_a_flush_ends_at_a_refusal(spool, deliver_to, clock):
    """
    Waiting would not help the command, its user must read the sentence.
    """
    destination = Scripted(Delivered(), NO_GROUP)
    fill(spool, *"abcdefghij")
    assert Flushed(8, 2, NO_GROUP) == deliver_to(destination).flush(1000)
    assert [] == clock.waits


def test_a_problem_that_passed_is_no_problem(spool, deliver_to):
    """
    The summary names what stands in the way now, not what did.
    """
    fill(spool, "a")
    assert Flushed(1, 0) == deliver_to(Scripted(TIMEOUT)).flush(1000)


def test_records_of_older_boots_are_sent_and_counted_as_remaining(tmp_path, clock):
    """
    What a former run left behind goes first.
    """
    with Spool.open(tmp_path, clock=clock) as spool:
        fill(spool, "older")
    with Spool.open(tmp_path, clock=clock) as spool:
        fill(spool, "newer")
        delivery = Delivery(spool, Scripted(NO_GROUP), clock=clock)
        assert 2 == delivery.flush(5).remaining
        destination = Scripted()
        assert Flushed(2, 0) == Delivery(spool, destination, clock=clock).flush(5)
        assert ["older", "newer"] == destination.taken


def test_an_answer_that_cannot_be_recorded_is_asked_for_again(spool, deliver_to):
    """
    The spool fails after the service took the records: they stay, a copy may arrive.
    """
    database = spool._transactions._database

    class Breaking(Scripted):
        def send(self, batch):
            database.execute(f"PRAGMA query_only = {int(not self.calls)}")
            return super().send(batch)

    destination = Breaking()
    fill(spool, "a")
    with pytest.raises(SpoolFailedError):
        deliver_to(destination).attempt()
    database.execute("PRAGMA query_only = 0")
    assert Flushed(1, 0) == deliver_to(destination).flush(5)
    assert ["a", "a"] == destination.taken
    assert 1 == spool.health().delivered


OUTCOMES = st.one_of(
    st.just(TIMEOUT),
    st.just(NO_GROUP),
    st.just(Delivered()),
    st.sampled_from(["too_old", "too_new", "expired"]).map(lambda why: Delivered({why: (0,)})),
)


@given(st.lists(OUTCOMES, max_size=20), st.integers(0, 25), st.sets(st.integers(0, 24)))
def test_every_record_is_delivered_or_dropped_whatever_the_answers(answers, records, places):
    """
    Any sequence of answers: each line is taken at least once, or counted with a reason.
    """
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


def test_lines_go_to_a_stream_in_order_of_arrival(spool, deliver_to):
    """
    One per line, flushed; old ones too: a stream has no limit on age.
    """
    stream = io.StringIO()
    spool.append([NewRecord(NOW_MS, "later"), NewRecord(NOW_MS - 86_400_000, "earlier")])
    assert Flushed(2, 0) == deliver_to(StreamDestination(stream)).flush(5)
    assert "later\nearlier\n" == stream.getvalue()


def test_a_closed_pipe_is_a_refusal(spool, deliver_to):
    """
    `neuron-emf ... | head`: the records are kept, the sentence says what happened.
    """
    reading, writing = os.pipe()
    os.close(reading)
    fill(spool, "a")
    stream = os.fdopen(writing, "w")
    flushed = deliver_to(StreamDestination(stream)).flush(5)
    with pytest.raises(BrokenPipeError):
        stream.close()
    assert "closed_pipe" == flushed.problem.reason
    assert "has ended" in flushed.problem.sentence
    assert 1 == flushed.remaining


def test_a_closed_stream_is_a_refusal(spool, deliver_to):
    """
    A file that was closed under us takes nothing more.
    """
    stream = io.StringIO()
    stream.close()
    fill(spool, "a")
    assert "not_writable" == deliver_to(StreamDestination(stream)).flush(5).problem.reason


@given(st.integers())
def test_waits_stay_within_their_bounds(seed):
    """
    Never under 0.2 s, never above 60 s, never more than three times the one before.
    """
    backoff = Backoff(rng=random.Random(seed))
    last_s = 0.2
    for _ in range(30):
        wait_s = backoff.next_s()
        assert 0.2 <= wait_s <= min(60.0, 3 * last_s)
        last_s = wait_s
    backoff.reset()
    assert backoff.next_s() <= 0.6


def test_what_repeats_is_said_with_its_number(clock):
    """
    At once, then once per interval; the interval is inclusive, a clock set back does not silence.
    """
    repeats = Repeats(10, clock)
    assert 3 == repeats.due("a", 3)
    assert 0 == repeats.due("a", 4)
    assert 1 == repeats.due("b")
    clock.now_s += 10
    assert 5 == repeats.due("a")
    clock.now_s -= 5
    assert 1 == repeats.due("a")

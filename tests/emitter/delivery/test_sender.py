"""
The sender: when records are sent, and what a stop leaves behind.
"""

from __future__ import annotations

import hashlib
import logging
import random
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.delivery.batches import BatchLimits
from emitter.delivery.delivery import Delivery, Flushed
from emitter.delivery.destination import Delivered, Refused, Retry
from emitter.delivery.sender import Sender, offset_s, until_slot_s
from emitter.delivery.waiting import Waiter
from emitter.spool import NewRecord, Spool

MINUTE_S = 1_795_000_020.0  # the start of one
NO_GROUP = Refused("no_log_group", "there is no log group")
TIMEOUT = Retry("timeout", "no answer")


class Clock:
    """
    A clock that only waiting moves.
    """

    def __init__(self) -> None:
        self.now_s = MINUTE_S

    def __call__(self) -> float:
        """
        Seconds since the epoch.
        """
        return self.now_s


class Script(Waiter):
    """
    A waiter that waits for nobody: idle runs the next step, then the end comes.
    """

    def __init__(self, clock, *steps):
        super().__init__()
        self.clock = clock
        self.steps = list(steps)
        self.pauses: list[float] = []

    def idle(self):
        """
        Do what the script says next, or stop.
        """
        if self.steps:
            self.steps.pop(0)()
        else:
            self.stop()

    def pause(self, seconds):
        """
        Let time pass, unless the end has come.
        """
        if not self.stopped:
            self.pauses.append(seconds)
            self.clock.now_s += seconds


class Recorder:
    """
    A destination that notes when it was sent what; answers first, then takes everything.
    """

    limits = BatchLimits()

    def __init__(self, clock, *answers):
        self.clock = clock
        self.answers = list(answers)
        self.sent: list[tuple[float, list[str]]] = []
        self.closed = 0

    def send(self, batch):
        """
        Answer as scripted; a scripted exception is raised.
        """
        self.sent.append((self.clock() - MINUTE_S, [record.line for record in batch]))
        answer = self.answers.pop(0) if self.answers else Delivered()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self):
        """
        Note that connections would be closed.
        """
        self.closed += 1


@pytest.fixture
def clock():
    """
    A clock at the start of a minute.
    """
    return Clock()


@pytest.fixture
def spool(clock):
    """
    A spool in memory.
    """
    with Spool.open(None, clock=clock) as opened:
        yield opened


def run(spool, clock, destination, *steps, instance="i-1", spread_s=30.0):
    """
    A sender's whole life in this thread; the waits it asked for.
    """
    waiter = Script(clock, *steps)
    delivery = Delivery(spool, destination, clock=clock, monotonic=clock, sleep=waiter.pause)
    sender = Sender(
        delivery,
        instance=instance,
        spread_s=spread_s,
        clock=clock,
        monotonic=clock,
        waiter=waiter,
        rng=random.Random(3),
    )
    sender.run()
    return waiter.pauses


def appender(spool, clock, text, after_s=0.0):
    """
    A step that lets time pass and appends a line.
    """

    def step():
        clock.now_s += after_s
        spool.append([NewRecord(round(clock.now_s * 1000), text)])

    return step


@given(st.text(), st.floats(0, 60))
def test_the_moment_of_an_instance_is_within_the_spread(instance, spread_s):
    """
    At least 0, less than the spread, 0 without one.
    """
    assert 0 <= offset_s(instance, spread_s) <= spread_s
    assert 0 == offset_s(instance, 0)


def test_the_moment_is_the_same_in_every_process():
    """
    Python's own hash differs from process to process; this one is fixed for ever.
    """
    program = (
        "from emitter.delivery.sender import offset_s; print(offset_s('i-0123456789abcdef0', 30))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": "7"},
    ).stdout
    digest = hashlib.blake2b(b"i-0123456789abcdef0", digest_size=8).hexdigest()
    assert 30 * int(digest, 16) / 2**64 == float(printed)


def test_a_fleet_is_spread_evenly():
    """
    1,000 instances over 30 s: no second has more than twice its share.
    """
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
    """
    What a former run left is not sent by the whole fleet in the second of a deployment.
    """
    clock.now_s += 45
    appender(spool, clock, "left behind")()
    destination = Recorder(clock)
    pauses = run(spool, clock, destination)
    assert [offset_s("i-1", 30)] == pauses
    ((at_s, lines),) = destination.sent
    assert pytest.approx(45 + offset_s("i-1", 30)) == at_s
    assert ["left behind"] == lines


def test_records_are_sent_at_the_moment_of_their_minute(spool, clock):
    """
    A line appended just after the minute waits for the slot; one appended after it does not.
    """
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


def test_a_backlog_is_sent_in_one_go(spool, clock):
    """
    Several calls follow one another without a wait.
    """
    spool.append([NewRecord(round(clock.now_s * 1000), f"line {i}") for i in range(25_000)])
    destination = Recorder(clock)
    assert [0.0] == run(spool, clock, destination, spread_s=0)
    assert [10_000, 10_000, 5_000] == [len(lines) for _, lines in destination.sent]


def test_after_a_problem_it_waits_as_it_was_told(spool, clock):
    """
    A refusal waits a minute; the jitter of a passing failure stays within its bounds.
    """
    appender(spool, clock, "a")()
    pauses = run(spool, clock, Recorder(clock, NO_GROUP, TIMEOUT), spread_s=0)
    assert [0.0, 60.0] == pauses[:2]
    assert 0.2 <= pauses[2] <= 0.6
    assert 0 == spool.health().records


def test_a_bug_does_not_end_delivery(spool, clock, caplog):
    """
    An answer nobody thought of is logged with its trace and tried again.
    """
    appender(spool, clock, "a")()
    with caplog.at_level(logging.ERROR, "emitter"):
        pauses = run(spool, clock, Recorder(clock, RuntimeError("surprise")), spread_s=0)
    (said,) = caplog.records
    assert "unexpected RuntimeError" == said.why
    assert said.exc_info is not None
    assert 1.0 <= pauses[1] <= 3.0
    assert 0 == spool.health().records


def test_waits_after_bugs_start_short_again_after_a_success(spool, clock):
    """
    A bug a day must not add up to a wait of a minute.
    """
    bug = RuntimeError("surprise")
    destination = Recorder(clock, bug, bug, bug, bug, Delivered(), bug)
    appender(spool, clock, "a")()
    pauses = run(spool, clock, destination, appender(spool, clock, "b"), spread_s=0)
    assert max(pauses[1:5]) > 3
    assert 1.0 <= pauses[5] <= 3.0


def test_a_spool_that_fails_is_tried_again(spool, clock, caplog):
    """
    A full disk: the answer could not be recorded, so the records are sent once more.
    """
    appender(spool, clock, "a")()
    database = spool._transactions._database
    destination = Recorder(clock)
    send = destination.send

    def break_once(batch):
        database.execute(f"PRAGMA query_only = {int(len(destination.sent) == 0)}")
        return send(batch)

    destination.send = break_once
    original = Script.pause

    class Repairing(Script):
        def pause(self, seconds):
            database.execute("PRAGMA query_only = 0")
            original(self, seconds)

    waiter = Repairing(clock)
    delivery = Delivery(spool, destination, clock=clock, monotonic=clock)
    Sender(delivery, instance="i-1", spread_s=0, clock=clock, monotonic=clock, waiter=waiter).run()
    assert [["a"], ["a"]] == [lines for _, lines in destination.sent]
    assert 1 == spool.health().delivered
    assert "delivery failed" in caplog.messages


def test_stop_flushes_what_is_left(spool, clock):
    """
    The real thread: started, woken, stopped; everything arrives, the summary says so.
    """
    destination = Recorder(clock)
    sender = Sender(Delivery(spool, destination, clock=clock), instance="i-1", spread_s=0)
    sender.start()
    appender(spool, clock, "a")()
    sender.wake()
    appender(spool, clock, "b")()
    flushed = sender.stop(5)
    assert 0 == flushed.remaining
    assert flushed.problem is None
    assert ["a", "b"] == [line for _, lines in destination.sent for line in lines]
    assert 1 == destination.closed


def test_stop_does_not_wait_for_the_moment(spool, clock):
    """
    A stop in the middle of the spread sends at once.
    """
    destination = Recorder(clock)
    sender = Sender(Delivery(spool, destination, clock=clock), instance="i-1", spread_s=3600)
    appender(spool, clock, "a")()
    sender.start()
    assert Flushed(1, 0) == sender.stop(5)


def test_stop_keeps_what_is_refused(spool, clock):
    """
    And says why.
    """
    sender = Sender(
        Delivery(spool, Recorder(clock, *[NO_GROUP] * 9), clock=clock), instance="i-1", spread_s=0
    )
    appender(spool, clock, "a")()
    sender.start()
    assert Flushed(0, 1, NO_GROUP) == sender.stop(5)


def test_stop_without_start_flushes_too(spool, clock):
    """
    A run that ended before its first send still sends.
    """
    appender(spool, clock, "a")()
    sender = Sender(Delivery(spool, Recorder(clock), clock=clock), instance="i-1")
    assert Flushed(1, 0) == sender.stop(5)


def test_stop_leaves_a_call_that_hangs_behind(spool, clock):
    """
    The process must end in time: the records are kept, and may arrive twice.
    """
    entered, released = threading.Event(), threading.Event()

    class Hanging(Recorder):
        def send(self, batch):
            entered.set()
            released.wait(9)
            return super().send(batch)

    delivery = Delivery(spool, Hanging(clock), clock=clock)
    sender = Sender(delivery, instance="i-1", spread_s=0)
    appender(spool, clock, "a")()
    sender.start()
    assert entered.wait(9)
    flushed = sender.stop(0.05)
    assert (1, "timeout", True) == (
        flushed.remaining,
        flushed.problem.reason,
        flushed.problem.ambiguous,
    )
    spool.close()  # as the program does at its end: the late answer finds it closed
    released.set()
    sender._thread.join()
    with pytest.raises(Exception, match="closed"):
        sender.stop(1)


def test_a_wake_before_idle_is_not_lost():
    """
    Records appended between the last look and the wait are sent.
    """
    waiter = Waiter()
    waiter.wake()
    waiter.idle()
    assert not waiter._work  # the next idle waits again
    waiter.stop()
    waiter.idle()
    waiter.pause(3600)
    assert waiter.stopped

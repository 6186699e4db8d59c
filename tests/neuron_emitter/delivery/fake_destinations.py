"""Fake destinations and clocks for delivery, and the records that they send."""

from __future__ import annotations

import random
import time

from neuron_emitter.delivery.delivery import Delivery
from neuron_emitter.delivery.destination import BatchLimits, Delivered, Invalid, Refused, Retry
from neuron_emitter.delivery.sender import Sender, Waiter
from neuron_emitter.spool import NewRecord
from neuron_emitter.spool.spool_records import SpooledRecord

DELIVERY_NOW_S = 1_795_000_020.0  # the start of a minute

DELIVERY_NOW_MS = 1_795_000_020_000

TIMEOUT = Retry("timeout", "no answer")

REFUSED_WITHOUT_GROUP = Refused("no_log_group", "there is no log group /x in y: deploy the stack")


class Scripted:
    """
    A destination that gives scripted answers and then takes all records.

    A line in *poison* makes a call invalid.
    """

    def __init__(self, *answers, poison=(), limits=None):
        self.answers = list(answers)
        self.poison = set(poison)
        self.limits = limits or BatchLimits(max_events=8)
        self.calls: list[list[str]] = []
        self.taken: list[str] = []

    def send(self, batch):
        """Return the next scripted answer."""
        lines = [record.line for record in batch]
        self.calls.append(lines)
        answer = self.answers.pop(0) if self.answers else Delivered()
        if isinstance(answer, Delivered):
            if self.poison & set(lines):
                return Invalid("one record is invalid")
            lost = {place for places in answer.rejected.values() for place in places}
            self.taken += [line for place, line in enumerate(lines) if place not in lost]
        return answer

    def close(self):
        """Do nothing: the destination holds no resources."""


def fill(spool, *texts):
    """Append a record of now for each text."""
    spool.append([NewRecord(DELIVERY_NOW_MS, text) for text in texts])


def identity_holds(spool):
    """Return True if each produced record is delivered, spooled or dropped."""
    health = spool.health()
    return health.produced == health.delivered + health.records + sum(health.dropped.values())


DELIVERED_MINUTE_S = DELIVERY_NOW_S


class Script(Waiter):
    """A waiter that does not wait: idle runs the next step, and stops after the last one."""

    def __init__(self, clock, *steps):
        super().__init__()
        self.clock = clock
        self.steps = list(steps)
        self.pauses: list[float] = []

    def idle(self):
        """Run the next step, or stop."""
        if self.steps:
            self.steps.pop(0)()
        else:
            self.stop()

    def pause(self, seconds):
        """Move the clock, unless the waiter has stopped."""
        if not self.stopped:
            self.pauses.append(seconds)
            self.clock.now_s += seconds


class RecordingDestination:
    """A destination that notes each send. It gives its answers and then takes all records."""

    limits = BatchLimits()

    def __init__(self, clock, *answers):
        self.clock = clock
        self.answers = list(answers)
        self.sent: list[tuple[float, list[str]]] = []
        self.closed = 0

    def send(self, batch):
        """Return the next answer, or raise it if it is an exception."""
        self.sent.append((self.clock() - DELIVERED_MINUTE_S, [record.line for record in batch]))
        answer = self.answers.pop(0) if self.answers else Delivered()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self):
        """Note that connections were closed."""
        self.closed += 1


def run(spool, clock, destination, *steps, instance="i-1", spread_s=30.0):
    """Run a sender in this thread until its script ends; return the waits that it requested."""
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
    """Return a step that moves the clock and appends a line."""

    def step():
        clock.now_s += after_s
        spool.append([NewRecord(round(clock.now_s * 1000), text)])

    return step


DELIVERED_STREAM = "training/i-0123456789abcdef0"

DELIVERY_REGION = "eu-north-1"

DELIVERED_BOOT = "019aa3c5d2f04f1e2d3c"


def now_ms() -> int:
    """Return the real time, which the service's clock also uses."""
    return int(time.time() * 1000)


def batch_of(*lines):
    """Return records of now to send."""
    return [
        SpooledRecord(number, DELIVERED_BOOT, number, now_ms(), line)
        for number, line in enumerate(lines, 1)
    ]

"""
A sender's whole life without a wait: a clock that only waiting moves, and steps instead of idling.
"""

from __future__ import annotations

import random

from scripted import NOW_S

from emitter.delivery.delivery import Delivery
from emitter.delivery.destination import BatchLimits, Delivered, Refused, Retry
from emitter.delivery.sender import Sender, Waiter
from emitter.spool import NewRecord

MINUTE_S = NOW_S
NO_GROUP = Refused("no_log_group", "there is no log group")
TIMEOUT = Retry("timeout", "no answer")


class Script(Waiter):
    """A waiter that waits for nobody: idle runs the next step, then the end comes."""

    def __init__(self, clock, *steps):
        super().__init__()
        self.clock = clock
        self.steps = list(steps)
        self.pauses: list[float] = []

    def idle(self):
        """Do what the script says next, or stop."""
        if self.steps:
            self.steps.pop(0)()
        else:
            self.stop()

    def pause(self, seconds):
        """Let time pass, unless the end has come."""
        if not self.stopped:
            self.pauses.append(seconds)
            self.clock.now_s += seconds


class Recorder:
    """A destination that notes when it was sent what; answers first, then takes everything."""

    limits = BatchLimits()

    def __init__(self, clock, *answers):
        self.clock = clock
        self.answers = list(answers)
        self.sent: list[tuple[float, list[str]]] = []
        self.closed = 0

    def send(self, batch):
        """Answer as scripted; a scripted exception is raised."""
        self.sent.append((self.clock() - MINUTE_S, [record.line for record in batch]))
        answer = self.answers.pop(0) if self.answers else Delivered()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self):
        """Note that connections would be closed."""
        self.closed += 1


def run(spool, clock, destination, *steps, instance="i-1", spread_s=30.0):
    """A sender's whole life in this thread; the waits it asked for."""
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
    """A step that lets time pass and appends a line."""

    def step():
        clock.now_s += after_s
        spool.append([NewRecord(round(clock.now_s * 1000), text)])

    return step

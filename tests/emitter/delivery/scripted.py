"""A clock that only waiting moves, and a destination that answers as it is told."""

from __future__ import annotations

from emitter.delivery.destination import BatchLimits, Delivered, Invalid, Refused, Retry
from emitter.spool import NewRecord

NOW_S = 1_795_000_020.0  # the start of a minute
NOW_MS = 1_795_000_020_000
AGED = BatchLimits(max_events=8, max_age_ms=60_000, max_future_ms=5_000)
TIMEOUT = Retry("timeout", "no answer")
NO_GROUP = Refused("no_log_group", "there is no log group /x in y: deploy the stack")


class Clock:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now_s = NOW_S
        self.waits: list[float] = []

    def __call__(self) -> float:
        """Seconds since the epoch."""
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """Wait without waiting."""
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
        """Answer as scripted."""
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
        """Nothing to close."""


def fill(spool, *texts):
    """Append one record per text, of now."""
    spool.append([NewRecord(NOW_MS, text) for text in texts])


def identity_holds(spool):
    """Whether every produced record is accounted for."""
    health = spool.health()
    return health.produced == health.delivered + health.records + sum(health.dropped.values())

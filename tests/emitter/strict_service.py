"""
A double of CloudWatch Logs that enforces PutLogEvents' rules and has bad days.

It keeps what it applied, whoever was told, so that a test can compare what
arrived with what was answered. Rules and error names:
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
"""

from __future__ import annotations

from collections import Counter

from emitter.delivery.batches import PUT_LOG_EVENTS
from emitter.delivery.destination import Delivered, Invalid, Refused, Retry

MAX_EVENTS = 10_000
MAX_BYTES = 1_048_576
OVERHEAD_BYTES = 26
DAY_MS = 86_400_000
POISON = "poison"

# What may become of a call, beside being answered.
MOODS = (
    "throttled",
    "lost before",
    "lost after",
    "denied",
    "gone",
    "killed before",
    "killed after",
)

# How far its clock is ahead, and the days its log group keeps: neither is ours to choose.
SERVICES = {
    "as it should be": (0.0, 9999),
    "ahead": (2 * 86_400.0, 9999),
    "behind": (-3 * 3600.0, 9999),
    "forgetful": (0.0, 1),
}


class KilledError(BaseException):
    """
    The process ends here: nothing of ours may catch it.
    """


class StrictService:
    """
    One log stream.

    Attributes:
        mood: What becomes of the next calls; None answers them.

        skew_s: How far its clock is ahead of ours.

        retention_days: Of the log group.

        received: How often each record was applied, by boot and number.

        answered: Those whose Delivered answer was given.

        rejected: Why it rejected a record, of an answer that was given.

        repeatable: Those that were applied without an answer: they may come again.

        violations: What no call may do, and one did.
    """

    limits = PUT_LOG_EVENTS

    def __init__(self, clock) -> None:
        self._clock = clock
        self.mood = None
        self.skew_s = 0.0
        self.retention_days = 10_000
        self.received = Counter()
        self.lines = {}
        self.answered = set()
        self.rejected = {}
        self.repeatable = set()
        self.violations = []

    def close(self) -> None:
        pass

    def send(self, batch):
        if refusal := self._refusal():
            return refusal
        if self.mood == "killed before":
            raise KilledError
        if broken := self._broken_rule(batch):
            self.violations.append(broken)
            return Invalid(broken)
        if any(POISON in record.line for record in batch):
            return Invalid("an event is not acceptable")
        rejected = self._rejected(batch)
        keys = {(record.boot, record.seq) for record in batch}
        lost = {(batch[n].boot, batch[n].seq): why for why, at in rejected.items() for n in at}
        self._apply([record for record in batch if (record.boot, record.seq) not in lost])
        if self.mood in {"lost after", "killed after"}:
            self.repeatable |= keys
            if self.mood == "killed after":
                raise KilledError
            return Retry("timeout", "no answer", ambiguous=True)
        self.answered |= keys - set(lost)
        self.rejected.update(lost)
        self.repeatable -= keys
        return Delivered(rejected)

    def _refusal(self):
        match self.mood:
            case "throttled":
                return Retry("throttled", "rate exceeded", throttled=True)
            case "lost before":
                return Retry("timeout", "no answer", ambiguous=True)
            case "gone":
                return Retry("unreachable", "no route to host")
            case "denied":
                return Refused("access_denied", "logs:PutLogEvents is not allowed")
        return None

    def _broken_rule(self, batch):
        times = [record.timestamp_ms for record in batch]
        sizes = [len(record.line.encode()) + OVERHEAD_BYTES for record in batch]
        if not 1 <= len(batch) <= MAX_EVENTS:
            return f"{len(batch)} events"
        if sum(sizes) > MAX_BYTES:
            return f"{sum(sizes)} bytes"
        if min(sizes) == OVERHEAD_BYTES:
            return "an empty event"
        if times != sorted(times):
            return "not in order of time"
        if times[-1] - times[0] > DAY_MS:
            return "more than 24 hours"
        return None

    def _rejected(self, batch):
        now_ms = round((self._clock() + self.skew_s) * 1000)
        places = {"too_old": [], "expired": [], "too_new": []}
        for place, record in enumerate(batch):
            age_ms = now_ms - record.timestamp_ms
            if age_ms > 14 * DAY_MS:
                places["too_old"].append(place)
            elif age_ms > self.retention_days * DAY_MS:
                places["expired"].append(place)
            elif -age_ms > 2 * DAY_MS // 24:
                places["too_new"].append(place)
        return {why: tuple(at) for why, at in places.items() if at}

    def _apply(self, records):
        for record in records:
            key = (record.boot, record.seq)
            if self.received[key] and key not in self.repeatable:
                self.violations.append(f"{key} came again though it was answered")
            if self.lines.setdefault(key, record.line) != record.line:
                self.violations.append(f"{key} came with another line")
            self.received[key] += 1
